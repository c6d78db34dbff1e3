package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/research/mechanism"
	"github.com/cosketch/cosketch/testnet/program"
)

type mechanismOptions struct {
	K        int           `name:"k" default:"128" help:"Coordinates of a sketched record."`
	D        int           `name:"d" default:"1024" help:"Binary values of a record."`
	R2       int           `name:"r2" default:"100" help:"Squared distance of the two records: how many values differ."`
	Epsilon  []float64     `default:"1,4,8" help:"The ε to compare at."`
	Delta    float64       `default:"1e-6" help:"δ of the mechanisms that need one."`
	Simulate bool          `help:"Set a simulation beside each formula."`
	Trials   int           `default:"2000" help:"Pairs of records to simulate, each with new matrices and new noise."`
	Format   string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout  time.Duration `default:"10m" help:"Give up after this time."`
}

// runMechanisms compares, tells the variances and returns the exit code.
func runMechanisms(ctx context.Context, opts mechanismOptions, stdout, stderr io.Writer) int {
	s := mechanism.Setting{K: opts.K, D: opts.D, R2: opts.R2, Delta: dp.Delta(opts.Delta)}
	for _, e := range opts.Epsilon {
		s.Levels = append(s.Levels, dp.Epsilon(e))
	}
	if opts.Simulate {
		s.Trials = opts.Trials
	}
	if err := s.Check(); err != nil {
		fmt.Fprintf(stderr, "research: %v (see mechanisms --help)\n", err)
		return program.Usage
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	c, err := mechanism.Compare(ctx, s)
	if err != nil {
		fmt.Fprintln(stderr, "research:", program.Explain(ctx, err, nil))
		return program.Failed
	}
	write := mechanism.Text
	if opts.Format == "json" {
		write = mechanism.JSON
	}
	if err := write(stdout, c); err != nil {
		fmt.Fprintln(stderr, "research:", err)
		return program.Internal
	}
	return program.OK
}
