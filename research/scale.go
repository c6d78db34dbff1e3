package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/research/scale"
	"github.com/cosketch/cosketch/testnet/program"
)

type scaled struct {
	Parties   []int `default:"4,8,16,32,64" help:"How many parties, one study each."`
	Megabytes []int `default:"0" placeholder:"MB" help:"How large the release of each party is, roughly; one study for each, of every number of parties. 0: as small as can be, so that the protocol is measured."`
	Records   bool  `help:"Let releases have a row for each record, which are clustered, in the place of columns, which are compared."`
	Masked    bool  `help:"Let the aggregator see the sum of the parties' columns alone. It takes three parties, and megabytes."`
	Apart     bool  `help:"Let each party read of the others' shares what is sealed to it alone, as above 64 parties it always does."`
	Rounds    []int `placeholder:"1,2" help:"Look for clusters in sums of 10,000 records of each party, in one round or in two; one study for each, of every number of parties."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=10m"`
}

// Run measures studies of many parties and prints the figures.
func (o scaled) Run(ctx context.Context, s program.Streams) error {
	var sizes []scale.Size
	for _, n := range o.Parties {
		if n < 2 || n > study.MaxParties {
			return program.Wrongf("--parties %d: a study has 2 to %d", n, study.MaxParties)
		}
		for _, rounds := range o.Rounds {
			if rounds != 1 && rounds != 2 {
				return program.Wrongf("--rounds %d: want 1 or 2", rounds)
			}
			sizes = append(sizes, scale.Size{Parties: n, Masked: o.Masked, Rounds: rounds, Apart: o.Apart})
		}
		for _, mb := range o.Megabytes {
			if len(o.Rounds) > 0 {
				break
			}
			if mb < 0 || mb > 4096 {
				return program.Wrongf("--megabytes %d: must be from 0 to 4096", mb)
			}
			sizes = append(sizes, scale.Size{Parties: n, Megabytes: mb, Records: o.Records, Masked: o.Masked, Apart: o.Apart})
		}
	}
	if o.Masked && (o.Records || slices.Min(o.Parties) < 3 || len(o.Rounds) == 0 && slices.Min(o.Megabytes) < 1) {
		return program.Wrongf("--masked: sums of columns are masked, of at least three parties: name --parties and --megabytes or --rounds, and no --records")
	}
	return program.In(ctx, "scale", s.Log, func(dir string) error {
		measured, err := scale.Run(ctx, dir, sizes, s.Log)
		if err != nil {
			return err
		}
		return o.Print(s, measured, func(w io.Writer) error { tellScale(measured, w); return nil })
	})
}

func tellScale(measured []scale.Measured, w io.Writer) {
	t := present.NewTable(">parties", ">rounds", ">release, MB", ">seed, s", ">result, s", ">sent a party, kB", ">received a party, kB", ">aggregator, MiB", ">its disk, MB")
	for _, m := range measured {
		t.Add(fmt.Sprint(m.Parties), fmt.Sprint(max(m.Rounds, 1)), fmt.Sprintf("%.2f", float64(m.Sketch)/1e6), fmt.Sprintf("%.2f", m.Agreement), fmt.Sprintf("%.2f", m.Whole),
			fmt.Sprintf("%.0f", float64(m.Sent)/1e3), fmt.Sprintf("%.0f", float64(m.Received)/1e3), fmt.Sprintf("%.0f", float64(m.Memory)/(1<<20)),
			fmt.Sprintf("%.1f", float64(m.Disk)/1e6))
	}
	t.Write(w)
}
