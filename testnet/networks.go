package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/errortable"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/program"
	"github.com/cosketch/cosketch/testnet/steward"
)

type networkOptions struct {
	Name    string        `arg:"" optional:"" help:"A network, or a data set for all of its networks. Default: list them."`
	Data    string        `placeholder:"DIR" help:"Folder of public data sets, laid out as docs/data.md says. Default: ${data}. The networks of cancer need none."`
	Seed    uint64        `default:"1" help:"Seed of the split. The projections' seed is agreed anew in every run."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"20m" help:"Give up after this time."`
	Keep    bool          `help:"Keep the temporary directory with all nodes' state, and say where it is."`
}

// runNetwork plays networks on real processes and returns the exit code.
func runNetwork(ctx context.Context, opts networkOptions, stdout, stderr io.Writer) int {
	if opts.Name == "" {
		if err := listNetworks(opts, stdout); err != nil {
			fmt.Fprintln(stderr, "testnet:", err)
			return program.Internal
		}
		return program.OK
	}
	chosen, err := networks.Find(opts.Name)
	if err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return program.Usage
	}
	tables, err := pooledData(opts.Data, chosen)
	if err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return program.Usage
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	all, err := playNetworks(ctx, opts, chosen, tables, stdout, stderr)
	if opts.Format == "json" && len(all) > 0 {
		if err := program.PrintJSON(stdout, map[string]any{"networks": all}); err != nil {
			fmt.Fprintln(stderr, "testnet:", err)
			return program.Internal
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return program.Failed
	}
	return program.OK
}

// listNetworks says what there is.
func listNetworks(opts networkOptions, stdout io.Writer) error {
	all, err := networks.All()
	if err != nil {
		return err
	}
	if opts.Format == "json" {
		return json.NewEncoder(stdout).Encode(map[string]any{"networks": all})
	}
	table := console.NewTable("network", ">parties", "what")
	for _, t := range all {
		table.Add(t.Name, fmt.Sprint(len(t.Parties)), t.Title)
	}
	table.Write(stdout)
	_, missing := corpus.Open(opts.Data, os.Getenv)
	fmt.Fprintln(stdout)
	if missing != nil {
		console.Paragraph(stdout, "", fmt.Sprintf("Only those of %s can run: %v.", networks.Embedded, missing))
	}
	_, err = fmt.Fprintln(stdout, "Next: go run ./testnet network NAME, or the part of it before the first dash for all of a data set.")
	return err
}

// pooledData loads the data sets of these networks.
func pooledData(dir string, chosen []networks.Template) (map[string]corpus.Table, error) {
	var folder *corpus.Corpus
	switch c, err := corpus.Open(dir, os.Getenv); {
	case err == nil:
		folder = &c
	case !errors.Is(err, corpus.ErrNone):
		return nil, err
	}
	out := map[string]corpus.Table{}
	for _, t := range chosen {
		if _, ok := out[t.Data]; ok {
			continue
		}
		table, err := networks.Load(t.Data, folder)
		if err != nil {
			return nil, err
		}
		out[t.Data] = table
	}
	return out, nil
}

// playedNetwork is a network that ran, for programs.
type playedNetwork struct {
	Name     string               `json:"name"`
	Title    string               `json:"title"`
	Study    string               `json:"study"`
	Privacy  string               `json:"privacy"`
	Bytes    int64                `json:"bytes_shipped"`
	Raw      int64                `json:"bytes_raw"`
	Seconds  float64              `json:"seconds"`
	Verdicts []errortable.Verdict `json:"verdicts"`
	Table    errortable.Table     `json:"table"`
}

// playNetworks builds the programs once and plays one network after the other, each with
// nodes of its own, in a temporary directory that it removes.
func playNetworks(ctx context.Context, opts networkOptions, chosen []networks.Template, data map[string]corpus.Table, stdout, log io.Writer) (out []playedNetwork, err error) {
	dir, err := os.MkdirTemp("", "cosketch-network-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the nodes: %w", err)
	}
	defer func() {
		if opts.Keep {
			fmt.Fprintln(log, "kept:", dir)
		} else if removed := os.RemoveAll(dir); err == nil && removed != nil {
			err = fmt.Errorf("removing the nodes' state: %w", removed)
		}
	}()
	fmt.Fprintln(log, "building party and aggregator")
	if err := network.Build(ctx, dir); err != nil {
		return nil, program.Explain(ctx, err, nil)
	}
	for i, t := range chosen {
		fmt.Fprintf(log, "%s: starting an aggregator and %d parties\n", t.Name, len(t.Parties))
		one, played, err := playNetwork(ctx, dir, opts.Seed, t, data[t.Data])
		if err != nil {
			return out, fmt.Errorf("%s: %w", t.Name, err)
		}
		out = append(out, one)
		if opts.Format == "text" {
			if i > 0 {
				fmt.Fprintln(stdout)
			}
			writeNetwork(stdout, one, played)
		}
	}
	return out, nil
}

