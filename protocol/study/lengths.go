package study

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// edges are the lengths from which a party can choose its clip, in units of a typical record's
// length.
var edges = []float64{1, 1.15, 1.3, 1.5, 1.7, 1.9, 2.1, 2.4, 2.8, 3.5, 5, 8, 13, 21, 34}

// unboundedSquare is the typical square of a value without bounds: one spread from its centre.
const unboundedSquare = 4

// typical returns the squares of typical entries, in units of a sixth, by column of a sums sketch,
// without a separate label. of says which column each entry belongs to. A spread is a third. A
// value within bounds is at most a half from their middle. One entry of a categorical column is 1.
func (s *Study) typical(index int) (squares []int64, of []int) {
	last := -1
	for _, f := range s.Features(0, index) {
		if s.labelApart(index, f) {
			continue
		}
		if f.Column != last {
			last = f.Column
			c := s.Columns[f.Column]
			_, _, bounded := c.Scale.Bounds()
			switch {
			case c.Kind == Categorical:
				squares = append(squares, 36)
			case bounded && !(c.Kind == Numeric && s.Sketches[index].Standardise):
				squares = append(squares, 9)
			default:
				squares = append(squares, unboundedSquare)
			}
		}
		of = append(of, len(squares)-1)
	}
	return squares, of
}

// Priors returns prior assumptions about the entries of a moments sketch, in units of 2^Bits.
func (s *Study) Priors(index int) (out []estimate.Prior) {
	squares, of := s.typical(index)
	entries := make([]float64, len(squares))
	for _, column := range of {
		entries[column]++
	}
	for _, column := range of {
		out = append(out, estimate.Prior{Square: float64(squares[column]) / 36 / entries[column], Unbounded: squares[column] == unboundedSquare})
	}
	return out
}

// MomentAttributes returns, for each entry, the index of its column among those whose absence is
// counted.
func (s *Study) MomentAttributes(index int) []int {
	_, of := s.typical(index)
	return of
}

// TypicalLength returns the length of a record with typical entries, in units of 2^Bits. If all
// columns have bounds, no record is longer.
func (s *Study) TypicalLength(index int) float64 {
	squares, _ := s.typical(index)
	var all int64
	for _, t := range squares {
		all += t
	}
	return math.Sqrt(float64(all)) / 6
}

// wholeLength returns the smallest length in whole steps that no record within bounds exceeds.
func (s *Study) wholeLength(index int) int64 {
	squares, _ := s.typical(index)
	var all int64
	for _, t := range squares {
		all += t
	}
	one := s.Bits.One()
	length := int64(math.Sqrt(float64(all*one*one) / 36))
	for 36*length*length < all*one*one {
		length++
	}
	return length
}

// Clips returns the lengths to which a moments sketch is clipped, in integer units: one, or those
// to choose from. It is nil if records are not clipped and there is no noise.
func (s *Study) Clips(index int) []int64 {
	if s.basis != nil && s.Pooled(index) {
		return []int64{s.basis.Clips[slices.Index(s.PooledMoments(), index)]}
	}
	return s.ClipEdges(index)
}

// ClipEdges returns the lengths to which a moments sketch can be clipped, whichever was chosen.
func (s *Study) ClipEdges(index int) []int64 {
	if s.Privacy.Mechanism == dp.None || s.Privacy.Unit != dp.Record {
		return nil
	}
	if !s.Sketches[index].OwnClip {
		return []int64{s.IntegerClip(index)}
	}
	var out []int64
	length := s.TypicalLength(index) * float64(s.Bits.One())
	longest := s.longestClip(index)
	for _, edge := range edges {
		if clip := int64(edge * length); clip <= longest {
			out = append(out, clip)
		}
	}
	return out
}

// longestClip returns the longest clip, in integer units, whose sums fit int64 and whose noise can
// be drawn.
func (s *Study) longestClip(index int) int64 {
	whole, err := s.Privacy.Guarantee()
	if err != nil {
		return dp.MaxMomentClip
	}
	sums, _, _ := s.MomentShare(index)
	part, err := whole.Share(s.Sketches[index].Share * sums)
	if err != nil {
		return dp.MaxMomentClip
	}
	const clip = 1 << 10
	change := math.Sqrt(float64(s.momentChange(index, clip))) / clip / clip // divided by the squared clip; with sums only, by the clip
	most := math.Sqrt(float64(part.Mu()) * 0.99 * dp.MaxDeviation / change)
	if s.Sketches[index].Moments.Sums == 0 {
		return int64(math.Min(float64(part.Mu())*0.99*dp.MaxDeviation/(change*clip), dp.MaxSumClip))
	}
	return int64(math.Min(most, dp.MaxMomentClip))
}

