package analysis

import (
	"context"
	"math"
	"strconv"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// counts is the parties' sum of a counts sketch.
type counts struct {
	plan    release.Plan
	records float64             // of all parties, which is public
	noise   estimate.CountNoise // on each number
	tables  []counted
}

// counted is one table of the sum, or a tree of tables.
type counted struct {
	study.Table
	counts sketch.CountTable
	cells  []float64 // the tables of a tree one after the other
}

// onCounts answers from the parties' counts.
func onCounts(answer func(c *counts, ctx context.Context, a study.Analysis, out *Analysis) error) way {
	return way{sketch.Counts, func(r *run, ctx context.Context, _, sk int, a study.Analysis) (Analysis, error) {
		c, err := r.counts(sk)
		if err != nil {
			return Analysis{}, err
		}
		out := Analysis{Kind: a.Kind, Sketch: sk, Assumptions: premise.List{premise.NumbersOfUnion}}
		if r.Study.CountsAbsent(sk) {
			out.Assumptions = append(out.Assumptions, premise.AbsentApart)
		}
		return out, answer(c, ctx, a, &out)
	}}
}

// counts adds up the parties' tables.
func (r *run) counts(index int) (*counts, error) {
	x, sum, err := r.together(index)
	if err != nil {
		return nil, err
	}
	out := &counts{plan: x.plan, records: float64(r.records()), noise: x.plan.CountNoise(len(r.Contributions))}
	weight, at := float64(r.Study.CountWeight()), 0
	for i, t := range r.Study.CountTables(index) {
		one := counted{Table: r.Study.Sketches[index].Tables[i], counts: t}
		for _, v := range sum.Data[at : at+t.Cells()] {
			one.cells = append(one.cells, float64(v)/weight)
		}
		at += t.Cells()
		out.tables = append(out.tables, one)
	}
	return out, nil
}

// axis returns the cells of a table's axis.
func (c *counts) axis(t counted, i int) []study.AxisCell {
	return c.plan.Study.AxisCells(c.plan.Index, t.Table, t.Of[i])
}

// ranked returns the records below each edge, from a table of one number or a tree of such tables.
func (c *counts) ranked(t counted) (*estimate.Ranked, error) {
	if t.Depth == 0 {
		return estimate.NewBins(t.cells, t.counts.Axes[0].Absent, c.noise, c.records)
	}
	total, levels, rest, absent := estimate.Noisy{Value: c.records}, [][]float64{}, t.cells, 0.0
	for l := range t.Depth {
		bins := 2 << l
		levels, rest = append(levels, rest[:bins]), rest[bins:]
		if t.counts.Axes[0].Absent {
			absent, rest = absent+rest[0], rest[1:]
		}
	}
	if t.counts.Axes[0].Absent { // every table counted them
		total = estimate.Noisy{Value: c.records - absent/float64(t.Depth), Variance: c.noise.Variance / float64(t.Depth)}
	}
	return estimate.NewTree(levels, c.noise, total)
}

// axisNames returns the names of an axis's cells for people.
func axisNames(cells []study.AxisCell) (out []string) {
	text := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	for _, c := range cells {
		switch {
		case c.Absent:
			out = append(out, absentCell)
		case c.Value != "":
			out = append(out, c.Value)
		case math.IsInf(c.From, -1):
			out = append(out, "below "+text(c.To))
		case math.IsInf(c.To, 1):
			out = append(out, "from "+text(c.From))
		default:
			out = append(out, text(c.From)+" to "+text(c.To))
		}
	}
	return out
}

// absentCell is the cell of records without a value, the last of an axis.
const absentCell = "(missing)"
