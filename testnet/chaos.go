package main

import (
	"context"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/testnet/chaos"
	"github.com/cosketch/cosketch/testnet/program"
)

type disturb struct {
	Rounds int    `default:"15" help:"Studies to disturb."`
	Seed   uint64 `default:"1" help:"Seed of the disturbances. Which step of a node they strike is up to the machine."`
	Two    bool   `help:"Disturb studies of two rounds."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=20m"`
}

// Run disturbs studies and reports all rounds, also if one of them failed.
func (o disturb) Run(ctx context.Context, s program.Streams) error {
	if o.Rounds < 1 {
		return program.UsageErrorf("--rounds %d: must be at least 1", o.Rounds)
	}
	var rounds []chaos.Round
	err := program.In(ctx, "chaos", s.Log, func(dir string) (err error) {
		rounds, err = chaos.Run(ctx, chaos.Options{Dir: dir, Seed: o.Seed, Rounds: o.Rounds, Two: o.Two, Log: s.Log})
		return err
	})
	if failed := o.Print(s, rounds, func(w io.Writer) error { return o.tell(rounds, w) }); failed != nil {
		return failed
	}
	return err
}

// tell reports the rounds that succeeded.
func (o disturb) tell(rounds []chaos.Round, w io.Writer) error {
	total, longest := chaos.Sum(rounds), 0.0
	for _, r := range rounds {
		longest = max(longest, r.Seconds)
	}
	_, err := fmt.Fprintf(w, "%d of %d rounds went through: %d kills, %d pauses, %d cuts; the longest took %.1f s.\n", len(rounds), o.Rounds, total.Kills, total.Pauses, total.Cuts, longest)
	if err == nil && len(rounds) == o.Rounds {
		_, err = fmt.Fprintln(w, "Every ledger has one entry for each sketch of a study, and every party holds the result that the stored releases give.")
	}
	return err
}
