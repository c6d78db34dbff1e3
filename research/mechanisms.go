package main

import (
	"context"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/research/mechanism"
	"github.com/cosketch/cosketch/testnet/program"
)

type mechanisms struct {
	K        int       `name:"k" default:"128" help:"Coordinates of a sketched record."`
	D        int       `name:"d" default:"1024" help:"Binary values of a record."`
	R2       int       `name:"r2" default:"100" help:"Squared distance of the two records: how many values differ."`
	Epsilon  []float64 `default:"1,4,8" help:"The ε to compare at."`
	Delta    float64   `default:"1e-6" help:"δ of the mechanisms that need one."`
	Simulate bool      `help:"Set a simulation beside each formula."`
	Trials   int       `default:"2000" help:"Pairs of records to simulate, each with new matrices and new noise."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=10m"`
}

// Run compares the mechanisms and prints their variances.
func (o mechanisms) Run(ctx context.Context, s program.Streams) error {
	at := mechanism.Setting{K: o.K, D: o.D, R2: o.R2, Delta: dp.Delta(o.Delta)}
	for _, e := range o.Epsilon {
		at.Levels = append(at.Levels, dp.Epsilon(e))
	}
	if o.Simulate {
		at.Trials = o.Trials
	}
	if err := at.Check(); err != nil {
		return program.UsageErrorf("%w (see mechanisms --help)", err)
	}
	c, err := mechanism.Compare(ctx, at)
	if err != nil {
		return err
	}
	return o.Print(s, c, func(w io.Writer) error { return mechanism.Text(w, c) })
}
