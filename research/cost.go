package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/research/cost"
	"github.com/cosketch/cosketch/testnet/program"
)

type costs struct {
	Records int  `default:"200000" help:"Records of 20 columns; of more columns there are fewer."`
	Plan    bool `help:"Tell what plans say of 10^9 to 10^11 records instead."`
	program.Formatted
}

// Run measures the cost of a record and prints it beside the forecasts of plans.
func (o costs) Run(ctx context.Context, s program.Streams) error {
	if o.Plan {
		return o.plan(ctx, s)
	}
	dir, err := os.MkdirTemp("", "cosketch-cost-")
	if err != nil {
		return err
	}
	rows, err := cost.Measure(ctx, dir, o.Records)
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return err
	}
	return o.Print(s, rows, func(w io.Writer) error {
		t := present.NewTable("what", ">ns of a core", ">planned", ">ratio")
		for _, r := range rows {
			t.Add(r.What, fmt.Sprintf("%.0f", r.Measured), fmt.Sprintf("%.0f", r.Planned), fmt.Sprintf("%.2f", r.Measured/r.Planned))
		}
		t.Write(w)
		return nil
	})
}

// plan prints the forecasts for large studies.
func (o costs) plan(ctx context.Context, s program.Streams) error {
	planned, err := cost.Plan(ctx, []int64{1e9, 1e10, 1e11}, []int{10, 100, 1000}, []int{2, 20})
	if err != nil {
		return err
	}
	return o.Print(s, planned, func(w io.Writer) error {
		t := present.NewTable(">records", ">columns", ">parties", "sketch", ">a party, core hours", ">its memory", ">sends", ">aggregator, core hours", ">its memory", ">its disk", ">most records")
		for _, p := range planned {
			c := p.Cost
			t.Add(fmt.Sprintf("%.0e", float64(p.Records)), fmt.Sprint(p.Columns), fmt.Sprint(p.Parties), p.Sketch, fmt.Sprintf("%.2g", c.PartySeconds/3600), block.Bytes(c.PartyMemory), block.Bytes(c.Sent),
				fmt.Sprintf("%.2g", c.AggregatorSeconds/3600), block.Bytes(c.AggregatorMemory), block.Bytes(c.AggregatorDisk), fmt.Sprintf("%.1e", float64(p.Most)))
		}
		t.Write(w)
		return nil
	})
}
