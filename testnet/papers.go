package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/papers"
)

type paperOptions struct {
	Table   []string      `placeholder:"NAME" help:"Only these tables. Default: all."`
	List    bool          `help:"List the tables."`
	Data    string        `placeholder:"DIR" help:"Folder of public data sets, laid out as docs/data.md says. Default: ${data}."`
	Repeats int           `placeholder:"N" help:"How often what is random is drawn anew. Default: each table's own."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"30m" help:"Give up after this time."`
}

// runPapers computes the tables of the papers and returns the exit code.
func runPapers(ctx context.Context, opts paperOptions, stdout, stderr io.Writer) int {
	if opts.List {
		for _, about := range papers.About() {
			fmt.Fprintf(stdout, "%-14s %s\n", about[0], about[1])
		}
		return exitOK
	}
	names, err := opts.names()
	if err != nil {
		fmt.Fprintf(stderr, "testnet: %v (see papers --list)\n", err)
		return exitUsage
	}
	if opts.Repeats < 0 || opts.Repeats == 1 {
		fmt.Fprintln(stderr, "testnet: --repeats: want at least 2")
		return exitUsage
	}
	o := papers.Options{Repeats: opts.Repeats, Workers: runtime.GOMAXPROCS(0)}
	switch data, err := corpus.Open(opts.Data, os.Getenv); {
	case err == nil:
		o.Corpus = &data
	case !errors.Is(err, corpus.ErrNone):
		fmt.Fprintln(stderr, "testnet:", err)
		return exitUsage
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	var tables []papers.Table
	off := 0
	for _, name := range names {
		began := time.Now()
		t, err := papers.Make(ctx, name, o)
		if err != nil {
			fmt.Fprintln(stderr, "testnet:", explain(ctx, err, nil))
			return exitFailed
		}
		fmt.Fprintf(stderr, "%s: %.1f s\n", name, time.Since(began).Seconds())
		if !t.Holds() {
			off++
		}
		tables = append(tables, t)
	}
	write := papers.Text
	if opts.Format == "json" {
		write = papers.JSON
	}
	if err := write(stdout, tables); err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return exitInternal
	}
	if off > 0 {
		fmt.Fprintf(stderr, "testnet: %d of %d tables have a line that is off\n", off, len(tables))
		return exitFailed
	}
	return exitOK
}

// names are the tables that were asked for.
func (o paperOptions) names() ([]string, error) {
	var all []string
	for _, about := range papers.About() {
		all = append(all, about[0])
	}
	for _, name := range o.Table {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("no table %q; there are %s", name, strings.Join(all, ", "))
		}
	}
	if len(o.Table) > 0 {
		return o.Table, nil
	}
	return all, nil
}
