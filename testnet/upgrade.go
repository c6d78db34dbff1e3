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

	"github.com/cosketch/cosketch/testnet/chaos"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/program"
)

type upgrade struct {
	From   string   `xor:"before" placeholder:"COMMIT" help:"Build the old programs from this commit of the repository, in a temporary worktree."`
	Before string   `xor:"before" placeholder:"DIR" help:"Or take the old programs, party and aggregator, from this directory."`
	State  []string `placeholder:"NAME" help:"Play only these states (repeatable): ${states}."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=30m"`
}

// Run changes the programs of nodes during studies, and reports the outcomes.
func (o upgrade) Run(ctx context.Context, s program.Streams) error {
	if err := o.check(); err != nil {
		return program.UsageError(err)
	}
	var all []chaos.Upgraded
	err := program.In(ctx, "upgrade", s.Log, func(dir string) error {
		before, err := o.programs(ctx, dir, s.Log)
		if err != nil {
			return err
		}
		take := func(state string) bool { return len(o.State) == 0 || slices.Contains(o.State, state) }
		all, err = chaos.Upgrade(ctx, chaos.UpgradeOptions{Dir: dir, Before: before, After: dir, Take: take, Log: s.Log})
		return err
	})
	if len(all) > 0 {
		if failed := o.Print(s, all, func(w io.Writer) error { return chaos.WriteUpgraded(w, all) }); failed != nil {
			return failed
		}
	}
	broken := func(u chaos.Upgraded) bool { return u.Outcome == chaos.Broken }
	if err == nil && slices.ContainsFunc(all, broken) {
		return errors.New("a study was not finished as it must be")
	}
	return err
}

func (o upgrade) check() error {
	if o.From == "" && o.Before == "" {
		return errors.New("upgrade needs --from COMMIT or --before DIR")
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

// programs returns the directory of the old programs, and builds them if they come from a commit.
func (o upgrade) programs(ctx context.Context, dir string, log io.Writer) (string, error) {
	if o.From == "" {
		return filepath.Abs(o.Before)
	}
	before := filepath.Join(dir, "before")
	fmt.Fprintln(log, "building party and aggregator of", o.From)
	if err := os.Mkdir(before, 0o700); err != nil {
		return "", fmt.Errorf("making a directory for the old programs: %w", err)
	}
	return before, network.BuildCommit(ctx, o.From, before)
}