// MomentSensitivity returns the sensitivity of moments clipped to a length.
func (s *Study) MomentSensitivity(index int, clip int64) (dp.Sensitivity, error) {
	w, err := s.MomentWeights(index, clip)
	if err != nil {
		return dp.Sensitivity{}, err
	}
	l := s.MomentLayout(index)
	return dp.RecordMoments(clip, l.Columns, l.Affected(), w, s.Neighbours())
}

// momentChange returns the squared l2 sensitivity of moments clipped to a length; 0 if there is
// none.
func (s *Study) momentChange(index int, clip int64) int64 {
	change, err := s.MomentSensitivity(index, clip)
	if err != nil {
		return 0
	}
	return change.L2Squared
}

// momentBits returns the resolution of moments in a study that leaves it open. If parties choose
// their own clip, there is room for records of up to 34 typical lengths. There is room for fewer if
// that would make steps coarser than 256 to a unit, or 1024 if columns are standardised, whose
// units are their whole ranges.
func (s *Study) momentBits(index int, most fixedpoint.Bits) fixedpoint.Bits {
	least := fixedpoint.Bits(8)
	if s.Sketches[index].Standardise {
		least = 10
	}
	if s.Sketches[index].OwnClip {
		for far := len(edges) - 1; far > 0; far-- {
			for bits := most; bits >= least; bits-- {
				if s.MomentsFit(index, bits, edges[far]) == nil {
					return bits
				}
			}
		}
	}
	bits := most
	for bits > 1 && s.MomentsFit(index, bits, 1) != nil {
		bits--
	}
	return bits
}

// momentsLimit returns the number of records that a moments sketch holds before an entry can reach
// bound.
func (s *Study) momentsLimit(index int, bound int64) int64 {
	limit := int64(math.MaxInt64)
	clips := s.ClipEdges(index)
	if clips == nil {
		clips = []int64{0}
	}
	for _, clip := range clips {
		w, err := s.MomentWeights(index, clip)
		if err != nil {
			return 0
		}
		reach := s.Reach()
		if clip > 0 {
			reach = min(reach, clip)
		}
		limit = min(limit, sketch.MomentsLimit(w, reach, s.Bits.One(), bound))
	}
	return limit
}

// MomentsFit returns an error for a resolution at which a record of moments has too many steps for
// its sums, or too few, or the noise is too large to sample: it grows with the square of the steps.
// If parties choose their own clip, clips of up to far typical lengths must fit.
func (s *Study) MomentsFit(index int, bits fixedpoint.Bits, far float64) error {
	at := *s
	at.Bits = bits
	sk := at.Sketches[index]
	length := sk.Clip
	if sk.OwnClip {
		length *= max(far, 1)
	}
	if at.Privacy.Mechanism == dp.None || at.Privacy.Unit != dp.Record {
		return nil
	}
	most := int64(dp.MaxMomentClip)
	if sk.Moments.Sums == 0 {
		most = dp.MaxSumClip
	}
	if steps := length * float64(bits.One()); steps > float64(most) {
		return fmt.Errorf("the clip is more than %d steps of %d bits, and its sums would not fit 63 bits", most, bits)
	}
	if steps := length * float64(bits.One()); sk.OwnClip && steps > float64(at.longestClip(index)) {
		return fmt.Errorf("with a clip of %d steps of %d bits the noise is too large to draw", int64(steps), bits)
	}
	clips := at.ClipEdges(index)
	if len(clips) == 0 || clips[0] < leastMomentLength {
		return fmt.Errorf("the clip is less than %d steps of %d bits", leastMomentLength, bits)
	}
	whole, err := at.Privacy.Guarantee()
	if err != nil {
		return nil // reported elsewhere
	}
	sums, _, _ := at.MomentShare(index)
	part, err := whole.Share(sk.Share * sums)
	if err != nil {
		return err
	}
	var sensitivity dp.Sensitivity
	for _, clip := range clips {
		if sensitivity, err = at.MomentSensitivity(index, clip); err != nil {
			return err
		}
	}
	_, err = dp.Calibrate(part, sensitivity) // the longest clip needs the most noise
	return err
}

