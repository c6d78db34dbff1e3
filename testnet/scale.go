package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/scale"
)

type scaleOptions struct {
	Parties []int         `default:"4,8,16,32,64" help:"How many parties, one study each."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"10m" help:"Give up after this time."`
}

// runScale measures studies of many parties, tells the figures and returns the exit
// code.
func runScale(ctx context.Context, opts scaleOptions, stdout, stderr io.Writer) int {
	for _, n := range opts.Parties {
		if n < 2 || n > study.MaxParties {
			fmt.Fprintf(stderr, "testnet: --parties %d: a study has 2 to %d\n", n, study.MaxParties)
			return exitUsage
		}
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	measured, err := scaled(ctx, opts, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "testnet:", explain(ctx, err, nil))
		return exitFailed
	}
	if err := tellScale(opts, measured, stdout); err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return exitInternal
	}
	return exitOK
}

// scaled measures in a temporary directory and removes it.
func scaled(ctx context.Context, opts scaleOptions, log io.Writer) ([]scale.Measured, error) {
	dir, err := os.MkdirTemp("", "cosketch-scale-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the nodes: %w", err)
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(log, "building party and aggregator")
	if err := network.Build(ctx, dir); err != nil {
		return nil, err
	}
	return scale.Run(ctx, dir, opts.Parties, log)
}

func tellScale(opts scaleOptions, measured []scale.Measured, w io.Writer) error {
	if opts.Format == "json" {
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		if err := out.Encode(measured); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
		return nil
	}
	t := console.NewTable(">parties", ">seed, s", ">result, s", ">sent a party, kB", ">received a party, kB", ">aggregator, MiB")
	for _, m := range measured {
		t.Add(fmt.Sprint(m.Parties), fmt.Sprintf("%.2f", m.Agreement), fmt.Sprintf("%.2f", m.Whole),
			fmt.Sprintf("%.0f", float64(m.Sent)/1e3), fmt.Sprintf("%.0f", float64(m.Received)/1e3), fmt.Sprintf("%.0f", float64(m.Memory)/(1<<20)))
	}
	t.Write(w)
	return nil
}
