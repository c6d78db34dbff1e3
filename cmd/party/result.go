package main

import (
	"errors"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
)

type resultCommand struct {
	Study  string `arg:"" help:"The beginning of the study's id."`
	Output string `short:"o" placeholder:"DIR" help:"Write result.json there, with --format text, csv, parquet or npy the same as text, tables or matrices, and, where the result says something of records, labels.csv with this party's own ids. The labels never leave."`
}

func (resultCommand) Help() string {
	return "Verifies the aggregator's signature, and prints the result.\n\nExample: party result 5f0c1b0e --format csv -o results"
}

// WritesFiles lets --format name formats of files.
func (resultCommand) WritesFiles() {}

// Run prints the stored result or writes it to files.
func (cmd resultCommand) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	d, err := storedResult(st, cmd.Study)
	if err != nil {
		return err
	}
	if d.Labels, err = node.OwnLabels(st, d.Study); err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return d.Show(c, cmd.Output)
}

// storedResult is the verified result of a study that begins so.
func storedResult(st *store.Store, prefix string) (console.Document, error) {
	s, err := console.FindStudy(st, prefix)
	if err != nil {
		return console.Document{}, err
	}
	return console.StoredResult(st, s, "party run "+s.ID.Short()+" fetches it")
}
