package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cosketch/cosketch/research/mutate"
	"github.com/cosketch/cosketch/testnet/program"
)

type mutants struct {
	Seed          uint64   `help:"Draw with this seed; 0 is the date, as in 20060102."`
	Count         int      `default:"100" help:"How many mutants."`
	Packages      []string `placeholder:"PACKAGE,..." help:"Change these alone, such as kernel/dp."`
	program.Timed `embed:"" set:"timeout=3h"`
}

// Run tests mutated code.
func (o mutants) Run(ctx context.Context, s program.Streams) error {
	for _, p := range o.Packages {
		if !slices.Contains(mutate.Packages(), p) {
			return program.UsageErrorf("--packages %s: want some of %s", p, strings.Join(mutate.Packages(), ", "))
		}
	}
	if o.Count < 1 {
		return program.UsageErrorf("--count %d: want at least one mutant", o.Count)
	}
	if o.Seed == 0 {
		now := time.Now().UTC()
		o.Seed = uint64(now.Year()*10000 + int(now.Month())*100 + now.Day())
	}
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	score, err := mutate.Run(ctx, mutate.Options{Root: root, Seed: o.Seed, Count: o.Count, Packages: o.Packages}, s.Out)
	if err == nil && !score.Enough() {
		err = fmt.Errorf("tests noticed %d of %d mutants, want 90 %%", score.Killed, score.Drawn)
	}
	return err
}
