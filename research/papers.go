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

type paperTables struct {
	Table   []string `placeholder:"NAME" help:"Only these tables. Default: all."`
	List    bool     `help:"List the tables."`
	Data    string   `placeholder:"DIR" help:"Folder of public data sets, laid out as research/docs/data.md says. Default: ${data}."`
	Repeats int      `placeholder:"N" help:"Number of random draws. Default: each table's own."`
	Nodes   bool     `default:"true" negatable:"" help:"Also play one study per table on three parties and an aggregator, as real processes of this machine, and compare it with draws in this process."`
	Out     string   `placeholder:"DIR" help:"Write papers.md into this folder, and figures and recorded studies below papers/. With --no-nodes the recorded studies are kept and shown."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=30m"`
}

// Run computes the tables of the papers.
func (o paperTables) Run(ctx context.Context, s program.Streams) error {
	if o.List {
		for _, about := range papers.About() {
			fmt.Fprintf(s.Out, "%-14s %s\n", about[0], about[1])
		}
		return nil
	}
	names, err := o.names()
	if err != nil {
		return program.UsageErrorf("%w (see papers --list)", err)
	}
	if o.Repeats < 0 || o.Repeats == 1 {
		return program.UsageErrorf("--repeats: want at least 2")
	}
	asked := papers.Options{Repeats: o.Repeats, Workers: runtime.GOMAXPROCS(0), Drawn: map[string][]papers.Drawn{}}
	switch data, err := corpus.Open(o.Data, os.Getenv); {
	case err == nil:
		asked.Corpus = &data
	case !errors.Is(err, corpus.ErrNone):
		return program.UsageError(err)
	}
	if o.Nodes {
		nodes := &lateNodes{log: s.Log}
		defer nodes.stop()
		asked.Player = nodes
	}
	if !o.Nodes && o.Out != "" {
		if asked.Drawn, err = papers.ReadStudies(o.Out); err != nil {
			return program.UsageError(err)
		}
	}
	tables, off, err := makeTables(ctx, names, asked, s.Log)
	if err != nil {
		return err
	}
	if o.Out != "" {
		if err := papers.Write(o.Out, tables, asked.Drawn); err != nil {
			return err
		}
		fmt.Fprintf(s.Log, "written: %s\n", filepath.Join(o.Out, papers.Document))
	}
	if err := o.Print(s, tables, func(w io.Writer) error { return papers.Text(w, tables) }); err != nil {
		return err
	}
	if off > 0 {
		return fmt.Errorf("%d of %d tables have a line out of tolerance", off, len(tables))
	}
	return nil
}

// makeTables computes tables, and counts those with a line out of its tolerance.
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

// lateNodes builds the programs only when the first study is played.
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

// stop removes the programs, if they were built.
func (n *lateNodes) stop() {
	if n.remove == nil {
		return
	}
	if err := n.remove(); err != nil {
		fmt.Fprintln(n.log, err)
	}
}

// names returns the requested tables.
func (o paperTables) names() ([]string, error) {
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
