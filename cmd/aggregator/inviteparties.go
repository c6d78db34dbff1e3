package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/invitation"
	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
)

// address asks where parties reach this node.
func (v *inviteRun) address(ctx context.Context) error {
	v.step("Where parties reach this node", "aggregator study draft --addr MULTIADDR")
	return v.put(ctx, joining.Question{
		ID: joining.Address, Asks: "Where do parties reach this node?", Open: "the address at which parties reach this node",
		Why:   "It stands in the study file, and cannot be changed later. Parties dial it; nobody is dialled. The port is that of listen in the configuration, unless something between passes it on.",
		Forms: []string{"a name and port: /dns4/agg.example.org/tcp/7424", "a number and port: /ip4/203.0.113.7/tcp/7424", "through a proxy that ends HTTPS: /dns4/agg.example.org/tcp/443/tls/ws"},
	}, func(line string) error {
		if err := aggregator.CheckPlace(line); err != nil {
			return err
		}
		v.draft.Addr = []string{line}
		return nil
	})
}

// candidate is an introduction with the name under which it is accepted: the operator's name of its
// invitation, or else the party's own.
type candidate struct {
	name string
	config.ColumnList
	invitation string // its invitation; empty: it is a file
}

// introduced returns the introductions from the given files and from invitations.
func (v *inviteRun) introduced() (out []candidate, err error) {
	known := func(name string) bool {
		return slices.ContainsFunc(out, func(o candidate) bool { return o.name == name })
	}
	for _, path := range v.Introductions {
		l, err := config.LoadColumns(path)
		if err != nil {
			return nil, fail.Usage.Of(err)
		}
		if known(l.Name) {
			return nil, fail.Usage.Of(fmt.Errorf("introduction %s: another one is of %q, too: each party has one name, and one introduction", path, l.Name))
		}
		out = append(out, candidate{l.Name, l, ""})
	}
	all, err := invitation.All(v.st)
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		if k.Came == nil {
			continue
		}
		l, err := introductionOf(k)
		if err != nil {
			return nil, err
		}
		if known(k.Name) {
			return nil, fail.Usage.Of(fmt.Errorf("%q came under invitation %s, and as a file: give one of them up (aggregator advanced invitation revoke %s)", k.Name, k.ID, k.ID))
		}
		out = append(out, candidate{k.Name, l, k.ID})
	}
	for _, line := range v.ask.Lines[joining.Accept] { // accepted by an earlier run; it may no longer be given
		var n named
		if console.TakeLine(&n, line) != nil {
			continue
		}
		for _, name := range n.Names {
			if l, err := config.LoadColumns(introductionPath(v.g, name)); err == nil && !known(name) {
				out = append(out, candidate{name, l, ""})
			}
		}
	}
	return out, nil
}

// invite offers to invite parties to introduce themselves over the network.
func (v *inviteRun) invite(ctx context.Context) error {
	before := v.ask.Lines[joining.Whom]
	if len(before) == 0 && (len(v.Introductions) > 0 || len(v.ask.Lines[joining.Accept]) > 0) || v.ask.Ready(joining.Whom) != nil {
		return nil // there are introductions, or a file of answers that invites nobody
	}
	v.step("Invite the parties", "aggregator advanced invitation create NAME --addr "+v.draft.Addr[0])
	return v.put(ctx, joining.Question{
		ID: joining.Whom, Asks: "Whom do you invite?", Proposed: nobody,
		Why:   "Each gets an address of its own, under which one node may introduce itself, once. Meanwhile strangers may connect to this node, for that one call. Whom you do not invite sends you a file.",
		Forms: []string{"names of yours with spaces between them: north south", nobody + ": they send files"},
	}, func(line string) error {
		if line == "" || line == nobody || slices.Contains(before, line) {
			return nil
		}
		var n named
		if err := console.TakeLine(&n, line); err != nil {
			return err
		}
		for i, name := range n.Names {
			if slices.Contains(n.Names[:i], name) {
				return fmt.Errorf("%q is named twice", name)
			}
			if all, err := invitation.All(v.st); err == nil && slices.ContainsFunc(all, func(k invitation.Kept) bool { return k.Name == name }) {
				v.c.Say("%s is invited already, and the address was shown then (aggregator advanced invitation revoke %s makes room for another).", name, console.Word(name))
				continue
			}
			one, err := invite(v.st, name, v.draft.Addr[0], goodFor)
			if err != nil {
				return err
			}
			v.c.Say("%s runs this, which is shown once and is good for one node until %s:", one.Name, one.Expires)
			v.c.Say("  party join %s", one.Address)
		}
		v.c.Say("Hand each on by a way that nobody else reads. This node in words, to compare over a telephone: %s", v.id.Words())
		return nil
	})
}

// nobody is the answer that invites nobody.
const nobody = "nobody"

// await waits for the introductions of all invited parties that can still send one.
func (v *inviteRun) await(ctx context.Context) error {
	if len(v.ask.Lines[joining.Accept]) > 0 {
		return nil // an earlier run accepted the ones it wanted
	}
	said, waits, stopped := map[string]bool{}, false, false
	var missing []string
	return v.wait(ctx, func() error {
		return fail.Unintroduced.New().With("still waited for: " + strings.Join(missing, ", ") + "; aggregator advanced invitation revoke NAME goes on without one")
	}, func() (bool, error) {
		all, err := invitation.All(v.st)
		if err != nil {
			return false, err
		}
		missing = nil
		for _, k := range all {
			if k.Open(console.Now()) {
				missing = append(missing, k.Name)
			}
			if k.Came != nil && !said[k.ID] {
				said[k.ID] = true
				v.c.Say("%s has introduced a node, in words: %s", k.Name, k.Came.From.Words())
			}
		}
		if len(missing) > 0 && !waits {
			waits = true
			v.c.Say("Waiting for the introductions of %s. Ctrl-C loses nothing: the same command goes on. To go on without one, in another terminal: aggregator advanced invitation revoke NAME", strings.Join(missing, ", "))
		}
		if gone := v.served == nil && !v.st.Served(); gone != stopped {
			if stopped = gone; gone {
				v.c.Say("Nobody can come now: aggregator serve has stopped. Start it again, in another terminal.")
			}
		}
		return len(missing) == 0, nil
	})
}

