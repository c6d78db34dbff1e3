package release

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/sum"
)

// Plan is one party's part in one sketch of a study.
type Plan struct {
	Study    *study.Study
	Party    int // index into Study.Parties
	Index    int // into Study.Sketches
	Features []study.Feature
	Values   int   // how many of Features come from the data; the rest are squares and ones
	Clip     int64 // integer l2 bound on a record's contribution, on the columns side at most the length of the longest record; 0: not clipped. See Cut
	Limit    int64 // number of records for which sums over all parties are sure to be exact

	Sensitivity dp.Sensitivity // zero if no noise is added: mechanisms none and randomised-response
	Noise       dp.Noise       // added to every entry after projection; under masked sums the party's share, see Among
	Flips       dp.Flips       // of every bit before projection; zero except for randomised-response
	Moments     *Moments       // side moments; else nil
	Own         *Standardised  // side columns that the party standardises; else nil
	Labels      *Labels        // what travels beside the rows; nil: nothing

	counted int64        // what a clipped record adds to the last row, side columns; 0: there is no such row
	whole   dp.Guarantee // of the sketch and its labels
	summed  dp.Noise     // the noise sure to be in anything that is seen: equal to Noise except under masked sums
	members int          // of the attempt that the plan is for: see Among
}

// For plans a party's part in the sketch with that index.
func For(s *study.Study, party, index int) (Plan, error) {
	part, err := s.Part(index)
	if err != nil {
		return Plan{}, planning(index, err)
	}
	return plan(s, party, index, part)
}

func planning(index int, err error) error { return fmt.Errorf("planning sketch %d: %w", index+1, err) }

// plan is For, given the sketch's part of the budget, which is common to all parties.
func plan(s *study.Study, party, index int, part study.Part) (_ Plan, err error) {
	p := Plan{Study: s, Party: party, Index: index, Features: s.Features(party, index)}
	p.Values = values(p.Features)
	p.Limit = s.RecordLimit(index)
	p.Clip = s.IntegerClip(index)
	if p.Clip > 0 && s.Sketches[index].Side == sketch.Columns {
		p.Clip = min(p.Clip, s.LongestRecord(party, index))
	}
	if p.Labels, err = labelsOf(s, party, index); err != nil {
		return Plan{}, planning(index, err)
	}
	if p.whole = part.Whole; p.Labels == nil {
		p.whole = part.Values // another party has the labels
	}
	if p.Flips, err = s.Flips(index); err != nil {
		return Plan{}, planning(index, err)
	}
	if p.Clip > 0 && p.Cut() == 0 {
		return Plan{}, fmt.Errorf("planning sketch %d: a clip of %d leaves no room beside ones of %d", index+1, p.Clip, p.ones())
	}
	if p.counted, err = p.countWeight(); err != nil {
		return Plan{}, planning(index, err)
	}
	if p.Sketch().Side == sketch.Moments {
		err = p.planMoments(part.Values)
	} else if s.StandardisedColumns(index) {
		err = p.planOwn(part.Values)
	} else if p.Sensitivity, err = p.sensitivity(); err == nil {
		p.Noise, err = dp.Calibrate(part.Values, p.Sensitivity)
	}
	if err != nil {
		return Plan{}, planning(index, err)
	}
	p.summed, p.members = p.Noise, len(s.Parties)
	return p.Among(p.members)
}

// values counts the features that come from the data.
func values(of []study.Feature) (n int) {
	for _, f := range of {
		if f.Kind == study.Value || f.Kind == study.OneHot {
			n++
		}
	}
	return n
}

// Sketch returns the study's entry for this sketch.
func (p Plan) Sketch() study.Sketch { return p.Study.Sketches[p.Index] }

// Spec returns the projection.
func (p Plan) Spec() projection.Spec { return p.Sketch().Projection }

// WithoutResponse returns the plan without randomised response and labels; its exact sketches can be compared.
func (p Plan) WithoutResponse() Plan {
	p.Flips, p.Labels = dp.Flips{}, nil
	return p
}

// Unit returns the real size of one integer unit of a sketch entry relative to encoded values in
// units of one. It is R's scale over 2^f or, under randomised response, R's scale over the span of
// the flips, which debiases. Sums have no R; the analyses account for their weights.
func (p Plan) Unit() float64 {
	if p.Sketch().Side.Sums() {
		return 1 / float64(p.span())
	}
	return p.Spec().Scale() / float64(p.span())
}

// span returns the integer distance of encoded values that are 1 apart.
func (p Plan) span() int64 {
	if !p.Flips.Zero() {
		return p.Flips.Span()
	}
	return p.Study.Bits.One()
}

// ones returns the entry of the column of ones. Under randomised response it is in units of the
// span like the means of the others, and is exact: ones reveal no values.
func (p Plan) ones() int64 {
	if p.Own != nil && p.Own.ones > 0 {
		return p.Own.ones
	}
	return int64(math.Round(p.Sketch().Helpers.Ones * float64(p.span())))
}

