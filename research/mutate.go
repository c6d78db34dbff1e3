package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cosketch/cosketch/research/mutate"
	"github.com/cosketch/cosketch/testnet/program"
)

type mutateOptions struct {
	Seed     uint64        `help:"Draw with this seed; 0 is the date, as in 20060102."`
	Count    int           `default:"100" help:"How many mutants."`
	Packages []string      `placeholder:"PACKAGE,..." help:"Change these alone, such as kernel/dp."`
	Timeout  time.Duration `default:"3h" help:"Give up after this time."`
}

// runMutate has changed code tested and returns the exit code.
func runMutate(ctx context.Context, opts mutateOptions, stdout, stderr io.Writer) int {
	for _, p := range opts.Packages {
		if !slices.Contains(mutate.Packages(), p) {
			fmt.Fprintf(stderr, "research: --packages %s: want some of %s\n", p, strings.Join(mutate.Packages(), ", "))
			return program.Usage
		}
	}
	if opts.Count < 1 {
		fmt.Fprintf(stderr, "research: --count %d: want at least one mutant (see mutate --help)\n", opts.Count)
		return program.Usage
	}
	if opts.Seed == 0 {
		now := time.Now().UTC()
		opts.Seed = uint64(now.Year()*10000 + int(now.Month())*100 + now.Day())
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	var score mutate.Score
	root, err := repository(ctx)
	if err == nil {
		score, err = mutate.Run(ctx, mutate.Options{Root: root, Seed: opts.Seed, Count: opts.Count, Packages: opts.Packages}, stdout)
	}
	if err == nil && !score.Enough() {
		err = fmt.Errorf("tests noticed %d of %d mutants, want 90 %%", score.Killed, score.Drawn)
	}
	return program.Told(ctx, name, err, func() error { return nil }, stderr)
}
