package release

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// Plan is one party's part in one sketch of a study.
type Plan struct {
	Study    *study.Study
	Party    int // index into Study.Parties
	Index    int // into Study.Sketches
	Features []study.Feature
	Values   int   // how many of Features come from the data; squares and ones follow
	Clip     int64 // integer l2 bound on a record's contribution; 0: not clipped
	Limit    int64 // most records that exact sums over all parties are sure to hold

	Sensitivity dp.Sensitivity // zero where no noise is added: mechanisms none and randomised-response
	Noise       dp.Noise       // added to every entry after projection; under masked sums the party's part of it, see Among
	Flips       dp.Flips       // of every bit before projection; zero but for randomised-response
	Labels      *Labels        // what travels beside the rows; nil: nothing

	whole   dp.Guarantee // of the sketch and its labels
	summed  dp.Noise     // what is sure to be in whatever is seen: Noise, but for masked sums
	members int          // of the attempt that the plan is for: see Among
}

// For plans a party's part in the study's sketch of that index.
func For(s *study.Study, party, index int) (Plan, error) {
	p := Plan{Study: s, Party: party, Index: index, Features: s.Features(party, index)}
	for _, f := range p.Features {
		if f.Kind == study.Value || f.Kind == study.OneHot {
			p.Values++
		}
	}
	p.Limit = s.RecordLimit(index)
	p.Clip = s.IntegerClip(index)
	part, err := s.Part(index)
	if err != nil {
		return Plan{}, fmt.Errorf("planning sketch %d: %w", index, err)
	}
	if p.Labels, err = labelsOf(s, party, index); err != nil {
		return Plan{}, fmt.Errorf("planning sketch %d: %w", index, err)
	}
	if p.whole = part.Whole; p.Labels == nil {
		p.whole = part.Values // another party has the labels
	}
	if p.Flips, err = s.Flips(index); err != nil {
		return Plan{}, fmt.Errorf("planning sketch %d: %w", index, err)
	}
	if p.Sensitivity, err = p.sensitivity(); err != nil {
		return Plan{}, fmt.Errorf("planning sketch %d: %w", index, err)
	}
	if p.Noise, err = dp.Calibrate(part.Values, p.Sensitivity); err != nil {
		return Plan{}, fmt.Errorf("planning sketch %d: %w", index, err)
	}
	p.summed, p.members = p.Noise, len(s.Parties)
	return p.Among(p.members)
}

// Sketch returns the study's entry for this sketch.
func (p Plan) Sketch() study.Sketch { return p.Study.Sketches[p.Index] }

// Spec returns the projection.
func (p Plan) Spec() projection.Spec { return p.Sketch().Projection }

// Unit returns the real size of one integer unit of a sketch entry relative to
// encoded values in units of one: R's scale over 2^f or, under randomised response,
// over the span of the flips, which debiases. Sums have no R; of their weights the
// analyses take care.
func (p Plan) Unit() float64 {
	if p.Sketch().Side.Sums() {
		return 1 / float64(p.span())
	}
	return p.Spec().Scale() / float64(p.span())
}

// span is the integer distance of encoded values that are 1 apart.
func (p Plan) span() int64 {
	if !p.Flips.Zero() {
		return p.Flips.Span()
	}
	return p.Study.Bits.One()
}

// ones is the entry of the column of ones. Under randomised response it is in units of
// the span like the means of the others, and no less exact: ones say nothing of values.
func (p Plan) ones() int64 {
	return int64(math.Round(p.Sketch().Helpers.Ones * float64(p.span())))
}

// OnesWeight returns the weight of the column of ones as it is in the sketch, after
// rounding, in encoded units.
func (p Plan) OnesWeight() float64 { return float64(p.ones()) / float64(p.span()) }

// Shape returns rows and columns of the released sketch of so many records, the column of
// labels included.
func (p Plan) Shape(records int64) (rows, cols int64) {
	switch p.Sketch().Side {
	case sketch.Columns:
		return int64(p.Spec().K), int64(len(p.Features))
	case sketch.Moments:
		return 1, int64(sketch.MomentEntries(len(p.Features)))
	case sketch.Cells:
		return 1 << p.Spec().K, int64(1 + len(p.Features))
	}
	cols = int64(p.cols())
	if p.Labels != nil {
		cols++
	}
	return records, cols
}

// sensitivity is of the worst change of the study's unit.
func (p Plan) sensitivity() (dp.Sensitivity, error) {
	if p.Sketch().Side.Sums() && p.Study.Privacy.Mechanism != dp.None {
		return p.sumsChange()
	}
	worst, err := p.change()
	if err == nil && p.Study.Privacy.Replaced {
		return worst.Replacing()
	}
	return worst, err
}

func (p Plan) change() (dp.Sensitivity, error) {
	spec := p.Spec()
	row := dp.RowNorms{L1: spec.RowL1(), L2Squared: spec.RowL2Squared()}
	columns := p.Sketch().Side == sketch.Columns
	switch {
	case p.Study.Privacy.Mechanism == dp.None || p.Study.Privacy.Mechanism == dp.RandomisedResponse:
		return dp.Sensitivity{}, nil
	case p.Study.Privacy.Unit == dp.Record && columns:
		return dp.RecordColumns(row, p.Clip, len(p.Features))
	case p.Study.Privacy.Unit == dp.Record:
		return dp.RecordRecords(p.Clip, spec.K)
	}
	orthogonal := spec.OrthogonalRows(p.spanned())
	var worst dp.Sensitivity
	for _, c := range p.attributes() {
		for _, deltas := range p.changes(c) {
			one, err := dp.AttributeRecords(row, deltas, orthogonal)
			if columns {
				one, err = dp.AttributeColumns(row, deltas)
			}
			if err != nil {
				return dp.Sensitivity{}, err
			}
			worst = dp.Max(worst, one)
		}
	}
	return worst, nil
}

// attributes lists the columns that are in this sketch, by their indices. The
// entries of a categorical column are next to each other.
func (p Plan) attributes() []int {
	var out []int
	for _, f := range p.Features[:p.Values] {
		if len(out) == 0 || out[len(out)-1] != f.Column {
			out = append(out, f.Column)
		}
	}
	return out
}

// changes lists the changes of a column's value that move the features derived from
// it furthest: one that is the worst in l1, and one in l2 where that is another. A
// categorical value moves two one-hot entries and their squares by 1 each. A value
// within bounds moves from 0 to 1, and so does its square. Around a centre, from -1
// to 1 is the longest move and the worst in l2, but it leaves the square where it
// was: with squares the worst in l1 is from -1/2 to 1.
func (p Plan) changes(c int) [][]int64 {
	bits := p.Study.Bits
	one := bits.One()
	column := p.Study.Columns[c]
	longest := column.Scale.Range(bits)
	squares := p.Sketch().Helpers.Squares
	switch {
	case column.Kind == study.Categorical && squares:
		return [][]int64{{one, one, one, one}}
	case column.Kind == study.Categorical:
		return [][]int64{{one, one}}
	case !squares:
		return [][]int64{{longest}}
	case longest == one:
		return [][]int64{{one, one}}
	}
	return [][]int64{{longest}, {one + one/2, one - fixedpoint.Square(-one/2, bits)}}
}

// Attributes counts the columns of this sketch, with the label that travels: how many values of one record
// an attribute-level guarantee counts separately.
func (p Plan) Attributes() int {
	n := len(p.attributes())
	if p.Labels != nil {
		n++
	}
	return n
}
