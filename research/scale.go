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
	Parties   []int `default:"4,8,16,32,64" help:"Numbers of parties: one study for each."`
	Megabytes []int `default:"0" placeholder:"MB" help:"Rough size of each party's release: one study for each size and number of parties. 0: as small as possible, to measure the protocol."`
	Records   bool  `help:"Cluster sketched records, instead of comparing columns."`
	Masked    bool  `help:"Mask the sums, so that the aggregator sees only the sum over the parties. Needs at least three parties, and --megabytes or --rounds."`
	Apart     bool  `help:"Let each party read only the parts of the others' shares that are sealed to it, as it always does above 64 parties."`
	Rounds    []int `placeholder:"1,2" help:"Find clusters from sums of 10,000 records of each party, in one round or in two: one study for each, and for each number of parties."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=10m"`
}

// Run measures studies of many parties and prints the figures.
func (o scaled) Run(ctx context.Context, s program.Streams) error {
	var sizes []scale.Size
	for _, n := range o.Parties {
		if n < 2 || n > study.MaxParties {
			return program.UsageErrorf("--parties %d: a study has 2 to %d", n, study.MaxParties)
		}
		for _, rounds := range o.Rounds {
			if rounds != 1 && rounds != 2 {
				return program.UsageErrorf("--rounds %d: want 1 or 2", rounds)
			}
			sizes = append(sizes, scale.Size{Parties: n, Masked: o.Masked, Rounds: rounds, Apart: o.Apart})
		}
		for _, mb := range o.Megabytes {
			if len(o.Rounds) > 0 {
				break
			}
			if mb < 0 || mb > 4096 {
				return program.UsageErrorf("--megabytes %d: must be from 0 to 4096", mb)
			}
			sizes = append(sizes, scale.Size{Parties: n, Megabytes: mb, Records: o.Records, Masked: o.Masked, Apart: o.Apart})
		}
	}
	if o.Masked && (o.Records || slices.Min(o.Parties) < 3 || len(o.Rounds) == 0 && slices.Min(o.Megabytes) < 1) {
		return program.UsageErrorf("--masked needs at least three --parties, and --megabytes or --rounds; it cannot be combined with --records")
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
