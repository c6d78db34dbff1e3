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
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/rehearsal"
)

// Column is one public column description.
type Column struct {
	Name  string
	Range Range // how values become fixed-point integers
}

// Range is either Lo and Hi, or Centre and Spread; the other two are zero.
type Range struct {
	Lo, Hi         float64
	Centre, Spread float64
}

// Data are what the parties of a study hold: the same columns of other records.
type Data struct {
	Columns []Column      // Range is used, and Name
	Parties [][][]float64 // party, record, column
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
	played *rehearsal.Rehearsal
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
		at := fmt.Sprintf("bounds: [%s, %s]", networks.Decimal(c.Range.Lo), networks.Decimal(c.Range.Hi))
		if c.Range.Spread > 0 {
			at = fmt.Sprintf("centre: %s, spread: %s", networks.Decimal(c.Range.Centre), networks.Decimal(c.Range.Spread))
		}
		fmt.Fprintf(&b, "  - {name: %s, kind: numeric, %s}\n", c.Name, at)
	}
	fmt.Fprintf(&b, "sketches: [%s]\nprivacy: %s\nanalyses: [%s]\n", strings.Join(a.Sketches, ", "), a.Privacy, a.Analyses)
	if a.Masked {
		b.WriteString("sum: masked\ncolluding: 1\n")
	}
	s, err := file.Parse([]byte(b.String()))
	if err != nil {
		return nil, fmt.Errorf("parsing a study: %w", err)
	}
	p := &prepared{study: s}
	var parties []rehearsal.Held
	for _, records := range d.Parties {
		parties, p.counts = append(parties, rehearsal.Held{Values: records}), append(p.counts, len(records))
	}
	if p.played, err = rehearsal.New(s, parties); err != nil {
		return nil, err
	}
	return p, nil
}

// draw runs the study once, with a seed and noise of its own.
func (p *prepared) draw(ctx context.Context, entropy io.Reader) (*Answer, error) {
	drawn, err := p.played.Draw(ctx, entropy)
	if err != nil {
		return nil, err
	}
	out := &Answer{Study: p.study, Result: drawn.Result}
	for party, l := range drawn.Labels { // of records sides: by row
		own := make([]int, p.counts[party])
		for row, cluster := range l.Columns[0].Integers {
			own[drawn.Orders[party][row]] = cluster
		}
		out.Labels = append(out.Labels, own)
	}
	for _, a := range drawn.Result.Analyses {
		if a.CellMeans == nil {
			continue
		}
		labeller, err := analysis.NewLabeller(p.study, a)
		if err != nil {
			return nil, err
		}
		for party, n := range p.counts {
			own := make([]int, n)
			for i := range own {
				own[i] = labeller.Label(p.played.Encoded(party, i))
			}
			out.Labels = append(out.Labels, own)
		}
	}
	return out, nil
}

// source is a stream of random bytes of its own for each trial. It stands for the
// operating system's: what is measured here is no one's data.
func source(trial, stream uint64) *rand.ChaCha8 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], trial)
	binary.LittleEndian.PutUint64(key[8:], stream)
	return rand.NewChaCha8(key)
}