// Cut returns the bound on a record's values and their squares; 0 if records are not clipped. On
// the columns side it excludes the entry of ones, which is never clipped.
func (p Plan) Cut() int64 {
	if p.Sketch().Side != sketch.Columns || p.Sketch().Helpers.Ones == 0 {
		return p.Clip
	}
	return dp.RemainingClip(p.Clip, p.ones())
}

// OnesWeight returns the weight of the column of ones in the sketch, after rounding, in encoded
// units.
func (p Plan) OnesWeight() float64 { return float64(p.ones()) / float64(p.span()) }

// Shape returns the rows and columns of the released sketch of that many records, including the
// column of labels.
func (p Plan) Shape(records int64) (rows, cols int64) {
	switch side := p.Sketch().Side; {
	case side == sketch.Columns:
		return int64(p.Head() + p.Spec().K + p.CountRows()), int64(len(p.Features))
	case side.Sums():
		return p.row().Shape(p.Study, p.Index)
	}
	cols = int64(p.cols())
	if p.Labels != nil {
		cols++
	}
	return records, cols
}

// ExactShape returns the shape of the sketch before noise. If a party chooses its own clip, it has
// sums for each clip.
func (p Plan) ExactShape(records int64) (rows, cols int64) {
	if p.Moments == nil {
		return p.Shape(records) // no sketch that takes a look is held
	}
	rows = 1
	if p.Moments.own {
		rows = int64(len(p.Moments.Clips) + sum.LengthRows(len(p.Moments.Clips), p.Moments.Layout.Entries()))
	}
	return rows, int64(p.Moments.Layout.Entries())
}

// sensitivity returns the sensitivity to the worst change of the study's unit.
func (p Plan) sensitivity() (dp.Sensitivity, error) {
	if p.Sketch().Side.Sums() && p.Study.Privacy.Mechanism != dp.None {
		return p.row().Sensitivity(p.Study, p.Index, p.Clip)
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
		return dp.RecordColumnsCounted(row, p.Clip, len(p.Features), p.counted)
	case p.Study.Privacy.Unit == dp.Record:
		return dp.RecordRecords(p.Clip, spec.K)
	}
	orthogonal := spec.OrthogonalRows(p.Spanned())
	var worst dp.Sensitivity
	for _, c := range p.Columns() {
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

// Columns returns the indices of the columns in this sketch. It relies on the entries of a
// categorical column being adjacent.
func (p Plan) Columns() []int {
	var out []int
	for _, f := range p.Features[:p.Values] {
		if len(out) == 0 || out[len(out)-1] != f.Column {
			out = append(out, f.Column)
		}
	}
	return out
}

// changes lists the changes of a column's value that move the features derived from it furthest:
// one that is worst in l1 and, if it is another, one that is worst in l2. A categorical value moves
// two one-hot entries and their squares by 1 each. A value within bounds moves by 1, and its square
// by as much if it is not centred. A move from one end to the other around the middle leaves the
// square unchanged. It is still the worst in both norms: a shorter move gains no more in the square
// than it loses in length. A bit around another centre has only one move. Around a column's own
// centre, the longest move is from -1 to 1. It is the worst in l2, but leaves the square unchanged:
// with squares the worst in l1 is from -1/2 to 1.
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
		centre := p.Centre(study.Feature{Column: c, Kind: study.Value})
		return [][]int64{{one, fixedpoint.Square(one-centre, bits) - fixedpoint.Square(-centre, bits)}}
	}
	return [][]int64{{longest}, {one + one/2, one - fixedpoint.Square(-one/2, bits)}}
}

// Attributes counts the columns of this sketch, including the label that travels: how many values
// of one record an attribute-level guarantee counts separately. Removing a record also removes its
// entry in the column of ones, which no value moves. If the whole record is longer than that many
// changes of a value, Attributes returns its length in such changes, rounded up.
func (p Plan) Attributes() int {
	n := len(p.Columns())
	if p.Labels != nil {
		n++
	}
	if p.Study.Privacy.Unit != dp.Attribute || p.Sketch().Side != sketch.Columns || p.ones() == 0 {
		return n
	}
	worst, err := p.change()
	if err != nil || worst.L1 == 0 { // randomised response, which has no ones
		return n
	}
	l1, square := p.Study.LargestRecord(p.Party, p.Index)
	ones, spec := p.ones(), p.Spec()
	times := float64(l1+ones) * float64(spec.RowL1()) / float64(worst.L1)
	if p.Study.Privacy.Mechanism == dp.Gaussian { // lengths of different columns add in squares
		times = math.Sqrt(float64(square+ones*ones) * float64(spec.RowL2Squared()) / float64(worst.L2Squared))
	}
	return max(n, int(math.Ceil(times)))
}
