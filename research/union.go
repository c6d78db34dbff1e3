package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/research/union"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/program"
)

type unionOptions struct {
	Data    string        `placeholder:"DIR" help:"Folder of public data sets, laid out as docs/data.md says, of which heart and diabetes130 are measured too. Default: ${data}."`
	Trials  int           `default:"20" help:"Studies of each kind, with records dealt out anew, new seeds and new noise."`
	Epsilon []float64     `default:"0.25,0.5,1,2,4,8" help:"The ε for whole records."`
	Figures string        `placeholder:"FILE" help:"Draw the accuracy over ε and over the number of records there too, with the plan's forecast on it: a page that stands by itself."`
	Timeout time.Duration `default:"20m" help:"Give up after this time."`
}

// runUnion measures horizontal studies under unit record and returns the exit code.
func runUnion(ctx context.Context, opts unionOptions, stdout, stderr io.Writer) int {
	o := union.Options{Trials: opts.Trials}
	switch data, err := corpus.Open(opts.Data, os.Getenv); {
	case err == nil:
		o.Corpus = &data
	case !errors.Is(err, corpus.ErrNone):
		fmt.Fprintln(stderr, "research:", err)
		return program.Usage
	}
	for _, e := range opts.Epsilon {
		if _, err := dp.Promise(dp.Gaussian, dp.Budget{Epsilon: dp.Epsilon(e), Delta: 1e-6}); err != nil {
			fmt.Fprintf(stderr, "research: %v (see union --help)\n", err)
			return program.Usage
		}
		o.Epsilon = append(o.Epsilon, dp.Epsilon(e))
	}
	if opts.Trials < 1 {
		fmt.Fprintf(stderr, "research: %d trials: want at least 1 (see union --help)\n", opts.Trials)
		return program.Usage
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	var page bytes.Buffer
	if opts.Figures != "" {
		o.Figures = &page
	}
	if err := union.Report(ctx, o, stdout); err != nil {
		fmt.Fprintln(stderr, "research:", program.Explain(ctx, err, nil))
		return program.Failed
	}
	if opts.Figures != "" {
		if err := os.WriteFile(opts.Figures, page.Bytes(), 0o644); err != nil {
			fmt.Fprintln(stderr, "research: writing the figures:", err)
			return program.Usage
		}
		fmt.Fprintf(stderr, "Figures: %s\n", opts.Figures)
	}
	return program.OK
}
