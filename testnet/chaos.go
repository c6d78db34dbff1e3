package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cosketch/cosketch/testnet/chaos"
	"github.com/cosketch/cosketch/testnet/program"
)

type chaosOptions struct {
	Rounds  int           `default:"15" help:"Studies to disturb."`
	Seed    uint64        `default:"1" help:"Seed of the disturbances. Which step of a node they strike is up to the machine."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"20m" help:"Give up after this time."`
}

// runChaos disturbs studies, tells how it went and returns the exit code.
func runChaos(ctx context.Context, opts chaosOptions, stdout, stderr io.Writer) int {
	if opts.Rounds < 1 {
		fmt.Fprintf(stderr, "testnet: --rounds %d: must be at least 1\n", opts.Rounds)
		return program.Usage
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	rounds, err := disturb(ctx, opts, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "testnet:", program.Explain(ctx, err, nil))
	}
	if err := tellChaos(opts, rounds, stdout); err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return program.Internal
	}
	if err != nil {
		return program.Failed
	}
	return program.OK
}

// disturb runs the rounds in a temporary directory and removes it.
func disturb(ctx context.Context, opts chaosOptions, log io.Writer) ([]chaos.Round, error) {
	dir, remove, err := program.Built(ctx, "chaos", log)
	if err != nil {
		return nil, err
	}
	defer remove()
	return chaos.Run(ctx, chaos.Options{Dir: dir, Seed: opts.Seed, Rounds: opts.Rounds, Log: log})
}

// tellChaos says what went through.
func tellChaos(opts chaosOptions, rounds []chaos.Round, w io.Writer) error {
	if opts.Format == "json" {
		return program.PrintJSON(w, rounds)
	}
	total, longest := chaos.Sum(rounds), 0.0
	for _, r := range rounds {
		longest = max(longest, r.Seconds)
	}
	_, err := fmt.Fprintf(w, "%d of %d rounds went through: %d kills, %d pauses, %d cuts; the longest took %.1f s.\n", len(rounds), opts.Rounds, total.Kills, total.Pauses, total.Cuts, longest)
	if err == nil && len(rounds) == opts.Rounds {
		_, err = fmt.Fprintln(w, "Every ledger has one entry a study, and every party holds the result that the stored releases give.")
	}
	if err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
