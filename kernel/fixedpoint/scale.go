package fixedpoint

import (
	"fmt"
	"math"
)

// Scale maps a column's real values to [0, 2^f] (bounds) or [-2^f, 2^f] (centre
// and spread), after a Transform if it has one. Exactly one of the two forms is set; see
// Bounds and CentreSpread. The zero Scale is unset and is not to be used.
//
// Everything that a Scale says in real numbers is of transformed values, except Declared.
type Scale struct {
	lo, hi         float64 // bounds, lo < hi
	centre, spread float64 // spread > 0 when this form is used
	far            bool    // values go on beyond three spreads, up to Far steps
	transform      Transform
	declared       [2]float64 // with a transform: bounds, or centre and spread, as people gave them
	rate           float64    // of bits: the public share of ones; 0 where none is told
}

// reach is how many spreads on either side of the centre are representable.
const reach = 3

// Far is the largest absolute value of an encoded entry of a scale that is Unlimited, in steps.
const Far = 1 << 20

// Unlimited returns the scale for records that are cut to a length: around a centre, values
// go on beyond three spreads, up to Far steps. Within bounds nothing changes.
func (s Scale) Unlimited() Scale {
	s.far = s.spread > 0
	return s
}

// most is how far around the centre values go, in units of three spreads.
func (s Scale) most(f Bits) float64 {
	if s.far {
		return Far / float64(f.One())
	}
	return 1
}

// Bounds returns the scale with public least and greatest values: lo is encoded
// as 0 and hi as 2^f. It refuses bounds that are not finite or not in order, and
// those whose distance is beyond float64.
func Bounds(lo, hi float64) (Scale, error) { return Transform{}.Bounds(lo, hi) }

// CentreSpread returns the scale with a public typical value and a public typical
// deviation from it: centre is encoded as 0 and centre ± 3·spread as ±2^f. It
// refuses a centre or spread that is not finite and a spread that is not positive.
func CentreSpread(centre, spread float64) (Scale, error) {
	return Transform{}.CentreSpread(centre, spread)
}

func (s Scale) Transform() Transform { return s.transform }

// Declared returns the public bounds, or centre and spread, as they were given: those of
// values before the transform.
func (s Scale) Declared() (first, second float64) {
	switch {
	case !s.transform.IsZero():
		return s.declared[0], s.declared[1]
	case s.spread > 0:
		return s.centre, s.spread
	}
	return s.lo, s.hi
}

// Binary returns the scale of bits: bounds [0, 1] with a public share of ones, which then
// stands for the middle. It refuses a rate that is not above 0 and below 1.
func Binary(rate float64) (Scale, error) {
	if !(rate > 0 && rate < 1) {
		return Scale{}, fmt.Errorf("rate %v: not above 0 and below 1", rate)
	}
	return Scale{lo: 0, hi: 1, rate: rate}, nil
}

// Rate returns the public share of ones; ok is false for a scale without one.
func (s Scale) Rate() (rate float64, ok bool) { return s.rate, s.rate > 0 }

func (s Scale) Bounds() (lo, hi float64, ok bool) { return s.lo, s.hi, s.lo < s.hi }

// CentreSpread returns the public centre and spread; ok is false for a scale of
// the other form.
func (s Scale) CentreSpread() (centre, spread float64, ok bool) {
	return s.centre, s.spread, s.spread > 0
}

func (s Scale) IsZero() bool { return s == Scale{} }

// Encode returns the integer for x at resolution f, and whether x was outside
// the representable range and so was moved to its nearer end. Here x, lo, hi, centre
// and spread are transformed already:
//
//	bounds:             round(2^f (x-lo)/(hi-lo))       in [0, 2^f]
//	centre and spread:  round(2^f (x-centre)/(3 spread)) in [-2^f, 2^f]
//
// Halves are rounded away from zero. Infinities are moved to the nearer end. NaN
// is no value: callers check for it first; here it becomes Missing and counts as
// clamped, so that the result is the same everywhere.
//
// The same x gives the same integer on every architecture: each step is one
// correctly rounded IEEE operation (subtraction, division) or exact (scaling by
// 2^f, rounding to an integer). The one product that is followed by a sum is exact,
// so that it does not matter whether a compiler fuses them. Transforms keep to the same.
func (s Scale) Encode(x float64, f Bits) (v int64, clamped bool) {
	if s.transform.log && x <= 0 {
		return s.withoutLogarithm(f), true
	}
	x = s.transform.Apply(x)
	var offset, length float64
	var below, above bool
	if s.spread > 0 {
		offset, length = x-s.centre, reach*s.spread
		end := length * s.most(f)
		below, above = offset < -end, offset > end
	} else {
		offset, length = x-s.lo, s.hi-s.lo
		below, above = x < s.lo, x > s.hi
	}
	switch {
	case below:
		return s.least(f), true
	case above:
		return s.greatest(f), true
	}
	unit := offset / length
	if math.IsNaN(unit) {
		return s.Missing(f), true
	}
	return round(unit * float64(f.One())), false
}

