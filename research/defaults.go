package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/cosketch/cosketch/research/defaults"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/program"
)

type defaultsRows struct {
	Data    string `placeholder:"DIR" help:"Folder of public data sets, laid out as research/docs/data.md says. Default: ${data}. Required: without the data the command fails."`
	Only    string `placeholder:"TEXT" help:"Measure only settings with this in their name, such as adult, vertical or masked. How many forecasts come true is then reported without a verdict."`
	Seeds   int    `help:"Studies per setting. Default: as many as the tests of its rows need; fewer reduce their power."`
	Workers int    `help:"Settings to measure at a time. Default: one per processor."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=2h"`
}

// Run measures the answers of drafted studies. It fails if a row fails or data are missing.
func (o defaultsRows) Run(ctx context.Context, s program.Streams) error {
	if o.Seeds < 0 || o.Seeds == 1 || o.Workers < 0 {
		return program.UsageErrorf("%d seeds, %d workers: want at least 2 seeds (see defaults --help)", o.Seeds, o.Workers)
	}
	folder, err := corpus.Open(o.Data, os.Getenv)
	if err != nil {
		return err
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	rows, err := defaults.Measure(ctx, &folder, defaults.Options{Only: o.Only, Seeds: o.Seeds, Workers: o.Workers, Tell: func(name string, took time.Duration) {
		fmt.Fprintf(s.Log, "%s: %s\n", name, took.Round(time.Second/10))
	}})
	if err != nil {
		return err
	}
	if err := o.Print(s, rows, func(w io.Writer) error { return defaults.Text(w, rows) }); err != nil {
		return err
	}
	if defaults.Failed(rows) {
		return errors.New("drafted studies do not answer as they should")
	}
	return nil
}
