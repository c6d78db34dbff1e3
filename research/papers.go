package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cosketch/cosketch/research/papers"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/program"
)

type paperOptions struct {
	Table   []string      `placeholder:"NAME" help:"Only these tables. Default: all."`
	List    bool          `help:"List the tables."`
	Data    string        `placeholder:"DIR" help:"Folder of public data sets, laid out as docs/data.md says. Default: ${data}."`
	Repeats int           `placeholder:"N" help:"How often what is random is drawn anew. Default: each table's own."`
	Nodes   bool          `default:"true" negatable:"" help:"Also run one study a table on three parties and an aggregator, real processes of this machine, and hold it against what this process draws."`
	Out     string        `placeholder:"DIR" help:"Write papers.md into this folder, with figures and what the studies gave below papers/. With --no-nodes the record of studies that is there stays and is shown."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"30m" help:"Give up after this time."`
}

// runPapers computes the tables of the papers and returns the exit code.
func runPapers(ctx context.Context, opts paperOptions, stdout, stderr io.Writer) int {
	if opts.List {
		for _, about := range papers.About() {
			fmt.Fprintf(stdout, "%-14s %s\n", about[0], about[1])
		}
		return program.OK
	}
	names, err := opts.names()
	if err != nil {
		fmt.Fprintf(stderr, "research: %v (see papers --list)\n", err)
		return program.Usage
	}
	if opts.Repeats < 0 || opts.Repeats == 1 {
		fmt.Fprintln(stderr, "research: --repeats: want at least 2")
		return program.Usage
	}
	o := papers.Options{Repeats: opts.Repeats, Workers: runtime.GOMAXPROCS(0)}
	switch data, err := corpus.Open(opts.Data, os.Getenv); {
	case err == nil:
		o.Corpus = &data
	case !errors.Is(err, corpus.ErrNone):
		fmt.Fprintln(stderr, "research:", err)
		return program.Usage
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	o.Drawn = map[string][]papers.Drawn{}
	if opts.Nodes {
		nodes := &lateNodes{log: stderr}
		defer nodes.stop()
		o.Player = nodes
	}
	if !opts.Nodes && opts.Out != "" {
		if o.Drawn, err = papers.ReadStudies(opts.Out); err != nil {
			fmt.Fprintln(stderr, "research:", err)
			return program.Usage
		}
	}
	tables, off, err := makeTables(ctx, names, o, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "research:", program.Explain(ctx, err, nil))
		return program.Failed
	}
	if opts.Out != "" {
		if err := papers.Write(opts.Out, tables, o.Drawn); err != nil {
			fmt.Fprintln(stderr, "research:", err)
			return program.Internal
		}
		fmt.Fprintf(stderr, "written: %s\n", filepath.Join(opts.Out, papers.Document))
	}
	write := papers.Text
	if opts.Format == "json" {
		write = papers.JSON
	}
	if err := write(stdout, tables); err != nil {
		fmt.Fprintln(stderr, "research:", err)
		return program.Internal
	}
	if off > 0 {
		fmt.Fprintf(stderr, "research: %d of %d tables have a line that is off\n", off, len(tables))
		return program.Failed
	}
	return program.OK
}

// makeTables computes tables, and counts those that do not hold.
func makeTables(ctx context.Context, names []string, o papers.Options, log io.Writer) (tables []papers.Table, off int, err error) {
	for _, name := range names {
		began := time.Now()
		t, err := papers.Make(ctx, name, o)
		if err != nil {
			return nil, 0, err
		}
		fmt.Fprintf(log, "%s: %.1f s\n", name, time.Since(began).Seconds())
		if !t.Holds() {
			off++
		}
		tables = append(tables, t)
	}
	return tables, off, nil
}

// lateNodes builds the programs when the first study is played.
type lateNodes struct {
	log    io.Writer
	remove func() error
	nodes  *papers.Nodes
}

// Play plays a study.
func (n *lateNodes) Play(ctx context.Context, s papers.Study) (papers.Outcome, error) {
	if n.nodes == nil {
		dir, remove, err := program.Built(ctx, "papers", n.log)
		if err != nil {
			return papers.Outcome{}, err
		}
		n.nodes, n.remove = papers.Built(dir), remove
	}
	return n.nodes.Play(ctx, s)
}

// stop removes everything.
func (n *lateNodes) stop() {
	if n.remove == nil {
		return
	}
	if err := n.remove(); err != nil {
		fmt.Fprintln(n.log, err)
	}
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