// call prints what parties run to introduce themselves. It then serves until another run has their
// introductions.
func (v *inviteRun) call(ctx context.Context) error {
	v.step("Ask the parties for their introductions", "aggregator serve")
	v.c.Say("Every party runs this, and sends you the file that it writes:")
	v.c.Say("  party join %s/p2p/%s", v.draft.Addr[0], v.id)
	v.c.Say("This node in words, to compare over a telephone: %s", v.id.Words())
	v.c.Say("It serves here until you stop it with Ctrl-C. When the files are there, go on: aggregator invite FILE FILE …")
	return v.wait(ctx, func() error { return fail.Unintroduced.New() }, func() (bool, error) { return false, nil })
}

// introductionPath is the path of an accepted introduction, beside the configuration file.
func introductionPath(g *console.Globals, name string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name)
	return filepath.Join(filepath.Dir(g.Config), "introduction-"+plain+".yaml")
}

// named is the answer to whom to invite, and to whose introductions to accept.
type named struct {
	Names  []string `arg:""`
	Refuse []string
}

// accept asks for the names of the parties from whose introductions the study is drafted.
func (v *inviteRun) accept(ctx context.Context) error {
	if err := v.await(ctx); err != nil {
		return err
	}
	lists, err := v.introduced()
	if err != nil {
		return err
	}
	if len(lists) == 0 {
		return v.call(ctx)
	}
	v.step("The parties' introductions", "aggregator study draft --columns FILE")
	t := block.Table{Columns: block.Headed("party", "records", "columns", "in words"), AllRows: true}
	for _, l := range lists {
		var columns []string
		for _, c := range l.Columns {
			columns = append(columns, fmt.Sprintf("%s (%s)", c.Name, c.Kind))
		}
		records := "not said"
		if l.About > 0 {
			records = fmt.Sprintf("about %d", l.About)
		}
		name := l.name
		if l.Name != name {
			name += " (calls itself " + l.Name + ")"
		}
		t.Rows = append(t.Rows, block.Cells(name, records, strings.Join(columns, ", "), l.ID.Words()))
	}
	v.c.Show(t)
	return v.put(ctx, joining.Question{
		ID: joining.Accept, Asks: "Whose introductions do you accept?", Open: "the names of those that you accept",
		Why:   "A study lists those that you name, and nobody else. Before you name one, compare its words over a telephone: a number that you know, and not one that came with the introduction.",
		Forms: []string{"names with spaces between them: north south", "behind them, --refuse NAME: what that one sent under an invitation is forgotten"},
	}, func(line string) error {
		var n named
		if err := console.TakeLine(&n, line); err != nil {
			return err
		}
		if len(n.Names) < 2 {
			return fmt.Errorf("%q is one party: a study has at least 2", line)
		}
		v.draft.Columns = nil
		for _, name := range n.Names {
			i := slices.IndexFunc(lists, func(l candidate) bool { return l.name == name })
			if i < 0 || slices.Contains(n.Refuse, name) {
				return fmt.Errorf("there is no introduction of %q", name)
			}
			path := introductionPath(v.g, name)
			if err := keepIntroduction(path, lists[i].ColumnList); err != nil {
				return err
			}
			if id := lists[i].invitation; id != "" {
				if err := v.st.PutAccepted(id); err != nil {
					return err
				}
			}
			if slices.Contains(v.draft.Columns, path) {
				return fmt.Errorf("%q is named twice", name)
			}
			v.draft.Columns = append(v.draft.Columns, path)
		}
		return v.refuse(n.Refuse, lists, slices.Contains(v.ask.Lines[joining.Accept], line))
	})
}

// refuse deletes the introductions of invitations. again says that the answer is repeated, so that
// they may be gone.
func (v *inviteRun) refuse(names []string, lists []candidate, again bool) error {
	for _, name := range names {
		i := slices.IndexFunc(lists, func(l candidate) bool { return l.name == name && l.invitation != "" })
		if i < 0 && again {
			continue
		}
		if i < 0 {
			return fmt.Errorf("nothing of %q came under an invitation", name)
		}
		if err := v.st.RemoveInvitation(lists[i].invitation); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		v.c.Say("What %s sent is forgotten, and the invitation is over.", name)
	}
	return nil
}

// keepIntroduction writes an accepted introduction, formatted anew: nothing of the received file is
// copied verbatim.
func keepIntroduction(path string, l config.ColumnList) error {
	text := l.Text()
	if old, err := os.ReadFile(path); err == nil {
		if string(old) == text {
			return nil
		}
		if was, err := config.LoadColumns(path); err != nil || was.ID != l.ID {
			return fmt.Errorf("%s holds the introduction of another node: remove it, if it is no longer needed", path)
		}
	}
	err := durable.Replace(path, durable.Private, func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping the introduction of %s: %w", l.Name, err)
	}
	return nil
}
