package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cosketch/cosketch/testnet/chaos"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/program"
)

type upgradeOptions struct {
	From    string        `xor:"before" placeholder:"COMMIT" help:"Build the old programs from this commit of the repository, in a temporary worktree."`
	Before  string        `xor:"before" placeholder:"DIR" help:"Or take the old programs, party and aggregator, from this directory."`
	State   []string      `placeholder:"NAME" help:"Play only these states (repeatable): ${states}."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"30m" help:"Give up after this time."`
}

// runUpgrade changes the programs of nodes amid studies, tells what came of these and returns the
// exit code.
func runUpgrade(ctx context.Context, opts upgradeOptions, stdout, stderr io.Writer) int {
	if err := opts.check(); err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return program.Usage
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	all, failed := upgrade(ctx, opts, stderr)
	tell := func() error {
		if opts.Format == "json" {
			return program.PrintJSON(stdout, all)
		}
		return chaos.WriteUpgraded(stdout, all)
	}
	if len(all) > 0 {
		if code := program.Told(ctx, name, nil, tell, stderr); code != program.OK {
			return code
		}
	}
	broken := func(u chaos.Upgraded) bool { return u.Outcome == chaos.Broken }
	if failed == nil && slices.ContainsFunc(all, broken) {
		failed = errors.New("a study was not finished as it must be")
	}
	return program.Told(ctx, name, failed, func() error { return nil }, stderr)
}

func (o upgradeOptions) check() error {
	if o.From == "" && o.Before == "" {
		return errors.New("upgrade wants --from COMMIT or --before DIR")
	}
	for _, s := range o.State {
		if !slices.Contains(chaos.StateNames(), s) {
			return fmt.Errorf("--state %q: there are %s", s, strings.Join(chaos.StateNames(), ", "))
		}
	}
	if o.Before == "" {
		return nil
	}
	for _, p := range []string{"party", "aggregator"} {
		if _, err := os.Stat(filepath.Join(o.Before, network.Executable(p))); err != nil {
			return fmt.Errorf("--before %q: %w", o.Before, err)
		}
	}
	return nil
}

// upgrade plays in a temporary directory and removes it.
func upgrade(ctx context.Context, opts upgradeOptions, log io.Writer) (out []chaos.Upgraded, err error) {
	dir, remove, err := program.Built(ctx, "upgrade", log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	before := filepath.Join(dir, "before")
	if opts.From != "" {
		fmt.Fprintln(log, "building party and aggregator of", opts.From)
		if err := os.Mkdir(before, 0o700); err != nil {
			return nil, fmt.Errorf("making a directory for the old programs: %w", err)
		}
		err = network.BuildCommit(ctx, opts.From, before)
	} else {
		before, err = filepath.Abs(opts.Before)
	}
	if err != nil {
		return nil, err
	}
	take := func(state string) bool { return len(opts.State) == 0 || slices.Contains(opts.State, state) }
	return chaos.Upgrade(ctx, chaos.UpgradeOptions{Dir: dir, Before: before, After: dir, Take: take, Log: log})
}