func playNetwork(ctx context.Context, dir string, seed uint64, t networks.Template, pooled corpus.Table) (out playedNetwork, played errortable.Played, err error) {
	home := filepath.Join(dir, t.Name)
	nodes, err := network.StartIn(ctx, dir, home, t.Parties...)
	if err != nil {
		return out, played, program.Explain(ctx, err, nil)
	}
	defer nodes.Stop()
	fail := func(err error) (playedNetwork, errortable.Played, error) {
		return out, played, program.Explain(ctx, err, nodes)
	}
	began := time.Now()
	site := steward.Site{Dir: home, Address: nodes.Address, Aggregator: nodes.Aggregator, Parties: nodes.Parties, Template: t}
	left := 20 * time.Minute
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	draft, err := site.Draft(steward.Dates{Expires: left, Deadline: 2 * left})
	if err != nil {
		return fail(err)
	}
	dealt, err := t.Deal(draft.Study, pooled, seed)
	if err != nil {
		return fail(err)
	}
	if out.Raw, err = site.Deal(draft, dealt); err != nil {
		return fail(err)
	}
	if err := site.Propose(ctx, draft); err != nil {
		return fail(err)
	}
	for _, party := range site.Parties {
		if err := site.Approve(ctx, draft, party); err != nil {
			return fail(err)
		}
	}
	if err := site.Run(ctx, draft, left); err != nil {
		return fail(err)
	}
	if played, err = site.Collect(ctx, draft, dealt); err != nil {
		return fail(err)
	}
	out.Name, out.Title, out.Study, out.Privacy = t.Name, t.Title, draft.Study.ID.String(), promised(draft.Study, played)
	for _, p := range played.Result.Parties {
		out.Bytes += p.Bytes
	}
	out.Seconds = time.Since(began).Seconds()
	if out.Table, err = errortable.Make(ctx, played); err != nil {
		return fail(err)
	}
	out.Verdicts = out.Table.Verdicts()
	return out, played, nil
}

// promised is what a study promises to people.
func promised(s *study.Study, p errortable.Played) string {
	if s.Privacy.Mechanism == dp.None {
		return "NO promise: no noise is added"
	}
	text := fmt.Sprintf("every %s at ε = %g", map[dp.Unit]string{dp.Record: "whole record", dp.Attribute: "single value"}[s.Privacy.Unit], float64(s.Privacy.Epsilon))
	if s.Privacy.Delta > 0 {
		text += fmt.Sprintf(", δ = %g", float64(s.Privacy.Delta))
	}
	text += fmt.Sprintf(" in each party's release (%s)", s.Privacy.Mechanism)
	if len(p.Result.Sketches) > 0 && p.Result.Sketches[0].EpsilonPerPerson != nil {
		text += fmt.Sprintf("; all about one record together: ε = %.3g", *p.Result.Sketches[0].EpsilonPerPerson)
	}
	return text
}

// writeNetwork tells what came of one network.
func writeNetwork(w io.Writer, n playedNetwork, p errortable.Played) {
	fmt.Fprintf(w, "%s: %s\n", n.Name, n.Title)
	n.Table.Write(w)
	fmt.Fprintln(w)
	console.Paragraph(w, "  ", "Privacy: "+n.Privacy+".")
	if n.Table.Cut > 0 {
		console.Paragraph(w, "  ", fmt.Sprintf("Clip: %.1f %% of the records are cut to it, in the sketch where most are.", 100*n.Table.Cut))
	}
	var parties string
	for i, part := range p.Data.Parties {
		if i > 0 {
			parties += ", "
		}
		parties += fmt.Sprintf("%s %d", part.Name, len(part.Rows))
	}
	console.Paragraph(w, "  ", fmt.Sprintf("Records: %s; %s.", parties, p.Template.Split))
	console.Paragraph(w, "  ", fmt.Sprintf("Shipped: %d kB where the data files hold %d kB, in %.1f s. Study %s.", n.Bytes/1000, n.Raw/1000, n.Seconds, n.Study[:8]))
}
