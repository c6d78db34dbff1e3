package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/cosketch/cosketch/research/defaults"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/program"
)

type defaultsOptions struct {
	Data    string        `placeholder:"DIR" help:"Folder of public data sets, laid out as docs/data.md says. Default: ${data}. Required: without the data the command fails."`
	Only    string        `placeholder:"TEXT" help:"Measure only settings with this in their name, such as adult, vertical or masked. How many forecasts come true is then reported without a verdict."`
	Seeds   int           `help:"Studies of each setting. Default: as many as the tests of its rows need; with fewer, they find less."`
	Workers int           `help:"Settings that are measured at a time. Default: one per processor."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"2h" help:"Give up after this time."`
}

// runDefaults measures what drafted studies answer, and returns the exit code: a row that
// fails is a failure, and so are missing data.
func runDefaults(ctx context.Context, opts defaultsOptions, stdout, stderr io.Writer) int {
	if opts.Seeds < 0 || opts.Seeds == 1 || opts.Workers < 0 {
		fmt.Fprintf(stderr, "research: %d seeds, %d workers: want at least 2 seeds (see defaults --help)\n", opts.Seeds, opts.Workers)
		return program.Usage
	}
	folder, err := corpus.Open(opts.Data, os.Getenv)
	if err != nil {
		fmt.Fprintln(stderr, "research:", err)
		return program.Failed
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	o := defaults.Options{Only: opts.Only, Seeds: opts.Seeds, Workers: opts.Workers, Tell: func(name string, took time.Duration) {
		fmt.Fprintf(stderr, "%s: %s\n", name, took.Round(time.Second/10))
	}}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	rows, err := defaults.Measure(ctx, &folder, o)
	write := defaults.Text
	if opts.Format == "json" {
		write = defaults.JSON
	}
	if code := program.Told(ctx, name, err, func() error { return write(stdout, rows) }, stderr); code != program.OK {
		return code
	}
	if defaults.Failed(rows) {
		fmt.Fprintln(stderr, "research: drafted studies do not answer as they should")
		return program.Failed
	}
	return program.OK
}
