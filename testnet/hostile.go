package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/cosketch/cosketch/testnet/chaos"
	"github.com/cosketch/cosketch/testnet/program"
)

type hostile struct {
	Peers   int           `default:"20" help:"Hostile peers. Half of them are parties of studies of their own, the others are in none."`
	Studies int           `default:"10" help:"Studies of three honest parties meanwhile."`
	For     time.Duration `default:"5m" help:"How long hostile peers go on."`
	Replies bool          `help:"Play a hostile aggregator instead, which answers each call of a party with the worst that it may."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=30m"`
}

// Run attacks an aggregator, or a party, and reports what was measured.
func (o hostile) Run(ctx context.Context, s program.Streams) error {
	if o.Peers < 4 || o.Peers > 64 || o.Studies < 1 || o.For <= 0 {
		return program.UsageErrorf("hostile needs 4 to 64 --peers, at least one of --studies and a time above 0")
	}
	return program.In(ctx, "hostile", s.Log, func(dir string) error {
		if o.Replies {
			replies, err := chaos.Replies(ctx, dir, func(string, string) bool { return true }, s.Log)
			if err != nil {
				return err
			}
			return o.Print(s, replies, func(w io.Writer) error { return chaos.WriteReplies(w, replies) })
		}
		measured, err := chaos.Attack(ctx, chaos.AttackOptions{Dir: dir, Peers: o.Peers, Studies: o.Studies, For: o.For, Log: s.Log, Attackers: attackersApart})
		if len(measured.Loaded) > 0 {
			if failed := o.Print(s, measured, measured.Write); failed != nil {
				return failed
			}
		}
		return err
	})
}

// attackersApart runs hostile peers in their own process, with the lowest priority if the system
// has nice.
func attackersApart(ctx context.Context, order chaos.Order) (tally chaos.Tally, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting hostile peers: %w", err)
	}
	args := []string{self, "hostile-peers"}
	if nice, err := exec.LookPath("nice"); err == nil {
		args = append([]string{nice, "-n", "19"}, args...)
	}
	told, err := json.Marshal(order)
	if err != nil {
		return nil, fmt.Errorf("starting hostile peers: %w", err)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin = bytes.NewReader(told)
	cmd.WaitDelay = 10 * time.Second
	said, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("hostile peers: %w", err)
	}
	if err := json.Unmarshal(said, &tally); err != nil {
		return nil, fmt.Errorf("reading what hostile peers did: %w", err)
	}
	return tally, nil
}

type hostilePeers struct{}

// Run plays the hostile peers of an order on stdin, and prints the outcome.
func (hostilePeers) Run(ctx context.Context, s program.Streams) error {
	var order chaos.Order
	if err := json.NewDecoder(os.Stdin).Decode(&order); err != nil {
		return err
	}
	tally, err := chaos.PlayAttackers(ctx, order)
	if err != nil {
		return err
	}
	return json.NewEncoder(s.Out).Encode(tally)
}
