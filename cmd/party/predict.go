package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
)

type predictCommand struct {
	Study  string   `arg:"" help:"The beginning of the study's id."`
	Data   []string `required:"" sep:"none" placeholder:"FILE" help:"New records, in the form of the study's data; the label may be missing (repeatable)."`
	Output string   `short:"o" placeholder:"FILE" help:"Write the table there, for its owner alone, instead of printing it."`
}

func (predictCommand) Help() string {
	return `Finds for each new record of this party the nearest cluster of a study's results, or the class that lda predicts. Nothing leaves. Answers of sums (k-means by cells, lda) can be asked at any time; those of rows in horizontal studies, until the study's new_records_until.

Example: party advanced predict 5f0c1b0e --data new.csv -o clusters.csv`
}

type predicted struct {
	Study   string     `json:"study"`
	File    string     `json:"file,omitempty"` // file with the table, if it is not printed
	Columns []string   `json:"columns"`
	Count   int        `json:"count"`
	Records [][]string `json:"records,omitempty"` // by Columns
}

// Run places the records.
func (cmd predictCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, s, _, err := openStudy(g.Open, cmd.Study)
	if err != nil {
		return err
	}
	defer st.Close()
	p, err := local.Predict(ctx, sourceOf(st, g, s, nil), cmd.Data)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fail.NoResultHere.New(s.Name, s.ID.Short())
	case err != nil:
		return err
	}
	table, err := tableOf(cmd.Output, len(s.Records.ID), p.Columns, p.Records)
	if err != nil {
		return fmt.Errorf("writing predictions: %w", err)
	}
	out := predicted{Study: s.ID.String(), File: cmd.Output, Columns: p.Columns, Count: len(p.Records)}
	if cmd.Output == "" {
		out.Records = p.Records
	}
	return c.Print(out, func(to io.Writer) {
		table.print(c, to)
		for _, f := range p.Summary.Fields {
			if f.Clamped > 0 {
				c.Say("%q: %d values outside the public bounds were moved to the nearest bound.", f.Name, f.Clamped)
			}
		}
		c.Say("%d records placed; nothing has left.", len(p.Records))
	})
}
