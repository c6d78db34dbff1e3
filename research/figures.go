package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/cosketch/cosketch/research/figures"
	"github.com/cosketch/cosketch/testnet/program"
)

type figureCounts struct {
	Ref           string `placeholder:"COMMIT" help:"Also print the figures of this commit. It is checked out into a temporary working tree."`
	Study         bool   `help:"Run one study of the tests, too, and count the functions of nodes and protocol that it runs. That takes minutes."`
	Rows          int    `default:"12" help:"Number of packages to print, largest counts first."`
	program.Timed `embed:"" set:"timeout=30m"`
}

// Run counts the code of the repository.
func (o figureCounts) Run(ctx context.Context, s program.Streams) error {
	if o.Rows < 1 || strings.HasPrefix(o.Ref, "-") {
		return program.UsageErrorf("--rows %d --ref %q: want at least one row, and a commit (see figures --help)", o.Rows, o.Ref)
	}
	names, states, err := o.counted(ctx)
	if err != nil {
		return err
	}
	figures.Tell(s.Out, names, states, o.Rows)
	return nil
}

// counted returns the figures of the requested commit, if any, and of the working tree.
func (o figureCounts) counted(ctx context.Context) (names []string, states [][]figures.Section, err error) {
	root, err := repository(ctx)
	if err != nil {
		return nil, nil, err
	}
	if o.Ref != "" {
		before, err := figures.OfCommit(ctx, root, o.Ref, o.Study)
		if err != nil {
			return nil, nil, err
		}
		names, states = append(names, o.Ref), append(states, before)
	}
	here, err := figures.Of(ctx, root, o.Study)
	if err != nil {
		return nil, nil, err
	}
	return append(names, "here"), append(states, here), nil
}

// repository returns the root of the repository around this folder.
func repository(ctx context.Context) (string, error) {
	top, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("finding the repository of this folder: %w", err)
	}
	return strings.TrimSpace(string(top)), nil
}