// EncodeColumn encodes a column of values into every stride-th place of dst, from
// the first on, as Encode does with each. It stops at a value that is not finite and
// returns how many it has encoded, and how many of those were clamped. dst holds
// (len(values)-1)·stride + 1 integers or more.
func (s Scale) EncodeColumn(dst []int64, stride int, values []float64, f Bits) (encoded, clamped int) {
	origin, length, one := s.lo, s.hi-s.lo, float64(f.One())
	low, high := s.lo, s.hi // where x itself is compared, and below where its offset is
	if s.spread > 0 {
		origin, length = s.centre, reach*s.spread
		high = length * s.most(f)
		low = -high
	}
	at, transformed := 0, !s.transform.IsZero()
	for i, value := range values {
		x := value
		if transformed {
			x = s.transform.Apply(value)
		}
		offset := x - origin
		compared := offset
		if s.spread == 0 {
			compared = x
		}
		switch {
		case compared >= low && compared <= high:
			dst[at] = round(offset / length * one)
		case !finite(value):
			return i, clamped
		default:
			dst[at] = s.greatest(f)
			switch {
			case transformed && s.transform.log && value <= 0:
				dst[at] = s.withoutLogarithm(f)
			case compared < low:
				dst[at] = s.least(f)
			}
			clamped++
		}
		at += stride
	}
	return len(values), clamped
}

// round rounds a number below 2^52 in magnitude to the nearest integer, halves away
// from zero, in exact steps: what is beyond the integer part, twice that, and its own
// integer part.
func round(y float64) int64 {
	whole := int64(y)
	rest := y - float64(whole)
	return whole + int64(rest+rest)
}

func (s Scale) least(f Bits) int64 {
	if s.spread > 0 {
		return -s.greatest(f)
	}
	return 0
}

// withoutLogarithm is the integer of 0 and less where logarithms are taken: the lower bound,
// or three spreads below the centre also where other values go on further. An amount of
// nothing is no outlier.
func (s Scale) withoutLogarithm(f Bits) int64 {
	if s.spread > 0 {
		return -f.One()
	}
	return 0
}

func (s Scale) greatest(f Bits) int64 {
	if s.far {
		return Far
	}
	return f.One()
}

// Missing returns the integer that stands for an absent value: see Central.
func (s Scale) Missing(f Bits) int64 { return s.Central(f.One()) }

// Central returns the integer at the public centre, where one stands for 1: 0 for centre and
// spread, the middle of bounds, and of bits their rate where it is told.
func (s Scale) Central(one int64) int64 {
	switch {
	case s.spread > 0:
		return 0
	case s.rate > 0:
		return round(s.rate * float64(one))
	}
	return one / 2
}

// Range returns the largest change of one encoded value: 2^f for bounds, 2^(f+1)
// for centre and spread. It is the attribute-level sensitivity of the value
// itself. The largest absolute value is 2^f for both.
func (s Scale) Range(f Bits) int64 { return s.greatest(f) - s.least(f) }

// Step returns the real size of one integer unit.
func (s Scale) Step(f Bits) float64 {
	if s.spread > 0 {
		return reach * s.spread / float64(f.One())
	}
	return (s.hi - s.lo) / float64(f.One())
}

// Ends returns the bounds, or three spreads below and above the centre.
func (s Scale) Ends() (least, greatest float64) {
	if s.spread > 0 {
		return s.centre - reach*s.spread, s.centre + reach*s.spread
	}
	return s.lo, s.hi
}

// Origin returns the real value that is encoded as 0: the lower bound or the
// centre. An integer v stands for Origin + v·Step.
func (s Scale) Origin() float64 {
	if s.spread > 0 {
		return s.centre
	}
	return s.lo
}

// String describes the scale in the words of a study file.
func (s Scale) String() string {
	if s.bare() {
		return "bounds " + s.Short()
	}
	return s.Short()
}

// bare reports a scale of which there are bounds to say and nothing else.
func (s Scale) bare() bool { return s.lo < s.hi && s.rate == 0 && s.transform.IsZero() }

// Short is String, but for the word bounds where nothing else is said.
func (s Scale) Short() string {
	words := ""
	switch unit, ok := s.transform.Unit(); {
	case s.IsZero():
		return "no scale"
	case s.rate > 0:
		return fmt.Sprintf("bounds [%v, %v], centre %v", s.lo, s.hi, s.rate)
	case s.transform.IsLog():
		words = "transform log, "
	case ok:
		words = fmt.Sprintf("transform asinh, unit %v, ", unit)
	}
	first, second := s.Declared()
	switch {
	case s.spread > 0:
		return words + fmt.Sprintf("centre %v, spread %v", first, second)
	case s.bare():
		return fmt.Sprintf("[%v, %v]", first, second)
	}
	return words + fmt.Sprintf("bounds [%v, %v]", first, second)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
