package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/research/cost"
	"github.com/cosketch/cosketch/testnet/program"
)

type costs struct {
	Records int `default:"200000" help:"Records of 20 columns; of more columns there are fewer."`
	program.Formatted
}

// Run measures what a record takes and tells it beside what plans say.
func (o costs) Run(ctx context.Context, s program.Streams) error {
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
