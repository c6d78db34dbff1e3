package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/table"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/show"
)

type queryCommand struct {
	Study     string `arg:"" help:"The beginning of the study's id."`
	File      string `arg:"" help:"Public vectors: a table with the study's columns, in their units, and a name for each vector."`
	Neighbors int    `default:"10" env:"-" help:"How many nearest records each vector is told of, at most 100."`
	ID        string `name:"id" default:"query" env:"-" placeholder:"COLUMN" help:"The column that names the vectors."`
	Output    string `short:"o" placeholder:"FILE" help:"Write the answers there instead of printing them."`
}

func (queryCommand) Help() string {
	return "Finds the released records nearest to public vectors, also while aggregator serve runs: party, handle, squared distance with standard error and 95 % interval, and what the clusters and classifiers of the study's results say of each vector. " +
		"The study must say matrix: public (or family: identity, which has no matrix), and its later must list neighbors. Vectors get no noise, so they must be nobody's data. No budget is spent.\n\n" +
		"Examples: aggregator query 5f0c1b0e typical.csv; aggregator --format csv query 5f0c1b0e typical.csv --neighbors 3 -o near.csv"
}

// Formats adds CSV.
func (queryCommand) Formats() []console.Format {
	return []console.Format{console.Text, console.JSON, console.Lines, console.CSV}
}

// Run answers the vectors.
func (cmd queryCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := console.FindStudy(st, cmd.Study)
	if err != nil {
		return err
	}
	conf, err := config.LoadAggregator(g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	boundAnalysis(conf)
	answers, summary, err := aggregator.Query(ctx, options(st), s, aggregator.Vectors{
		Source: dataset.Files(cmd.File), Name: cmd.ID, Neighbors: cmd.Neighbors, Limit: conf.Memory,
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fail.NoResult.New(s.Name, s.ID.Short())
	case err != nil:
		return fmt.Errorf("querying study %s (%s): %w", s.Name, s.ID.Short(), err)
	}
	if err := cmd.write(c, answers); err != nil {
		return err
	}
	for _, f := range summary.Fields {
		if f.Clamped > 0 {
			c.Say("%q: %d values outside the public bounds were moved to the nearest bound.", f.Name, f.Clamped)
		}
	}
	if answers.Clipped > 0 {
		c.Say("%d vectors were cut to the length to which records are cut.", answers.Clipped)
	}
	c.Say("Nothing was spent: the answers were computed from releases that were already here.")
	return nil
}

// write prints the answers in the requested format, or writes them to the file.
func (cmd queryCommand) write(c *console.Console, a analysis.Answers) error {
	text := func(to io.Writer) { present.Text(to, show.Answers(a)) }
	if c.Files == console.CSV {
		text = func(to io.Writer) { answersCSV(to, a) }
	}
	if cmd.Output == "" {
		return c.Print(a, text)
	}
	err := console.WriteFileAtomic(cmd.Output, func(to io.Writer) error {
		file := console.Console{Out: to, Err: c.Err, Format: c.Format}
		return file.Print(a, text)
	})
	if err != nil {
		return fmt.Errorf("writing answers: %w", err)
	}
	c.Say("wrote %s", cmd.Output)
	return nil
}

// said returns a column name for each model prediction of a vector.
func said(a analysis.Answers) (names []string) {
	if len(a.Queries) > 0 {
		for _, s := range a.Queries[0].Said {
			names = append(names, s.Model)
		}
	}
	return names
}

// answersCSV writes a row for each pair of a vector and a neighbour.
func answersCSV(to io.Writer, a analysis.Answers) {
	w := table.NewWriter(to, 0)
	w.Row(append([]string{"query", "rank", "parties", "handle", "squared_distance", "standard_error", "low", "high", "undefined"}, said(a)...))
	for _, q := range a.Queries {
		for rank, n := range q.Near {
			d := n.Distance
			row := []string{q.Query, strconv.Itoa(rank + 1), strings.Join(n.Parties, "+"), n.Handle, table.Number(d.Estimate), table.Number(d.StandardError), table.Number(d.Low), table.Number(d.High), d.Undefined}
			for _, s := range q.Said {
				row = append(row, s.Value)
			}
			w.Row(row)
		}
	}
	w.Flush()
}
