package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/audit"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/errortable"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/program"
	"github.com/cosketch/cosketch/testnet/steward"
)

type playNetwork struct {
	Name string `arg:"" optional:"" help:"A network, or a data set for all of its networks. Default: list them."`
	Data string `placeholder:"DIR" help:"Folder of public data sets, laid out as research/docs/data.md says. Default: ${data}. The networks of cancer need none."`
	Seed uint64 `default:"1" help:"Seed of the split. The projections' seed is agreed anew in every run."`
	Keep bool   `help:"Keep the temporary directory with all nodes' state, and say where it is."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=20m"`
}

// Run runs networks on real processes, or lists them.
func (o playNetwork) Run(ctx context.Context, s program.Streams) error {
	if o.Name == "" {
		return o.list(s)
	}
	chosen, err := networks.Find(o.Name)
	if err != nil {
		return program.UsageError(err)
	}
	tables, err := pooledData(o.Data, chosen)
	if err != nil {
		return program.UsageError(err)
	}
	all, err := player{seed: o.Seed, keep: o.Keep, text: o.Text()}.play(ctx, chosen, tables, s)
	if len(all) > 0 {
		nothing := func(io.Writer) error { return nil } // each network was reported when it ended
		if failed := o.Print(s, map[string]any{"networks": all}, nothing); failed != nil {
			return failed
		}
	}
	return err
}

// list lists the networks.
func (o playNetwork) list(s program.Streams) error {
	all, err := networks.All()
	if err != nil {
		return err
	}
	return o.Print(s, map[string]any{"networks": all}, func(w io.Writer) error {
		table := present.NewTable("network", ">parties", "what")
		for _, t := range all {
			table.Add(t.Name, fmt.Sprint(len(t.Parties)), t.Title)
		}
		table.Write(w)
		fmt.Fprintln(w)
		if _, missing := corpus.Open(o.Data, os.Getenv); missing != nil {
			present.Paragraph(w, "", fmt.Sprintf("Only those of %s can run: %v.", networks.Embedded, missing))
		}
		_, err := fmt.Fprintln(w, "Next: go run ./testnet network NAME, or the part of it before the first dash for all of a data set.")
		return err
	})
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

// player runs networks, each with its own nodes.
type player struct {
	seed uint64 // of the split
	keep bool   // keep the directory
	text bool   // report each network on stdout when it ends
}

// play builds the programs once and runs one network after the other, in a temporary directory that
// it removes.
func (p player) play(ctx context.Context, chosen []networks.Template, data map[string]corpus.Table, s program.Streams) (out []errortable.Study, err error) {
	dir, remove, err := program.Built(ctx, "network", s.Log)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p.keep {
			fmt.Fprintln(s.Log, "kept:", dir)
		} else {
			err = errors.Join(err, remove())
		}
	}()
	for i, t := range chosen {
		fmt.Fprintf(s.Log, "%s: starting an aggregator and %d parties\n", t.Name, len(t.Parties))
		one, err := p.playOne(ctx, dir, t, data[t.Data])
		if err != nil {
			return out, fmt.Errorf("%s: %w", t.Name, err)
		}
		out = append(out, one)
		if p.text {
			if i > 0 {
				fmt.Fprintln(s.Out)
			}
			writeNetwork(s.Out, one)
		}
	}
	return out, nil
}

func (p player) playOne(ctx context.Context, dir string, t networks.Template, pooled corpus.Table) (out errortable.Study, err error) {
	home := filepath.Join(dir, t.Name)
	site, serving, err := steward.Start(ctx, dir, home, t)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, serving.Stop()) }()
	began := time.Now()
	left := 20 * time.Minute
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	played, raw, err := site.Play(ctx, steward.Dates{Expires: left, Deadline: 2 * left}, pooled, p.seed)
	if err == nil {
		out, err = studyOf(ctx, played)
	}
	if err == nil && played.Study.Privacy.Mechanism == dp.None {
		out.Attacked, err = attacked(ctx, site.Parties[0], played.Study.ID)
	}
	if err != nil {
		return out, program.Explain(ctx, err, serving)
	}
	out.Raw, out.Seconds = raw, time.Since(began).Seconds()
	return out, nil
}

