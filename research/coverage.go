package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/research/coverage"
	"github.com/cosketch/cosketch/testnet/program"
)

type coverageRows struct {
	Seeds int `default:"100" help:"Studies of each of six conditions, with new seeds, new noise and new record sets."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=20m"`
}

// Run measures how often intervals hold the truth. It fails if the coverage is not the nominal one.
func (o coverageRows) Run(ctx context.Context, s program.Streams) error {
	if o.Seeds < 2 {
		return program.UsageErrorf("%d seeds: want at least 2 (see coverage --help)", o.Seeds)
	}
	tenth := 0
	rows, err := coverage.Measure(ctx, coverage.Options{Seeds: o.Seeds, Tell: func(done, total int) {
		if at := 10 * done / total; at > tenth {
			tenth = at
			fmt.Fprintf(s.Log, "%d of %d studies\n", done, total)
		}
	}})
	if err != nil {
		return err
	}
	if err := o.Print(s, rows, func(w io.Writer) error { return coverage.Text(w, rows) }); err != nil {
		return err
	}
	if slices.ContainsFunc(rows, func(r coverage.Row) bool { return !r.OK() }) {
		return errors.New("intervals do not cover what they promise")
	}
	return nil
}
