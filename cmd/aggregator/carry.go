package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

// importCommand and exportCommand serve parties that carry a study by hand.
type importCommand struct {
	Files []string `arg:"" help:"Bundles that party advanced export wrote."`
}

func (importCommand) Help() string {
	return "Takes in messages of parties, as if they had come over the network, also while aggregator serve runs. Taking a bundle in again changes nothing. A refused file is named, and the others are taken in; the exit code is then that of the first refusal.\n\nExample: aggregator advanced import /media/stick/*.bundle"
}

type exportCommand struct {
	Study  string   `arg:"" help:"The beginning of the study's id."`
	Party  []string `placeholder:"NAME" help:"For whom; may be given again. Default: every party that has sent a bundle."`
	Output string   `short:"o" default:"." placeholder:"DIR" help:"Where to write STUDY-for-PARTY.bundle files. Default: the current directory."`
}

func (exportCommand) Help() string {
	return "Writes the board, and the results that a party may see, into one sealed file for each party.\n\nExample: aggregator advanced export 5f0c1b0e -o /media/stick"
}

type imported struct {
	File     string `json:"file"`
	Study    string `json:"study"`
	Party    string `json:"party"`
	Messages int    `json:"messages,omitempty"`
	Passed   int    `json:"passed,omitempty"` // those of the messages whose turn had passed
	Chunks   int    `json:"chunks,omitempty"`
}

// Run imports the bundles one after the other. A bad bundle does not hold up those of other
// senders.
func (cmd importCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	out := []imported{}
	var refused []error
	for _, path := range cmd.Files {
		one, err := takeIn(ctx, g, st, path)
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil {
			refused = append(refused, fmt.Errorf("importing %s: %w", path, err))
			continue
		}
		out = append(out, one)
	}
	if len(out) == 0 && len(refused) > 0 {
		return notTaken(refused)
	}
	err = c.Print(out, func(w io.Writer) {
		for _, one := range out {
			fmt.Fprintf(w, "took in %s from %s", one.File, one.Party)
			if one.Passed > 0 {
				fmt.Fprintf(w, " (%d of its messages came after their turn, and are not needed any more)", one.Passed)
			}
			fmt.Fprintln(w)
		}
		c.Say("Next: aggregator advanced export %s, for the parties to take home; aggregator status says what is waited for", out[0].Study[:8])
	})
	return cmp.Or(err, notTaken(refused))
}

// notTaken names every refused file; its exit code is that of the first.
func notTaken(refused []error) error {
	switch len(refused) {
	case 0:
		return nil
	case 1:
		return refused[0]
	}
	return fail.Find(refused[0]).Exit.Of(fmt.Errorf("%d bundles were not taken in:\n%w", len(refused), errors.Join(refused...)))
}

// handOverTime is how long a serving aggregator may take to find a bundle in its inbox and import
// it.
const handOverTime = 5 * time.Minute

func takeIn(ctx context.Context, g *console.Globals, st *store.Store, path string) (imported, error) {
	f, err := os.Open(path)
	if err != nil {
		return imported{}, fail.Usage.Of(err)
	}
	defer f.Close()
	label, err := bundle.ReadLabel(f)
	if err != nil {
		return imported{}, err
	}
	s, err := console.FindStudy(st, label.Study.String())
	if err != nil {
		return imported{}, err
	}
	index, listed := s.PartyIndex(label.From)
	if label.From == s.Aggregator.ID {
		return imported{}, fmt.Errorf("importing %s: %w: this aggregator wrote it, for a party to import", path, bundle.ErrElsewhere)
	}
	if !listed {
		return imported{}, fail.Usage.Of(fmt.Errorf("study %s does not list its sender %s", s.ID.Short(), label.From))
	}
	out := imported{File: path, Study: s.ID.String(), Party: s.Parties[index].Name}
	o, err := deskOptions(g, st)
	if err != nil {
		return out, err
	}
	desk, err := aggregator.OpenOffline(ctx, o, s.ID)
	if errors.Is(err, store.ErrLocked) {
		ctx, cancel := context.WithTimeout(ctx, handOverTime)
		defer cancel()
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return out, err
		}
		return out, aggregator.HandOver(ctx, st, f)
	}
	if err != nil {
		return out, err
	}
	defer desk.Close()
	got, err := desk.Import(ctx, label, f)
	out.Messages, out.Passed, out.Chunks = got.Messages, len(got.Passed), got.Chunks
	return out, err
}

