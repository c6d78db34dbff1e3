package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/research/scale"
	"github.com/cosketch/cosketch/testnet/program"
)

type scaleOptions struct {
	Parties   []int         `default:"4,8,16,32,64" help:"How many parties, one study each."`
	Megabytes []int         `default:"0" placeholder:"MB" help:"How large the release of each party is, roughly; one study for each, of every number of parties. 0: as small as can be, so that the protocol is measured."`
	Records   bool          `help:"Let releases have a row for each record, which are clustered, in the place of columns, which are compared."`
	Masked    bool          `help:"Let the aggregator see the sum of the parties' columns alone. It takes three parties, and megabytes."`
	Format    string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout   time.Duration `default:"10m" help:"Give up after this time."`
}

// runScale measures studies of many parties, tells the figures and returns the exit
// code.
func runScale(ctx context.Context, opts scaleOptions, stdout, stderr io.Writer) int {
	for _, n := range opts.Parties {
		if n < 2 || n > study.MaxParties {
			fmt.Fprintf(stderr, "research: --parties %d: a study has 2 to %d\n", n, study.MaxParties)
			return program.Usage
		}
	}
	if opts.Masked && (opts.Records || slices.Min(opts.Parties) < 3 || slices.Min(opts.Megabytes) < 1) {
		fmt.Fprintln(stderr, "research: --masked: sums of columns are masked, of at least three parties: name --parties and --megabytes, and no --records")
		return program.Usage
	}
	for _, mb := range opts.Megabytes {
		if mb < 0 || mb > 4096 {
			fmt.Fprintf(stderr, "research: --megabytes %d: must be from 0 to 4096\n", mb)
			return program.Usage
		}
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	measured, err := scaled(ctx, opts, stderr)
	return program.Told(ctx, name, err, func() error { return tellScale(opts, measured, stdout) }, stderr)
}

// scaled measures in a temporary directory and removes it.
func scaled(ctx context.Context, opts scaleOptions, log io.Writer) ([]scale.Measured, error) {
	dir, remove, err := program.Built(ctx, "scale", log)
	if err != nil {
		return nil, err
	}
	defer remove()
	var sizes []scale.Size
	for _, n := range opts.Parties {
		for _, mb := range opts.Megabytes {
			sizes = append(sizes, scale.Size{Parties: n, Megabytes: mb, Records: opts.Records, Masked: opts.Masked})
		}
	}
	return scale.Run(ctx, dir, sizes, log)
}

func tellScale(opts scaleOptions, measured []scale.Measured, w io.Writer) error {
	if opts.Format == "json" {
		return program.PrintJSON(w, measured)
	}
	t := present.NewTable(">parties", ">release, MB", ">seed, s", ">result, s", ">sent a party, kB", ">received a party, kB", ">aggregator, MiB", ">its disk, MB")
	for _, m := range measured {
		t.Add(fmt.Sprint(m.Parties), fmt.Sprintf("%.2f", float64(m.Sketch)/1e6), fmt.Sprintf("%.2f", m.Agreement), fmt.Sprintf("%.2f", m.Whole),
			fmt.Sprintf("%.0f", float64(m.Sent)/1e3), fmt.Sprintf("%.0f", float64(m.Received)/1e3), fmt.Sprintf("%.0f", float64(m.Memory)/(1<<20)),
			fmt.Sprintf("%.1f", float64(m.Disk)/1e6))
	}
	t.Write(w)
	return nil
}
