package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wait"
)

// exportCommand and importCommand replace run for a study that is carried by hand.
type exportCommand struct {
	Study  string `arg:"" help:"The beginning of the study's id."`
	Output string `short:"o" placeholder:"FILE" help:"Default: STUDY-from-PARTY.bundle in the current directory."`
}

func (exportCommand) Help() string {
	return "Does what run would do without a network, and writes this party's messages into one file, sealed to the aggregator. Take the file there (aggregator advanced import), bring the answer back (party advanced import), and repeat until the result is here. If a file is lost, write it again: nothing is drawn or signed twice.\n\nExample: party advanced export 5f0c1b0e -o /media/stick/5f0c1b0e-from-north.bundle"
}

type importCommand struct {
	File string `arg:"" help:"A bundle that aggregator advanced export wrote for this party."`
}

func (importCommand) Help() string {
	return "Reads the board, and the result if there is one, from the aggregator's bundle, and goes on with the study.\n\nExample: party advanced import /media/stick/5f0c1b0e-for-north.bundle"
}

// carried is the output of both.
type carried struct {
	Study string `json:"study"`
	File  string `json:"file"`
	Bytes int64  `json:"bytes,omitempty"`
	State string `json:"state"`
}

// Run continues the study and writes the bundle.
func (cmd exportCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, s, index, err := openStudy(g.Open, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := inTime(st, s); err != nil {
		return err
	}
	if cmd.Output == "" {
		cmd.Output = fmt.Sprintf("%s-from-%s.bundle", s.ID.Short(), s.Parties[index].Name)
	}
	party, end, err := byHand(st, g, newTalk(c, s, index))
	if err != nil {
		return err
	}
	defer end()
	out := carried{Study: s.ID.String(), File: cmd.Output}
	err = console.WriteFileAtomic(cmd.Output, func(w io.Writer) error {
		counted := &counter{w: w}
		done, err := party.Export(ctx, s.ID, counted)
		out.State, out.Bytes = string(done.Status.State), counted.n
		return err
	})
	if err != nil {
		return err
	}
	return c.Print(out, func(w io.Writer) {
		fmt.Fprintf(w, "wrote %s (%s), sealed to the aggregator\n", out.File, block.Bytes(out.Bytes))
		c.Say("Next: take it to the aggregator (aggregator advanced import FILE), bring the answer back (party advanced import FILE)")
	})
}

// Run reads the bundle and continues the study.
func (cmd importCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	f, err := os.Open(cmd.File)
	if err != nil {
		return fail.Usage.Of(fmt.Errorf("importing: %w", err))
	}
	defer f.Close()
	label, err := bundle.ReadLabel(f)
	if err != nil {
		return err
	}
	s, err := console.FindStudy(st, label.Study.String())
	if err != nil {
		return err
	}
	index, err := self(st, s)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	party, end, err := byHand(st, g, newTalk(c, s, index))
	if err != nil {
		return err
	}
	defer end()
	done, err := party.Import(ctx, f)
	if err != nil {
		return err
	}
	out := carried{Study: s.ID.String(), File: cmd.File, State: string(done.Status.State)}
	return c.Print(out, func(w io.Writer) { cmd.next(w, c, s, done.Status) })
}

func (cmd importCommand) next(w io.Writer, c *console.Console, s *study.Study, status session.Status) {
	if status.State == session.Done {
		fmt.Fprintf(w, "done: %s (%s)\n", s.Name, s.ID.Short())
		c.Say("Next: party result %s", s.ID.Short())
		return
	}
	fmt.Fprintf(w, "read %s; %s is %s\n", cmd.File, s.Name, status.State)
	if status.WaitFor == wait.Steward {
		c.Say("Next: party advanced release %s, or first party advanced sketch %s; then party advanced export %s", s.ID.Short(), s.ID.Short(), s.ID.Short())
		return
	}
	c.Say("Next: party advanced export %s, and take it to the aggregator", s.ID.Short())
}

// byHand makes a party that reports like run.
func byHand(st *store.Store, g *console.Globals, t *talk) (*party.Party, func(), error) {
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return nil, nil, fail.Usage.Of(err)
	}
	party, err := newParty(st, site, g, slog.New(slog.DiscardHandler), t.observe)
	if err != nil {
		return nil, nil, err
	}
	return party, func() { t.end(); party.Close() }, nil
}

// counter counts the bytes that pass.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