func options(st *store.Store) aggregator.Options {
	return aggregator.Options{Env: node.AggregatorEnv{Now: console.Now, Version: console.Version()}, Store: st}
}

// deskOptions are the options of commands that import parties' releases, within the quotas of the
// configuration file.
func deskOptions(g *console.Globals, st *store.Store) (aggregator.Options, error) {
	conf, err := config.LoadAggregator(g.Config)
	if err != nil {
		return aggregator.Options{}, fail.Usage.Of(err)
	}
	o := options(st)
	o.Quotas = quotas(conf)
	return o, nil
}

func quotas(conf config.Aggregator) aggregator.Quotas {
	return aggregator.Quotas{Quotas: analysis.Quotas{Memory: conf.Memory, Disk: conf.Uploads.Study}, Free: conf.Uploads.Free}
}

type exported struct {
	Party string `json:"party"`
	File  string `json:"file"`
}

// Run writes a bundle for each party.
func (cmd exportCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, cmd.Study)
	if err != nil {
		return err
	}
	parties, err := cmd.parties(s)
	if err != nil {
		return err
	}
	if err := settle(ctx, g, st, s); err != nil {
		return err
	}
	if err := os.MkdirAll(cmd.Output, 0o755); err != nil {
		return fail.Usage.Of(err)
	}
	out := []exported{}
	for _, p := range parties {
		path := filepath.Join(cmd.Output, fmt.Sprintf("%s-for-%s.bundle", s.ID.Short(), p.Name))
		err := console.WriteFileAtomic(path, func(w io.Writer) error { return aggregator.ExportBoard(options(st), s, p.ID, w) })
		if errors.Is(err, aggregator.ErrNoMailbox) && len(cmd.Party) == 0 {
			c.Say("%s has sent no bundle yet: nothing for it", p.Name)
			continue
		}
		if mailbox := (*protocol.MailboxError)(nil); errors.As(err, &mailbox) && len(cmd.Party) == 0 {
			c.Say("nothing for %s: %v", p.Name, mailbox) // the others get theirs
			continue
		}
		if err != nil {
			return err
		}
		out = append(out, exported{p.Name, path})
	}
	if len(out) == 0 {
		return fmt.Errorf("exporting study %s: %w", s.ID.Short(), fail.NoMailbox.New())
	}
	return c.Print(out, func(w io.Writer) {
		for _, one := range out {
			fmt.Fprintf(w, "wrote %s, sealed to %s\n", one.File, one.Party)
		}
		c.Say("Next: take them home (party advanced import FILE)")
	})
}

// parties are the parties to write for.
func (cmd exportCommand) parties(s *study.Study) ([]study.Party, error) {
	if len(cmd.Party) == 0 {
		return s.Parties, nil
	}
	var out []study.Party
	for _, name := range cmd.Party {
		i, known := s.PartyByName(name)
		if !known {
			return nil, fail.Usage.Of(fmt.Errorf("exporting study %s: it has no party %q", s.ID.Short(), name))
		}
		out = append(out, s.Parties[i])
	}
	return out, nil
}

// settle lets a study that is not being served act on its dates.
func settle(ctx context.Context, g *console.Globals, st *store.Store, s *study.Study) error {
	o, err := deskOptions(g, st)
	if err != nil {
		return err
	}
	desk, err := aggregator.OpenOffline(ctx, o, s.ID)
	if errors.Is(err, store.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer desk.Close()
	return desk.Settle(ctx)
}
