package release

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// A party of a vertical study may standardise its columns by a first look at its own values.
// Numbers with bounds are centred at their means and scaled to a standard deviation of a third. So
// are bits, if enough rates are far from 1/2: unscaled, rare ones are lost in the noise that common
// ones need. The column of ones then weighs 1/2 at most, because the means of bits are about 0.
// Each sketched record is clipped to a length that is shorter as a result. Beside the sketch, the
// clipped records are summed, with their squares: so the divisors of products of columns do not
// come from the sketch, whose noise may swamp them. The sums include how many records the sketch
// does not hold unchanged.

// Standardised is the part of a plan specific to standardised columns.
type Standardised struct {
	values  dp.Guarantee // of all parts of the sketch
	clip    int64        // before the look
	looking dp.Noise
	moves   []sketch.Standard // by value: as published; nil before the look
	takes   []sketch.Standard // by value: as the sketch applies it
	ends    []bool            // by value: whether one at an end of its range may have been beyond it
	ones    int64             // weight of the column of ones, if it is not the study's
	weight  int64             // of a sum
	counted int64             // weight of a record that is not sketched unchanged
	quantum int64             // of squares: the unit of counting
	sums    dp.Noise          // on own sums
	change  dp.Sensitivity    // of own sums
	alone   bool              // an audit tries the sketch without its head
}

// ownLevel bounds the squares of one record in own sums.
const ownLevel = 1 << 18

func (p *Plan) planOwn(values dp.Guarantee) (err error) {
	p.Own = &Standardised{values: values, clip: p.Clip}
	_, look, _ := p.Study.OwnShare(p.Party, p.Index)
	if p.Own.looking, err = calibrated(values, look, p.lookChange()); err != nil {
		return err
	}
	return p.calibrateOwn()
}

// calibrateOwn calibrates the noise for records clipped to the plan's length.
func (p *Plan) calibrateOwn() (err error) {
	o := p.Own
	rows, _, own := p.Study.OwnShare(p.Party, p.Index)
	if p.Sensitivity, err = p.sensitivity(); err != nil {
		return err
	}
	if p.Noise, err = calibrated(o.values, rows, p.Sensitivity); err != nil {
		return err
	}
	p.summed = p.Noise
	// For |x| ≤ C in l2, Σ⌊x²/q⌋² ≤ ⌊C²/q⌋², and Σ(ax)² ≤ (aC)². The count adds an eighth to the
	// maximum of their sum, and so a sixteenth to their noise.
	cut := p.Cut()
	o.quantum = cut*cut/ownLevel + 1
	squares := cut * cut / o.quantum
	o.weight, o.counted = max(squares/cut, 1), max(squares/2, 1)
	change := dp.SensitivityWithin(o.weight*o.weight*cut*cut+squares*squares+o.counted*o.counted, 2*p.Values+1)
	if p.Study.Privacy.Replaced {
		if change, err = change.Replacing(); err != nil {
			return err
		}
	}
	o.change = change
	o.sums, err = calibrated(o.values, own, change)
	return err
}

// Head returns how many rows precede the sketch in a released sketch of columns.
func (p Plan) Head() int {
	if p.Own == nil || p.Own.alone {
		return 0
	}
	return study.OwnRows
}

