package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/testnet/program"
)

type simulate struct {
	Schedules uint64 `default:"1000" help:"How many random schedules to play."`
	States    bool   `help:"Print the machines' states instead: what each waits for, from whom, until when, and what follows."`
	Parties   int    `help:"Play one study of this many parties with masked sums instead, up to its result. 1000 parties take 4 GB and minutes."`
	Liar      bool   `help:"With --parties: one party seals an invalid text to another, and is convicted."`
	Seed      uint64 `default:"0" help:"The first schedule's seed; the others follow. One seed is one schedule."`
}

// Run plays random schedules of the protocol with random adversaries, and counts the outcomes. It
// stops at the first broken invariant and prints the schedule's trace.
func (o simulate) Run(ctx context.Context, s program.Streams) error {
	if o.States {
		_, err := fmt.Fprint(s.Out, "party\n", stateTable(session.PartyTransitions()), "\naggregator\n", stateTable(session.AggregatorTransitions()))
		return err
	}
	if o.Parties > 0 {
		return o.many(s)
	}
	if o.Liar {
		return program.UsageErrorf("--liar: name --parties, too")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all protocoltest.Summary
	var broken error
	var mu sync.Mutex
	var workers sync.WaitGroup
	next := make(chan uint64)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := range next {
				r, err := protocoltest.Random(seed)
				mu.Lock()
				all.Add(r)
				if err != nil && broken == nil {
					broken = err
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	for i := uint64(0); i < o.Schedules && ctx.Err() == nil; i++ {
		next <- o.Seed + i
	}
	close(next)
	workers.Wait()
	fmt.Fprint(s.Out, all.String())
	if broken != nil {
		return fmt.Errorf("an invariant is broken: %w", broken)
	}
	return nil
}

// many plays a study of many parties. Their data, above all the texts sealed to each, fill most of
// a developer's memory. Beyond the limit, garbage is collected more often.
func (o simulate) many(s program.Streams) error {
	const limit = 7 << 29
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	sim, err := protocoltest.Many(o.Parties, o.Seed, o.Liar)
	if err != nil {
		return program.UsageErrorf("--parties %d: %v", o.Parties, err)
	}
	got, err := sim.ToResult()
	if err != nil {
		return fmt.Errorf("a study of %d parties: %w", o.Parties, err)
	}
	fmt.Fprintf(s.Out, "%d parties have a result after %d of the study's attempts. Each read %d kB.\n", o.Parties, got.Attempts, got.Read/1000)
	for _, one := range sim.Blame() {
		fmt.Fprintf(s.Out, "Convicted: %v\n", one.Err)
	}
	return nil
}

// stateTable formats a machine's table for people.
func stateTable(rows []session.Transition) string {
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "  %s\n", row.State)
		if row.Owner == "" {
			continue // a final state
		}
		waits := make([]string, len(row.Waits))
		for i, wait := range row.Waits {
			waits[i] = wait.String()
		}
		next := make([]string, len(row.Next))
		for i, state := range row.Next {
			next[i] = string(state)
		}
		fmt.Fprintf(&b, "    waits for  %s\n    from       %s\n    until      %s\n    then       %s\n",
			strings.Join(waits, "; "), row.Owner, row.Until, strings.Join(next, ", "))
	}
	return b.String()
}
