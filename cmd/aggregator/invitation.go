package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/invitation"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
)

type invitationCommands struct {
	Create invitationCreate `cmd:"" help:"Make an invitation and print its address, this once."`
	List   invitationList   `cmd:"" help:"List invitations: who was invited, until when, who has come."`
	Accept invitationAccept `cmd:"" help:"Write the introduction that came under an invitation to a file."`
	Revoke invitationRevoke `cmd:"" help:"Forget an invitation, and what came under it."`
}

// goodFor is the default lifetime of an invitation.
const goodFor = 14 * 24 * time.Hour

type invitationCreate struct {
	Name string        `arg:"" help:"Whom you invite, in your words, such as north. No two invitations have one name."`
	Addr string        `required:"" env:"-" placeholder:"MULTIADDR" help:"Where parties reach this node, such as /dns4/agg.example.org/tcp/7424."`
	For  time.Duration `env:"-" default:"336h" placeholder:"DURATION" help:"How long it is good. Default: 336h, two weeks."`
}

// Help says what an invitation allows its holder.
func (invitationCreate) Help() string {
	return "Whoever has the address may introduce one node here, once, by party join. Until then, or until it is over or revoked, this node lets strangers connect, for that one call. Hand the address on by a way that nobody else reads. It is kept as a hash: if you lose it, revoke it and make another one.\n\nExample: aggregator advanced invitation create north --addr /dns4/agg.example.org/tcp/7424"
}

// Validate refuses an invalid lifetime.
func (cmd invitationCreate) Validate() error {
	if cmd.For < time.Minute {
		return fmt.Errorf("--for: %v is too short", cmd.For)
	}
	return nil
}

// madeInvitation is a newly made invitation.
type madeInvitation struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Expires string `json:"expires"`
	Address string `json:"address"` // contains the secret: only for the party
}

// invite makes and stores an invitation.
func invite(st *store.Store, name, addr string, lasts time.Duration) (madeInvitation, error) {
	if err := aggregator.CheckPlace(addr); err != nil {
		return madeInvitation{}, err
	}
	all, err := invitation.All(st)
	if err != nil {
		return madeInvitation{}, err
	}
	if i := slices.IndexFunc(all, func(k invitation.Kept) bool { return k.Name == name }); i >= 0 {
		return madeInvitation{}, fail.Usage.Of(fmt.Errorf("%s is invited already, and the address was shown then (aggregator advanced invitation revoke %s makes room for another)", name, all[i].ID))
	}
	id, err := st.ID()
	if err != nil {
		return madeInvitation{}, err
	}
	now := console.Now()
	i, ticket, err := invitation.New(name, now, now+protocol.Instant(lasts/time.Second))
	if err != nil {
		return madeInvitation{}, fail.Usage.Of(err)
	}
	if err := st.PutInvitation(i.ID, i.Encode()); err != nil {
		return madeInvitation{}, err
	}
	return madeInvitation{i.ID, i.Name, i.Expires.String(), ticket.In(addr + "/p2p/" + id.String())}, nil
}

// Run makes an invitation and prints its address.
func (cmd invitationCreate) Run(c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	made, err := invite(st, cmd.Name, cmd.Addr, cmd.For)
	if err != nil {
		return err
	}
	return c.Print(made, func(w io.Writer) {
		fmt.Fprintln(w, made.Address)
		c.Say("This is shown once. %s runs: party join ADDRESS. It is good for one node, until %s; aggregator advanced invitation revoke %s ends it.", made.Name, made.Expires, made.ID)
		if !st.Served() {
			c.Say("Nobody can use it before this node serves. Next: aggregator serve")
		}
	})
}

// States of an invitation.
const (
	invitationOpen     = "open"
	invitationOver     = "over"
	invitationCame     = "came"
	invitationAccepted = "accepted"
)

// listedInvitation is an invitation in the output of commands.
type listedInvitation struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	State   string `json:"state"`
	Expires string `json:"expires"`
	Peer    string `json:"peer,omitempty"`  // who used it
	Words   string `json:"words,omitempty"` // its fingerprint, to be compared
}

func listedOf(st *store.Store, k invitation.Kept) (listedInvitation, error) {
	out := listedInvitation{ID: k.ID, Name: k.Name, State: invitationOver, Expires: k.Expires.String()}
	if k.Open(console.Now()) {
		out.State = invitationOpen
	}
	if k.Came == nil {
		return out, nil
	}
	out.State, out.Peer, out.Words = invitationCame, k.Came.From.String(), k.Came.From.Words()
	accepted, err := st.Accepted(k.ID)
	if accepted {
		out.State = invitationAccepted
	}
	return out, err
}

