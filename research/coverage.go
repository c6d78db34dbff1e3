package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cosketch/cosketch/research/coverage"
	"github.com/cosketch/cosketch/testnet/program"
)

type coverageOptions struct {
	Seeds   int           `default:"100" help:"Studies of each of six conditions, with new seeds, new noise and new record sets."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"20m" help:"Give up after this time."`
}

// runCoverage measures how often intervals hold the truth, and returns the exit code: a
// coverage that is not what intervals promise is a failure.
func runCoverage(ctx context.Context, opts coverageOptions, stdout, stderr io.Writer) int {
	if opts.Seeds < 2 {
		fmt.Fprintf(stderr, "research: %d seeds: want at least 2 (see coverage --help)\n", opts.Seeds)
		return program.Usage
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	tenth := 0
	rows, err := coverage.Measure(ctx, coverage.Options{Seeds: opts.Seeds, Tell: func(done, total int) {
		if at := 10 * done / total; at > tenth {
			tenth = at
			fmt.Fprintf(stderr, "%d of %d studies\n", done, total)
		}
	}})
	if err != nil {
		fmt.Fprintln(stderr, "research:", program.Explain(ctx, err, nil))
		return program.Failed
	}
	write := coverage.Text
	if opts.Format == "json" {
		write = coverage.JSON
	}
	if err := write(stdout, rows); err != nil {
		fmt.Fprintln(stderr, "research:", err)
		return program.Internal
	}
	for _, r := range rows {
		if !r.OK() {
			fmt.Fprintln(stderr, "research: intervals do not cover what they promise")
			return program.Failed
		}
	}
	return program.OK
}
