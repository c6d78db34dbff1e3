package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/fail"
)

type dataChange struct {
	Name string `arg:"" help:"A dataset of the site file."`

	readingFlags
}

// Help says what is kept.
func (dataChange) Help() string {
	return "Adds to the site file how a dataset is read, and reads it to its end. The data do not change, and nothing leaves. What was spent on the dataset stays spent.\n\nExample: party data change patients --decimal comma --thousands point --missing NA,k.A. --values 'smoker=yes:1,no:0'"
}

type changedData struct {
	Dataset  string         `json:"dataset"`
	Config   string         `json:"config"`
	Lines    string         `json:"lines"` // lines of the site file about how it is read
	Records  int64          `json:"records"`
	Problems []shownProblem `json:"problems"`
}

// Run reads the data in the new way, then changes the site file.
func (cmd dataChange) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	more, err := cmd.reading()
	if err == nil && more.IsZero() {
		err = errors.New("what is to be read otherwise? Say it with --missing, --values, --encoding, --decimal, --thousands, --date or --delimiter")
	}
	if err != nil {
		return fail.Usage.Of(err)
	}
	d, err := findData(g, cmd.Name, sheetFlag{}, readingFlags{})
	if err != nil {
		return err
	}
	if d.Name == "" {
		return fail.Usage.Of(fmt.Errorf("%q is no dataset of the site file (party data add names data)", cmd.Name))
	}
	all := (dataset.Reading{CSV: d.Source.CSV, Words: d.Source.Words}).With(more)
	if d.Source.SQL != nil && all.CSV != (dataset.Dialect{}) {
		return fail.Usage.Of(fmt.Errorf("%q is a database: --missing and --values are about it, the other options about CSV files", cmd.Name))
	}
	if err := all.CSV.Check(); err != nil {
		return fail.Usage.Of(err)
	}
	d.Source.CSV, d.Source.Words = all.CSV, all.Words
	held, err := described(ctx, c, d, dataset.DescribeOptions{ID: d.ID, Normalize: normalization(nil)})
	if err != nil {
		return err
	}
	found := problems{held.Problems, remedyCommand("", d)}
	if err := found.stopping(d.Source); err != nil {
		found.tell(c)
		return err
	}
	lines, err := config.SetReading(g.Config, d.Name, more)
	if err != nil {
		return fail.Usage.Of(err)
	}
	out := changedData{Dataset: d.Name, Config: g.Config, Lines: lines, Records: held.Records, Problems: found.document()}
	return c.Print(out, func(w io.Writer) {
		io.WriteString(w, lines)
		c.Say("%d records can be read so, and %s says it now.", held.Records, g.Config)
		if len(found.list) > 0 {
			c.Say("A study would still refuse:")
			found.tell(c)
		}
	})
}
