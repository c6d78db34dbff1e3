// Package union compares sums (moments and cells) with projections in horizontal studies with
// privacy unit record. It runs whole releases of several parties in one process, from encoded
// values through noise and encoding to the result document, each with new seeds and noise, and
// compares the results with the pooled data.
package union

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/research/rehearsal"
	"github.com/cosketch/cosketch/testnet/networks"
)

// Column is the public description of a column.
type Column struct {
	Name  string
	Range Range // fixed-point encoding of the values
}

// Range is either Lo and Hi, or Centre and Spread; the other two are zero.
type Range struct {
	Lo, Hi         float64
	Centre, Spread float64
}

// Data is the parties' data: the same columns of different records.
type Data struct {
	Columns []Column      // only Name and Range are used
	Parties [][][]float64 // party, record, column
}

// Ask holds parts of a study file.
type Ask struct {
	Sketches []string // entries of sketches
	Privacy  string
	Analyses string // entries of analyses
	Masked   bool   // the aggregator sees only the parties' sum; one party may collude
}

// Answer is a study's result, with the cluster of each record if k-means was asked for.
type Answer struct {
	Study  *study.Study
	Result analysis.Result
	Labels [][]int // by party; nil without k-means
}

// prepared is a study with encoded data.
type prepared struct {
	study  *study.Study
	played *rehearsal.Rehearsal
	counts []int
}

// prepare writes and parses the study file, and encodes the data once for all draws.
func prepare(d Data, a Ask) (*prepared, error) {
	var b strings.Builder
	b.WriteString("columns:\n")
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
	s, err := rehearsal.Study(len(d.Parties), study.Horizontal, b.String())
	if err != nil {
		return nil, err
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

// draw runs the study once, with a new seed and noise from entropy.
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
