package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/cosketch/cosketch/research/figures"
	"github.com/cosketch/cosketch/testnet/program"
)

type figuresOptions struct {
	Ref     string        `placeholder:"COMMIT" help:"Print the figures of that commit beside them, from a working tree that is removed."`
	Study   bool          `help:"Run one study of the tests, too, and count the functions of nodes and protocol that it runs. That takes minutes."`
	Rows    int           `default:"12" help:"How many packages, those with the greatest counts."`
	Timeout time.Duration `default:"30m" help:"Give up after this time."`
}

// runFigures counts the code around it and returns the exit code.
func runFigures(ctx context.Context, opts figuresOptions, stdout, stderr io.Writer) int {
	if opts.Rows < 1 || strings.HasPrefix(opts.Ref, "-") {
		fmt.Fprintf(stderr, "research: --rows %d --ref %q: want at least one row, and a commit (see figures --help)\n", opts.Rows, opts.Ref)
		return program.Usage
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	names, states, err := counted(ctx, opts)
	return program.Told(ctx, name, err, func() error { figures.Tell(stdout, names, states, opts.Rows); return nil }, stderr)
}

// counted are the figures of the commit that was asked for, if any, and of the code as it lies here.
func counted(ctx context.Context, opts figuresOptions) (names []string, states [][]figures.Section, err error) {
	root, err := repository(ctx)
	if err != nil {
		return nil, nil, err
	}
	if opts.Ref != "" {
		before, err := figures.OfCommit(ctx, root, opts.Ref, opts.Study)
		if err != nil {
			return nil, nil, err
		}
		names, states = append(names, opts.Ref), append(states, before)
	}
	here, err := figures.Of(ctx, root, opts.Study)
	if err != nil {
		return nil, nil, err
	}
	return append(names, "here"), append(states, here), nil
}

// repository is the root of the one around this folder.
func repository(ctx context.Context) (string, error) {
	top, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("finding the repository of this folder: %w", err)
	}
	return strings.TrimSpace(string(top)), nil
}