type invitationList struct{}

func (invitationList) Help() string { return "Example: aggregator advanced invitation list" }

// Run lists invitations.
func (invitationList) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	all, err := invitation.All(st)
	if err != nil {
		return err
	}
	out := []listedInvitation{}
	for _, k := range all {
		one, err := listedOf(st, k)
		if err != nil {
			return err
		}
		out = append(out, one)
	}
	return c.Print(out, func(w io.Writer) {
		if len(out) == 0 {
			fmt.Fprintln(w, "no invitations")
			c.Say("Next: aggregator advanced invitation create NAME --addr MULTIADDR")
			return
		}
		t := block.Table{Columns: block.Headed("invitation", "invited", "state", "good until", "who came, in words"), AllRows: true}
		for _, one := range out {
			t.Rows = append(t.Rows, block.Cells(one.ID, one.Name, one.State, one.Expires, one.Words))
		}
		present.Text(w, []block.Block{t})
	})
}

// withInvitation opens the state for a command on one invitation, which is given by name or id.
func withInvitation(g *console.Globals, text string, work func(*store.Store, invitation.Kept) error) error {
	st, err := g.Open(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	all, err := invitation.All(st)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(k invitation.Kept) bool { return k.Name == text || k.ID == text })
	if i < 0 {
		return fmt.Errorf("invitation %.80q: %w", text, fail.NotInStore.New().With("aggregator advanced invitation list shows those that there are"))
	}
	return work(st, all[i])
}

type invitationAccept struct {
	Name   string `arg:"" help:"Whom you invited, or the invitation's id."`
	Output string `short:"o" env:"-" placeholder:"FILE" help:"The file to write. Default: introduction-NAME.yaml, beside the configuration file."`
}

func (invitationAccept) Help() string {
	return "Compare the words that it prints over a telephone, by a number that you know, before you use the file: they are of the node that used the invitation.\n\nExample: aggregator advanced invitation accept north"
}

// Run writes a received introduction to a file.
func (cmd invitationAccept) Run(c *console.Console, g *console.Globals) error {
	return withInvitation(g, cmd.Name, func(st *store.Store, k invitation.Kept) error { return cmd.accept(c, g, st, k) })
}

func (cmd invitationAccept) accept(c *console.Console, g *console.Globals, st *store.Store, k invitation.Kept) error {
	if k.Came == nil {
		return fail.Unintroduced.New().With(fmt.Sprintf("%s has not used invitation %s", k.Name, k.ID))
	}
	list, err := introductionOf(k)
	if err != nil {
		return err
	}
	path := cmd.Output
	if path == "" {
		path = introductionPath(g, k.Name)
	}
	if err := keepIntroduction(path, list); err != nil {
		return fail.Usage.Of(err)
	}
	if err := st.PutAccepted(k.ID); err != nil {
		return err
	}
	out, err := listedOf(st, k)
	if err != nil {
		return err
	}
	return c.Print(out, func(w io.Writer) {
		fmt.Fprintln(w, path)
		c.Say("It calls itself %s. In words, to compare over a telephone: %s", list.Name, out.Words)
		c.Say("Next: aggregator study draft --columns %s …", console.Word(path))
	})
}

// introductionOf parses the introduction received under an invitation. It was checked when it came.
func introductionOf(k invitation.Kept) (config.ColumnList, error) {
	l, err := config.ParseColumns("that came under invitation "+k.ID, k.Came.Text)
	if err == nil && l.ID != k.Came.From {
		err = errors.New("it is of another node than brought it")
	}
	if err != nil {
		return l, fmt.Errorf("reading the introduction of %s: %w", k.Name, err)
	}
	return l, nil
}

type invitationRevoke struct {
	Name string `arg:"" help:"Whom you invited, or the invitation's id."`
}

func (invitationRevoke) Help() string { return "Example: aggregator advanced invitation revoke north" }

// Run revokes an invitation.
func (cmd invitationRevoke) Run(c *console.Console, g *console.Globals) error {
	return withInvitation(g, cmd.Name, func(st *store.Store, k invitation.Kept) error {
		if err := st.RemoveInvitation(k.ID); err != nil {
			return err
		}
		return c.Print(map[string]string{"id": k.ID, "name": k.Name, "state": "revoked"}, func(w io.Writer) { fmt.Fprintf(w, "revoked: %s (%s)\n", k.Name, k.ID) })
	})
}
