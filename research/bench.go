package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/cosketch/cosketch/research/bench"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/program"
)

type benchmark struct {
	Rows   int  `default:"100000" help:"Records of 1,024 columns, at most 100000; the other shapes grow with it, and files have ten times as many. Fewer make a quick try."`
	Repeat int  `default:"5" help:"Times that each method runs; the best counts."`
	Files  bool `help:"Measure party processes that read and project generated files instead."`
	Large  bool `help:"With --files: also up to a hundred times --rows, for memory and for the slope. Takes 4 GB of temporary space."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=10m"`
}

// Validate rejects flags that contradict each other.
func (o benchmark) Validate() error {
	if o.Large && !o.Files {
		return errors.New("--large: needs --files")
	}
	return nil
}

// Run measures projections of data in memory, or programs on files, and prints the times.
func (o benchmark) Run(ctx context.Context, s program.Streams) error {
	workload, err := bench.NewWorkload(o.Rows, o.Repeat)
	if err != nil {
		return program.UsageError(err)
	}
	if o.Files {
		times, err := bench.RunFiles(ctx, bench.FilesOptions{
			Records: workload.Columns.M, Large: o.Large, Repeat: o.Repeat, Build: network.Build, Write: writeElsewhere,
		}, s.Log)
		if err != nil {
			return err
		}
		return o.Print(s, times, func(w io.Writer) error { return bench.FilesText(w, times) })
	}
	times, err := bench.Run(ctx, workload, s.Log)
	if err != nil {
		return err
	}
	return o.Print(s, times, func(w io.Writer) error { return bench.Text(w, times) })
}

// table is the command that writes one generated file; writeElsewhere runs it.
type table struct {
	File    string `arg:""`
	Records int    `required:""`
	Columns int    `required:""`
}

// Run writes the file.
func (t table) Run(context.Context, program.Streams) error {
	return bench.WriteTable(t.File, t.Records, t.Columns)
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
