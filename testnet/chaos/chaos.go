// Package chaos disturbs studies between real processes. It kills (SIGKILL), pauses (SIGSTOP) and
// restarts nodes and cuts the network between them at random times. Then it checks that nothing was
// lost, spent twice or left hanging.
//
// Noise and seed are drawn anew in every run, so results of two runs cannot be compared. Instead,
// these must hold: each party's ledger has one entry for each of the study's sketches, also with
// two rounds. Every party has the same signed result. The result is, byte for byte, the output of
// the analyses on the releases that the parties stored before they sent the first byte.
package chaos

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// Options are the options of Run.
type Options struct {
	Dir    string // required: an empty directory, with the programs that network.Build put there
	Seed   uint64 // seed of the disturbances
	Rounds int    // required: number of studies to disturb, at least 1
	Two    bool   // studies have two rounds
	Log    io.Writer
}

// Count counts the disturbances of nodes and network.
type Count struct {
	Kills  int `json:"kills"`
	Pauses int `json:"pauses"`
	Cuts   int `json:"cuts"`
}

func (c *Count) add(d Count) {
	c.Kills += d.Kills
	c.Pauses += d.Pauses
	c.Cuts += d.Cuts
}

// Round is one study that succeeded.
type Round struct {
	Study string `json:"study"`
	Count
	Seconds  float64 `json:"seconds"`
	Restarts int     `json:"restarts"` // restarts of killed processes
}

// Run disturbs one study after the other. It returns the rounds that succeeded, and an error for
// the first violation.
func Run(ctx context.Context, o Options) ([]Round, error) {
	scene, err := laboratories(1 << 18)
	if o.Two {
		scene, err = hospitals()
	}
	if err != nil {
		return nil, err
	}
	site, between, err := relayed(ctx, o.Dir, o.Dir, scene)
	if err != nil {
		return nil, err
	}
	defer between.Close()
	var rounds []Round
	for n := range o.Rounds {
		began := time.Now()
		id, err := site.propose(ctx)
		if err != nil {
			return rounds, fmt.Errorf("round %d: %w", n+1, err)
		}
		round := Round{Study: id}
		d := disturber{site: site, relay: between, rng: rand.New(rand.NewPCG(o.Seed, uint64(n))), round: &round}
		if err := d.run(ctx, id); err != nil {
			return rounds, fmt.Errorf("round %d, study %s: %w", n+1, id[:8], err)
		}
		if err := site.check(ctx, id); err != nil {
			return rounds, fmt.Errorf("round %d, study %s: %w", n+1, id[:8], err)
		}
		round.Seconds = time.Since(began).Seconds()
		rounds = append(rounds, round)
		fmt.Fprintf(o.Log, "round %d of %d: %d kills, %d pauses, %d cuts, %.1f s: right\n", n+1, o.Rounds, round.Kills, round.Pauses, round.Cuts, round.Seconds)
	}
	return rounds, nil
}

// Sum returns the total counts of the rounds.
func Sum(rounds []Round) (total Count) {
	for _, r := range rounds {
		total.add(r.Count)
	}
	return total
}
