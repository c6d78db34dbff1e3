package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/cosketch/cosketch/research/bench"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/program"
)

type benchOptions struct {
	Rows    int           `default:"100000" help:"Records of 1,024 columns, at most 100000; the other shapes grow with it, and files have ten times as many. Fewer make a quick try."`
	Repeat  int           `default:"5" help:"Times that each method runs; the best counts."`
	Files   bool          `help:"Measure party processes that read and project generated files instead."`
	Large   bool          `help:"With --files: also up to a hundred times --rows, for memory and for the slope. Takes 4 GB of temporary space."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"10m" help:"Give up after this time."`
}

// Validate refuses flags that mean nothing together.
func (opts benchOptions) Validate() error {
	if opts.Large && !opts.Files {
		return errors.New("--large: needs --files")
	}
	return nil
}

// runBench measures, tells the times and returns the exit code.
func runBench(ctx context.Context, opts benchOptions, stdout, stderr io.Writer) int {
	workload, err := bench.NewWorkload(opts.Rows, opts.Repeat)
	if err != nil {
		fmt.Fprintln(stderr, "research:", err)
		return program.Usage
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	var tell func() error
	if opts.Files {
		tell, err = benchFiles(ctx, opts, workload, stdout, stderr)
	} else {
		tell, err = benchMemory(ctx, opts, workload, stdout, stderr)
	}
	return program.Told(ctx, name, err, tell, stderr)
}

// benchMemory measures projections of data in memory.
func benchMemory(ctx context.Context, opts benchOptions, w bench.Workload, stdout, log io.Writer) (tell func() error, err error) {
	times, err := bench.Run(ctx, w, log)
	return func() error {
		if opts.Format == "json" {
			return bench.JSON(stdout, times)
		}
		return bench.Text(stdout, times)
	}, err
}

// benchFiles measures programs on files.
func benchFiles(ctx context.Context, opts benchOptions, w bench.Workload, stdout, log io.Writer) (tell func() error, err error) {
	times, err := bench.RunFiles(ctx, bench.FilesOptions{
		Records: w.Columns.M, Large: opts.Large, Repeat: opts.Repeat, Build: network.Build, Write: writeElsewhere,
	}, log)
	return func() error {
		if opts.Format == "json" {
			return bench.FilesJSON(stdout, times)
		}
		return bench.FilesText(stdout, times)
	}, err
}

// tableOptions asks for one generated file: what writeElsewhere runs.
type tableOptions struct {
	File    string `arg:""`
	Records int    `required:""`
	Columns int    `required:""`
}

// writeElsewhere writes a generated file in a process of its own.
func writeElsewhere(ctx context.Context, file string, records, columns int) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("writing a data file: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "table", file, fmt.Sprintf("--records=%d", records), fmt.Sprintf("--columns=%d", columns))
	if talk, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("writing a data file: %w: %s", err, talk)
	}
	return nil
}

// runTable writes the file and returns the exit code.
func runTable(opts tableOptions, stderr io.Writer) int {
	if err := bench.WriteTable(opts.File, opts.Records, opts.Columns); err != nil {
		fmt.Fprintln(stderr, "research:", err)
		return program.Failed
	}
	return program.OK
}
