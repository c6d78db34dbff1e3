package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cosketch/cosketch/testnet/bench"
)

type benchOptions struct {
	Rows    int           `default:"100000" help:"Records of 1,024 columns, at most 100000; the other shapes grow with it. Fewer make a quick try."`
	Repeat  int           `default:"5" help:"Times that each method runs; the best counts."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"10m" help:"Give up after this time."`
}

// runBench measures, tells the times and returns the exit code.
func runBench(ctx context.Context, opts benchOptions, stdout, stderr io.Writer) int {
	workload, err := bench.NewWorkload(opts.Rows, opts.Repeat)
	if err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return exitUsage
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	times, err := bench.Run(ctx, workload, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "testnet:", explain(ctx, err, nil))
		return exitFailed
	}
	write := bench.Text
	if opts.Format == "json" {
		write = bench.JSON
	}
	if err := write(stdout, times); err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return exitInternal
	}
	return exitOK
}