// MeanNoise returns ν·n·μ for this many parties: ν is the noise of a mean from moments, in spreads,
// for records of typical length, and n the number of one party's records. The parties' noises are
// independent, and all have n records. With products it is about √(25+w²)/w times that of sums
// alone.
func (s *Study) MeanNoise(index int, parties float64) float64 {
	const clip = 1 << 10
	w, err := s.MomentWeights(index, clip)
	if err != nil {
		return 0
	}
	return math.Sqrt(float64(s.momentChange(index, clip))) / float64(w.Sum<<w.Fine*clip) * 3 * s.TypicalLength(index) / math.Sqrt(parties)
}

// ProductNoise is MeanNoise for a correlation instead of a mean.
func (s *Study) ProductNoise(index int, parties float64) float64 {
	const clip = 1 << 10
	w, err := s.MomentWeights(index, clip)
	if err != nil || w.Product == 0 {
		return 0
	}
	typical := 3 * s.TypicalLength(index)
	return math.Sqrt(float64(s.momentChange(index, clip))) / float64(w.Product*clip*clip) * float64(typical*typical) / math.Sqrt(parties)
}

// ForProducts reports whether a moments sketch is only used for its products: another sketch
// answers what is asked of means, of all records or of a class.
func (s *Study) ForProducts(index int) bool {
	return s.Sketches[index].Moments.Sums > 0 && !slices.ContainsFunc(s.Analyses, func(a Analysis) bool {
		at, ok := s.SketchFor(a)
		return ok && at == index && (a.Kind == Mean || a.Kind == LDA)
	})
}

// ForRegression reports whether a moments sketch answers regressions only.
func (s *Study) ForRegression(index int) bool {
	return s.ForProducts(index) && !slices.ContainsFunc(s.Analyses, func(a Analysis) bool {
		at, ok := s.SketchFor(a)
		return ok && at == index && a.Kind != Regression
	})
}

// TypicalNoise returns the noise ν, in spreads, of a mean over this many records of all parties, if
// they have typical length and are not clipped; 0 without noise.
func (s *Study) TypicalNoise(index int, records float64) float64 {
	whole, err := s.Privacy.Guarantee()
	if err != nil || s.Privacy.Mechanism == dp.None {
		return 0
	}
	share, _, _ := s.MomentShare(index)
	part, err := whole.Share(s.Sketches[index].Share * share)
	if err != nil {
		return 0
	}
	parties := float64(len(s.Parties))
	if s.Masked() {
		parties /= float64(s.HonestMembers(len(s.Parties)))
	}
	return s.MeanNoise(index, 1) * math.Sqrt(parties) / float64(part.Mu()) / math.Max(records, 1)
}

// UnboundedShare returns the share of values without bounds in a typical record's squared length, in
// moments. These values are what makes records long.
func (s *Study) UnboundedShare(index int) float64 {
	squares, _ := s.typical(index)
	var endless, all int64
	for _, t := range squares {
		if all += t; t == unboundedSquare {
			endless += t
		}
	}
	return float64(endless) / float64(max(all, 1))
}

// ClipRule returns the best clip for records of moments, in units of 2^Bits, if only the number of
// records of all parties is known. It follows [forecast.ClipRule] or, under masks without counts of
// lengths, [forecast.BlindClip]. Values with bounds count with their typical length at most.
func (s *Study) ClipRule(index int, records float64) float64 {
	typical := s.TypicalLength(index)
	nu := s.TypicalNoise(index, records)
	if nu == 0 {
		return typical
	}
	if !s.Masked() || s.Pooled(index) && !s.Sketches[index].Standardise {
		m, endless := forecast.ClipRule(len(s.MomentEntries(index)), nu), s.UnboundedShare(index)
		if endless == 0 {
			return typical * m
		}
		return typical * math.Sqrt(1-endless+float64(float64(m*m)*endless))
	}
	squares, of := s.typical(index)
	var within int64
	endless := 0
	for _, t := range squares {
		if t == unboundedSquare {
			endless++
		} else {
			within += t
		}
	}
	return forecast.BlindClip(len(of), endless, float64(within)/36, nu)
}
