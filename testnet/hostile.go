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

type hostileOptions struct {
	Peers   int           `default:"20" help:"Hostile peers. Half of them are parties of studies of their own, the others are in none."`
	Studies int           `default:"10" help:"Studies of three honest parties meanwhile."`
	For     time.Duration `default:"5m" help:"How long hostile peers go on."`
	Replies bool          `help:"Play a hostile aggregator instead, which answers each call of a party with the worst that it may."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"30m" help:"Give up after this time."`
}

type hostilePeersOptions struct{}

// runHostile attacks an aggregator, tells what was measured and returns the exit code.
func runHostile(ctx context.Context, opts hostileOptions, stdout, stderr io.Writer) int {
	if opts.Peers < 4 || opts.Peers > 64 || opts.Studies < 1 || opts.For <= 0 {
		fmt.Fprintln(stderr, "testnet: hostile wants 4 to 64 --peers, at least one of --studies and a time above 0")
		return program.Usage
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	dir, remove, err := program.Built(ctx, "hostile", stderr)
	if err != nil {
		return program.Told(ctx, name, err, nil, stderr)
	}
	defer remove()
	if opts.Replies {
		replies, failed := chaos.Replies(ctx, dir, func(string, string) bool { return true }, stderr)
		return program.Told(ctx, name, failed, func() error {
			if opts.Format == "json" {
				return program.PrintJSON(stdout, replies)
			}
			return chaos.WriteReplies(stdout, replies)
		}, stderr)
	}
	measured, failed := chaos.Attack(ctx, chaos.AttackOptions{Dir: dir, Peers: opts.Peers, Studies: opts.Studies, For: opts.For, Log: stderr, Attackers: attackersApart})
	if len(measured.Loaded) > 0 {
		tell := func() error {
			if opts.Format == "json" {
				return program.PrintJSON(stdout, measured)
			}
			return measured.Write(stdout)
		}
		if code := program.Told(ctx, name, nil, tell, stderr); code != program.OK {
			return code
		}
	}
	return program.Told(ctx, name, failed, func() error { return nil }, stderr)
}

// attackersApart plays hostile peers in a process of their own, which gives way to all others where
// the system can.
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

// runHostilePeers plays the hostile peers of an order on stdin, and prints what came of it.
func runHostilePeers(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
	var order chaos.Order
	err := json.NewDecoder(stdin).Decode(&order)
	var tally chaos.Tally
	if err == nil {
		tally, err = chaos.PlayAttackers(ctx, order)
	}
	return program.Told(ctx, name, err, func() error { return program.PrintJSON(stdout, tally) }, stderr)
}
