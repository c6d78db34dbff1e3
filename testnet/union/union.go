// Package union measures what horizontal studies under unit record get from moments and
// cells, beside what the projections get from the same promise: whole releases of several
// parties in one process, from encoded values through noise and encoding to the result
// document, repeated with new seeds and new noise, and set beside the pooled data.
package union

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// Data are what the parties of a study hold: the same columns of other records.
type Data struct {
	Columns []scenario.Column // Range is used, and Name
	Parties [][][]float64     // party, record, column
}

// Ask is what a study asks of data, in the words of a study file.
type Ask struct {
	Sketches []string // entries of sketches
	Privacy  string
	Analyses string // entries of analyses
	Masked   bool   // the aggregator sees the parties' sum alone, of which one party may collude
}

// Answer is a study's result, with the cluster of each record where one was asked for.
type Answer struct {
	Study  *study.Study
	Result analysis.Result
	Labels [][]int // by party; nil without k-means
}

// prepared is a study of data whose exact values are encoded.
type prepared struct {
	study  *study.Study
	values [][]int64 // by party, records × columns
	counts []int
}

// prepare writes the study's file, reads it and encodes the data once for all draws.
func prepare(d Data, a Ask) (*prepared, error) {
	example, err := protocoltest.NewStudy(protocoltest.Terms{Parties: len(d.Parties)})
	if err != nil {
		return nil, err
	}
	head, _, _ := bytes.Cut(example.Source, []byte("columns:"))
	var b strings.Builder
	fmt.Fprintf(&b, "%scolumns:\n", head)
	for _, c := range d.Columns {
		at := fmt.Sprintf("bounds: [%s, %s]", scenario.Decimal(c.Range.Lo), scenario.Decimal(c.Range.Hi))
		if c.Range.Spread > 0 {
			at = fmt.Sprintf("centre: %s, spread: %s", scenario.Decimal(c.Range.Centre), scenario.Decimal(c.Range.Spread))
		}
		fmt.Fprintf(&b, "  - {name: %s, kind: numeric, %s}\n", c.Name, at)
	}
	fmt.Fprintf(&b, "sketches: [%s]\nprivacy: %s\nanalyses: [%s]\n", strings.Join(a.Sketches, ", "), a.Privacy, a.Analyses)
	if a.Masked {
		b.WriteString("sum: masked\ncolluding: 1\n")
	}
	s, err := study.Parse([]byte(b.String()))
	if err != nil {
		return nil, fmt.Errorf("parsing a study: %w", err)
	}
	p := &prepared{study: s}
	for _, records := range d.Parties {
		var values []int64
		for _, r := range records {
			for j, x := range r {
				v, _ := s.Columns[j].Scale.Encode(x, s.Bits)
				values = append(values, v)
			}
		}
		p.values, p.counts = append(p.values, values), append(p.counts, len(records))
	}
	return p, nil
}

// batch is how many records are added at a time.
const batch = 4096

// draw runs the study once, with a seed and noise of its own.
func (p *prepared) draw(ctx context.Context, entropy io.Reader) (*Answer, error) {
	var key [seed.Size]byte
	if _, err := io.ReadFull(entropy, key[:]); err != nil {
		return nil, err
	}
	o := analysis.Options{Study: p.study, Attempt: 1, Complete: true}
	var orders [][]int
	pairs, err := p.pairs(entropy)
	if err != nil {
		return nil, err
	}
	for party := range p.values {
		c, order, err := p.contribute(party, seed.FromBytes(key), pairs, entropy)
		if err != nil {
			return nil, fmt.Errorf("the release of party %d: %w", party+1, err)
		}
		o.Contributions, orders = append(o.Contributions, c), append(orders, order)
	}
	result, labels, err := analysis.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	out := &Answer{Study: p.study, Result: result}
	for party, l := range labels { // of records sides: by row
		own := make([]int, p.counts[party])
		for row, cluster := range l.Columns[0].Integers {
			own[orders[party][row]] = cluster
		}
		out.Labels = append(out.Labels, own)
	}
	for _, a := range result.Analyses {
		if a.CellMeans == nil {
			continue
		}
		labeller, err := analysis.NewLabeller(p.study, a)
		if err != nil {
			return nil, err
		}
		d := len(p.study.Columns)
		for party, n := range p.counts {
			own := make([]int, n)
			for i := range own {
				own[i] = labeller.Label(p.values[party][i*d:][:d])
			}
			out.Labels = append(out.Labels, own)
		}
	}
	return out, nil
}

// contribute makes a party's release as a party does, and reads it as the aggregator does.
func (p *prepared) contribute(party int, root seed.Seed, pairs []agree.Pairs, entropy io.Reader) (c analysis.Contribution, order []int, err error) {
	d := len(p.study.Columns)
	c = analysis.Contribution{Party: party, Records: int64(p.counts[party])}
	for i := range p.study.Sketches {
		plan, err := release.For(p.study, party, i)
		if err != nil {
			return c, nil, err
		}
		b, err := plan.NewBuilder(root, 2)
		if err != nil {
			return c, nil, err
		}
		for from := 0; from < p.counts[party]; from += batch {
			to := min(from+batch, p.counts[party])
			ids := make([][]byte, to-from)
			for r := range ids {
				ids[r] = fmt.Appendf(nil, "record %d", from+r)
			}
			if err := b.Add(ids, p.values[party][from*d:to*d]); err != nil {
				return c, nil, err
			}
		}
		exact, err := b.Finish(entropy)
		if err != nil {
			return c, nil, err
		}
		order = exact.Order
		if err := plan.Noise.AddParallel(exact.Sketch.Data, entropy, 2); err != nil {
			return c, nil, err
		}
		if pairs != nil {
			if err := exact.Mask(plan, pairs[party]); err != nil {
				return c, nil, err
			}
			c.Masked = exact.Masked
		}
		header, data, err := exact.Encode()
		if err != nil {
			return c, nil, err
		}
		got, err := release.Decode(header, bytes.NewReader(data))
		if err != nil {
			return c, nil, err
		}
		c.Sketches, c.Bytes = append(c.Sketches, got), c.Bytes+header.Size()
	}
	return c, order, nil
}

// source is a stream of random bytes of its own for each trial. It stands for the
// operating system's: what is measured here is no one's data.
func source(trial, stream uint64) *rand.ChaCha8 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], trial)
	binary.LittleEndian.PutUint64(key[8:], stream)
	return rand.NewChaCha8(key)
}