// centredAt returns the plan of the second pass over columns after a look. All in it is a function of
// what is published. Bits are centred at their rates and scaled if the sum of p(1 − p) is below .18
// of their number. Otherwise they stay at their public centres, where no record is clipped because
// of them.
func (p Plan) centredAt(moves []sketch.Standard) (Plan, error) {
	one := p.Study.Bits.One()
	o := *p.Own
	o.ones = 0
	p.Own, p.Clip = &o, o.clip
	o.moves, o.takes, o.ends = moves, make([]sketch.Standard, len(moves)), make([]bool, len(moves))
	var bits, rates, longest, others int64 // rates: Σ 256·p(1 − p)·one²; others: nine times the typical squared lengths
	last := -1
	for i, m := range moves {
		f := p.Features[i]
		o.takes[i] = p.still(i)
		switch c := p.Study.Columns[f.Column]; {
		case p.scaled(f):
			o.takes[i] = m
			others += one * one
		case c.Kind == study.Binary:
			bits++
			rates += m.Centre * (16*one - m.Centre)
			end := max(p.Centre(f), one-p.Centre(f))
			longest += end * end
		case f.Column == last:
		case c.Kind == study.Categorical:
			others += 9 * one * one
		default:
			others += one * one
			o.ends[i] = true
		}
		last = f.Column
	}
	cut := p.Cut()
	ones := p.ones()
	squared, shorter := cut*cut, int64(16*forecast.BitLength*forecast.BitLength)*bits*one*one/9/16
	if 100*(rates/256) < 18*bits*one*one && shorter < longest {
		ones = min(ones, one/2)
		for i, m := range moves {
			if p.Study.Columns[p.Features[i].Column].Kind == study.Binary {
				c := (m.Centre + 8) / 16 * 16
				o.takes[i] = sketch.Standard{Centre: c, Spread: max(dp.CeilSqrt(9*c*(16*one-c)), (max(c, 16*one-c)+1)/2)}
			}
		}
		squared = min(squared, max(squared-(longest-shorter), shorter+others/4, 1))
	}
	o.ones = ones
	p.Clip = dp.CeilSqrt(squared + p.ones()*p.ones()) // squared is above 0, and stays so without the ones
	err := p.calibrateOwn()
	return p, err
}

// take standardises a value and clamps it to three spreads. A bit is not clamped: it is within six.
// take also reports whether the value was clamped, or is at an end to which values beyond the
// declared ones were moved on reading.
func (p Plan) take(value int, v int64) (taken int64, beyond bool) {
	one := p.Study.Bits.One()
	x := p.Own.takes[value].Apply(v, one, 0)
	if p.Study.Columns[p.Features[value].Column].Kind == study.Binary {
		return x, false
	}
	taken = max(min(x, one), -one)
	return taken, taken != x || p.Own.ends[value] && (x == one || x == -one)
}

// ownSums accumulates what is sketched of records, and counts those not sketched unchanged: those
// clipped, or with a value beyond three spreads.
type ownSums struct {
	sums, squares []int64
	shortened     int64
}

func newOwnSums(values int) ownSums {
	return ownSums{sums: make([]int64, values), squares: make([]int64, values)}
}

// add adds a record.
func (s *ownSums) add(row []int64, quantum int64) {
	for i, v := range row {
		s.sums[i] += v
		s.squares[i] += v * v / quantum
	}
}

// withHead puts the own sums before an exact sketch; the rows for what was published first are still
// empty.
func (p Plan) withHead(s sketch.Sketch, own ownSums) sketch.Sketch {
	head := make([]int64, study.OwnRows*s.Cols, (study.OwnRows+s.Rows)*s.Cols)
	for i := range own.sums {
		head[2*s.Cols+i] = own.sums[i] * p.Own.weight
		head[3*s.Cols+i] = own.squares[i]
	}
	head[2*s.Cols+p.Values] = own.shortened * p.Own.counted
	s.Data, s.Rows = append(head, s.Data...), s.Rows+study.OwnRows
	return s
}

// drawOwn draws the noise of a standardised sketch of columns, and fills in the rows published
// first.
func (p Plan) drawOwn(s *sketch.Sketch, entropy io.Reader, workers int) error {
	if p.Own.moves == nil || s.Rows != p.Spec().K+study.OwnRows {
		return errors.New("drawing noise: the sketch is standardised by the party's first look, which has not been taken yet")
	}
	cols := s.Cols
	for i, m := range p.Own.moves {
		s.Data[i], s.Data[cols+i] = m.Centre, m.Spread
	}
	for _, noised := range [][]int64{s.Data[2*cols:][:p.Values+1], s.Data[3*cols:][:p.Values]} {
		if err := p.Own.sums.Add(noised, entropy); err != nil {
			return err
		}
	}
	return p.Noise.AddParallel(s.Data[study.OwnRows*cols:], entropy, workers)
}

