package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
)

type resultCommand struct {
	Study  string `arg:"" help:"The beginning of the study's id."`
	Label  string `placeholder:"FILE" help:"Where clusters were found by cells: read this party's data again and write there the cluster of each of its records. The file never leaves, nor does what is in it."`
	Output string `placeholder:"DIR" help:"Write result.json there and, where records were clustered, labels.csv with this party's own ids. The labels never leave."`
}

// Run prints the stored result or writes it to files.
func (cmd resultCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	if cmd.Label != "" {
		return cmd.label(ctx, c, g)
	}
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, cmd.Study)
	if err != nil {
		return err
	}
	labels, err := node.OwnLabels(st, s)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return console.Result{Study: s, Store: st, Output: cmd.Output, Labels: labels, Hint: "party run " + s.ID.Short() + " fetches it"}.Print(c)
}

// label tells the clusters of the party's own records by the published model.
func (cmd resultCommand) label(ctx context.Context, c *console.Console, g *console.Globals) error {
	if cmd.Output != "" {
		return console.WithCode(console.Usage, errors.New("--label and --output do different things: give one of them"))
	}
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, cmd.Study)
	if err != nil {
		return err
	}
	result, _, err := node.StoredResult(st, s.ID)
	if errors.Is(err, store.ErrNotFound) {
		return console.WithCode(console.Absent, fmt.Errorf("study %s (%s) has no result here yet: party run %s fetches it", s.Name, s.ID.Short(), s.ID.Short()))
	}
	if err != nil {
		return err
	}
	index, err := self(st, s)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(cmd.Label, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return console.WithCode(console.Usage, fmt.Errorf("writing labels: %w", err))
	}
	talk := newTalk(c, s, index)
	defer talk.end()
	written, err := node.LabelRecords(ctx, node.DataOptions{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(g.Config) }, Now: console.Now, Study: s, Observe: talk.observe,
	}, result, file)
	talk.end()
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		os.Remove(cmd.Label)
		return err
	}
	return c.Print(map[string]any{"study": s.ID.String(), "file": cmd.Label, "records": written}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: the clusters of %d records, by your own ids. It stays here.\n", cmd.Label, written)
	})
}
