// Package program has what the commands of the testnet and of the laboratory share: their
// exit codes, a temporary directory with the two programs in it, and how it is told what
// was measured or why nothing was.
package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cosketch/cosketch/testnet/network"
)

// The exit codes, those of the nodes' programs.
const (
	OK       = 0
	Failed   = 1
	Usage    = 4
	Internal = 5
)

// Built makes a temporary directory with the programs of a network in it, and says how to
// remove it.
func Built(ctx context.Context, of string, log io.Writer) (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp("", "cosketch-"+of+"-"); err != nil {
		return "", nil, fmt.Errorf("making a directory for the nodes: %w", err)
	}
	remove = func() error {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("removing the nodes' state: %w", err)
		}
		return nil
	}
	fmt.Fprintln(log, "building party and aggregator")
	if err := network.Build(ctx, dir); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

// Told tells what was measured, unless err says why nothing was, and returns the exit code.
// The name is that of the program.
func Told(ctx context.Context, name string, err error, tell func() error, stderr io.Writer) int {
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, Explain(ctx, err, nil))
		return Failed
	}
	if err := tell(); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return Internal
	}
	return OK
}

// Explain says why a run ended: from outside, or by the error, which then comes with what
// the aggregator said, where there are nodes.
func Explain(ctx context.Context, err error, nodes *network.Network) error {
	// An interrupt at the terminal reaches the nodes too, and perhaps first.
	select {
	case <-ctx.Done():
	case <-time.After(200 * time.Millisecond):
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errors.New("gave up after --timeout")
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case nodes != nil:
		return fmt.Errorf("%w%s", err, nodes.Talk())
	}
	return err
}

// PrintJSON prints what was measured for programs.
func PrintJSON(w io.Writer, measured any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	if err := out.Encode(measured); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
