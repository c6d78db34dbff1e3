package main

import (
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
)

type resultCommand struct {
	Study   string `arg:"" help:"The beginning of the study's id."`
	Further string `placeholder:"NAME" help:"A further result instead of the study's own: the beginning of its name, which the result lists."`
	Output  string `short:"o" placeholder:"DIR" help:"Write result.json and signed.json (by which programs verify it) there and, with --format text, csv, parquet or npy, the same as text, tables or matrices."`
}

func (resultCommand) Help() string {
	return "Verifies the aggregator's signature, and prints the result.\n\nExample: aggregator result 5f0c1b0e --format parquet -o results"
}

// Formats adds the formats of files.
func (resultCommand) Formats() []console.Format { return console.ResultFormats() }

// Run prints the stored result or writes it to files.
func (cmd resultCommand) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	d, err := console.FindDocument(st, store.Aggregator, cmd.Study, cmd.Further)
	if err != nil {
		return err
	}
	return d.Show(c, cmd.Output)
}