// Owned decodes the head of a released sketch of columns and returns the plan as it was after the
// look.
func (p Plan) Owned(head []int64) (Plan, error) {
	cols := len(p.Features)
	if len(head) != study.OwnRows*cols {
		return p, fmt.Errorf("reading own values: %d numbers, want %d", len(head), study.OwnRows*cols)
	}
	one := p.Study.Bits.One()
	moves := make([]sketch.Standard, p.Values)
	for i := range cols {
		m := sketch.Standard{Centre: head[i], Spread: head[cols+i]}
		ok := true
		switch {
		case i >= p.Values: // the ones, whose sum is the count
			ok = m == sketch.Standard{} && head[3*cols+i] == 0
		case m.Centre > 16*one || m.Centre < 16*(one-p.Study.Columns[p.Features[i].Column].Scale.Range(p.Study.Bits)):
			ok = false
		case p.scaled(p.Features[i]):
			ok = m.Spread >= 1 && m.Spread <= 48*one
		default:
			ok = m.Spread == 16*one
		}
		if !ok {
			return p, fmt.Errorf("reading own values: column %d of the sketch is moved by %d and scaled by %d sixteenths, which is out of range", i+1, m.Centre, m.Spread)
		}
		if i < p.Values {
			moves[i] = m
		}
	}
	return p.After(moves)
}

// OwnMoments returns the moments of values in the sketch of that many records, given the head that
// Owned decoded. Means are those of the look, before clipping.
func (p Plan) OwnMoments(head []int64, records int64) []estimate.PublishedMoments {
	cols := len(p.Features)
	unit := p.ownUnits(records)
	out := make([]estimate.PublishedMoments, p.Values)
	for i := range out {
		mean := float64(head[2*cols+i]) * unit.sum
		out[i] = unit.of(p, i, mean, float64(float64(head[3*cols+i])*unit.square)-float64(mean*mean))
		out[i].Mean = float64(p.Own.moves[i].Centre-p.Own.takes[i].Centre) / float64(p.Own.takes[i].Spread)
	}
	return out
}

// OwnExpected returns the moments if values in the sketch have these means and variances, in the
// sketch's units.
func (p Plan) OwnExpected(means, variances []float64, records int64) []estimate.PublishedMoments {
	unit := p.ownUnits(records)
	out := make([]estimate.PublishedMoments, p.Values)
	for i := range out {
		out[i] = unit.of(p, i, means[i], variances[i])
	}
	return out
}

// ownUnits holds the factors that turn own sums of values and of squares, and sums of a look, into
// means.
type ownUnits struct {
	sum, square float64
	look        []float64 // by value, before scaling
}

func (p Plan) ownUnits(records int64) ownUnits {
	n, one, level := float64(records), float64(p.Study.Bits.One()), float64(p.lookLevel())
	out := ownUnits{sum: 1 / (n * float64(p.Own.weight) * one), square: float64(p.Own.quantum) / (n * one * one)}
	for _, l := range p.looked().Entries {
		out.look = append(out.look, float64(l.Half)/level/n)
	}
	return out
}

// of returns the moments of a value with their errors.
func (u ownUnits) of(p Plan, value int, mean, variance float64) estimate.PublishedMoments {
	ofMean := u.look[value] / (float64(p.Own.takes[value].Spread) / 16)
	return estimate.PublishedMoments{
		Sketched: mean, Variance: variance, Mean: mean,
		VarianceVariance: p.Own.sums.Variance() * (float64(u.square*u.square) + float64(4*mean*mean*u.sum*u.sum)),
		MeanVariance:     p.Own.looking.Variance() * ofMean * ofMean,
	}
}

// Shortened returns the noisy count of records that the sketch does not hold unchanged, given its
// head.
func (p Plan) Shortened(head []int64) estimate.Noisy {
	unit := 1 / float64(p.Own.counted)
	return estimate.Noisy{Value: float64(head[2*len(p.Features)+p.Values]) * unit, Variance: p.Own.sums.Variance() * unit * unit}
}