// studyOf returns the report on a study that was run.
func studyOf(ctx context.Context, p errortable.Played) (out errortable.Study, err error) {
	out = errortable.Study{Name: p.Template.Name, Title: p.Template.Title, Question: p.Template.Question, Split: p.Template.Split.String(),
		Study: p.Study.ID.String(), Partition: p.Study.Partition, Unit: p.Study.Privacy.Unit, Promise: promise(p.Study), Privacy: promised(p)}
	for i, part := range p.Data.Parties {
		out.Parties = append(out.Parties, errortable.Holder{Name: part.Name, Records: len(part.Rows)})
		for _, in := range p.Result.Parties {
			if in.Name == part.Name {
				out.Parties[i].Bytes = in.Bytes
				out.Bytes += in.Bytes
			}
		}
	}
	if out.Exposure, err = exposed(p); err != nil {
		return out, err
	}
	if out.Table, err = errortable.Make(ctx, p); err != nil {
		return out, err
	}
	out.Verdicts, out.Checks = out.Table.Verdicts(), out.Table.Checks(out.Name)
	return out, nil
}

// exposed says what sketches without noise reveal; empty with noise.
func exposed(p errortable.Played) (string, error) {
	if p.Study.Privacy.Mechanism != dp.None {
		return "", nil
	}
	listed, _ := p.Study.PartyByName(p.Data.Parties[0].Name)
	e, err := p.Study.Reveals(listed, 0, len(p.Data.Parties[0].Rows))
	if err != nil {
		return "", err
	}
	text := "Each party's " + e.String() + "."
	if ok, reason := e.Acceptable(); !ok {
		text += " Refused by default, because " + reason + "; each steward accepted it in the site file."
	}
	return text, nil
}

// attacked returns the attack on a party's own release that recovers most of its values.
func attacked(ctx context.Context, party *network.Node, id protocol.StudyID) (*errortable.Attacked, error) {
	var found audit.AttackReport
	if err := party.RunJSON(ctx, &found, "advanced", "audit", id.String(), "--data"); err != nil {
		return nil, err
	}
	var most *errortable.Attacked
	for _, a := range found.Sketches[0].Attacks {
		if a.Columns != nil && (most == nil || a.Value > most.Value) {
			most = &errortable.Attacked{Party: party.Name, Knows: a.Knows, Measure: a.Measure, Value: a.Value, Baseline: a.Baseline}
		}
	}
	return most, nil
}

// promise says briefly what a study protects; empty without noise.
func promise(s *study.Study) string {
	if s.Privacy.Mechanism == dp.None {
		return ""
	}
	text := fmt.Sprintf("every %s at ε = %g", map[dp.Unit]string{dp.Record: "whole record", dp.Attribute: "single value"}[s.Privacy.Unit], float64(s.Privacy.Epsilon))
	if s.Privacy.Delta > 0 {
		text += fmt.Sprintf(", δ = %g", float64(s.Privacy.Delta))
	}
	return text
}

// promised is the study's complete privacy promise.
func promised(p errortable.Played) string {
	s := p.Study
	if s.Privacy.Mechanism == dp.None {
		return "NO promise: no noise is added"
	}
	text := fmt.Sprintf("%s in each party's release (%s)", promise(s), s.Privacy.Mechanism)
	if len(p.Result.Sketches) > 0 && p.Result.Sketches[0].EpsilonPerPerson != nil {
		text += fmt.Sprintf("; all about one record together: ε = %.3g", *p.Result.Sketches[0].EpsilonPerPerson)
	}
	return text
}

// writeNetwork prints the report on one network.
func writeNetwork(w io.Writer, n errortable.Study) {
	fmt.Fprintf(w, "%s: %s\n", n.Name, n.Title)
	n.Table.Write(w)
	fmt.Fprintln(w)
	present.Paragraph(w, "  ", "Privacy: "+n.Privacy+".")
	present.Paragraph(w, "  ", n.Exposure)
	if n.Attacked != nil {
		present.Paragraph(w, "  ", "Attacked: "+n.Attacked.String()+".")
	}
	if n.Table.Cut > 0 {
		present.Paragraph(w, "  ", fmt.Sprintf("Clip: %.1f %% of the records are cut to it, in the sketch where most are.", 100*n.Table.Cut))
	}
	var parties []string
	for _, p := range n.Parties {
		parties = append(parties, fmt.Sprintf("%s %d", p.Name, p.Records))
	}
	present.Paragraph(w, "  ", fmt.Sprintf("Records: %s; %s.", strings.Join(parties, ", "), n.Split))
	present.Paragraph(w, "  ", fmt.Sprintf("Shipped: %s where the data files hold %s, in %.1f s. Study %s.", block.Bytes(n.Bytes), block.Bytes(n.Raw), n.Seconds, n.Study[:8]))
}
