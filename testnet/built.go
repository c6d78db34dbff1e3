package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/cosketch/cosketch/testnet/network"
)

// built makes a temporary directory with the programs of a network in it, and says how to
// remove it.
func built(ctx context.Context, of string, log io.Writer) (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp("", "cosketch-"+of+"-"); err != nil {
		return "", nil, fmt.Errorf("making a directory for the nodes: %w", err)
	}
	remove = func() error { return os.RemoveAll(dir) }
	fmt.Fprintln(log, "building party and aggregator")
	if err := network.Build(ctx, dir); err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}

// told tells what was measured, unless err says why nothing was, and returns the exit code.
func told(ctx context.Context, err error, tell func() error, stderr io.Writer) int {
	if err != nil {
		fmt.Fprintln(stderr, "testnet:", explain(ctx, err, nil))
		return exitFailed
	}
	if err := tell(); err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return exitInternal
	}
	return exitOK
}

// printJSON prints what was measured for programs.
func printJSON(w io.Writer, measured any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	if err := out.Encode(measured); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
