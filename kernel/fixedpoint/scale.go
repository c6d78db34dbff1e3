package fixedpoint

import (
	"fmt"
	"math"
)

// Scale maps a column's real values to [0, 2^f] (bounds) or [-2^f, 2^f] (centre and spread), after
// its Transform, if any. Exactly one of the two forms is set; see Bounds and CentreSpread. The zero
// Scale is unset and must not be used.
//
// All real numbers that a Scale returns are transformed values, except those of Declared.
type Scale struct {
	lo, hi         float64 // bounds, lo < hi
	centre, spread float64 // spread > 0 when this form is used
	far            bool    // values are not limited to three spreads, but to Far steps
	transform      Transform
	declared       [2]float64 // with a transform: bounds, or centre and spread, before the transform
	rate           float64    // for bits: the public share of ones; 0 if not stated
}

// reach is the number of spreads on either side of the centre that are representable.
const reach = 3

// Far is the largest absolute value of an encoded entry on an Unlimited scale, in steps.
const Far = 1 << 20

// Unlimited returns the scale for records that are clipped to a length. With a centre and spread,
// values are not limited to three spreads, but to Far steps. Scales with bounds do not change.
func (s Scale) Unlimited() Scale {
	s.far = s.spread > 0
	return s
}

// most returns the largest distance of a value from the centre, in units of three spreads.
func (s Scale) most(f Bits) float64 {
	if s.far {
		return Far / float64(f.One())
	}
	return 1
}

// Bounds returns the scale with a public minimum and maximum: lo is encoded as 0 and hi as 2^f. It
// returns an error if the bounds are not finite, not in order, or so far apart that float64
// overflows.
func Bounds(lo, hi float64) (Scale, error) { return Transform{}.Bounds(lo, hi) }

// CentreSpread returns the scale with a public typical value and a public typical deviation from
// it: centre is encoded as 0 and centre ± 3·spread as ±2^f. It returns an error if centre or spread
// is not finite, or the spread is not positive.
func CentreSpread(centre, spread float64) (Scale, error) {
	return Transform{}.CentreSpread(centre, spread)
}

func (s Scale) Transform() Transform { return s.transform }

// Declared returns the public bounds, or centre and spread, as they were given: before the
// transform.
func (s Scale) Declared() (first, second float64) {
	switch {
	case !s.transform.IsZero():
		return s.declared[0], s.declared[1]
	case s.spread > 0:
		return s.centre, s.spread
	}
	return s.lo, s.hi
}

// Binary returns the scale of bits: bounds [0, 1] with a public share of ones, which replaces the
// middle of the bounds as the centre. It returns an error unless 0 < rate < 1.
func Binary(rate float64) (Scale, error) {
	if !(rate > 0 && rate < 1) {
		return Scale{}, fmt.Errorf("rate %v: must be above 0 and below 1", rate)
	}
	return Scale{lo: 0, hi: 1, rate: rate}, nil
}

// Rate returns the public share of ones; ok is false for a scale without one.
func (s Scale) Rate() (rate float64, ok bool) { return s.rate, s.rate > 0 }

func (s Scale) Bounds() (lo, hi float64, ok bool) { return s.lo, s.hi, s.lo < s.hi }

// CentreSpread returns the public centre and spread; ok is false if the scale has bounds instead.
func (s Scale) CentreSpread() (centre, spread float64, ok bool) {
	return s.centre, s.spread, s.spread > 0
}

func (s Scale) IsZero() bool { return s == Scale{} }

// Encode returns the integer for x at resolution f. clamped reports whether x was outside the
// representable range and was moved to its nearer end. In these formulas x, lo, hi, centre and
// spread are transformed:
//
//	bounds:             round(2^f (x-lo)/(hi-lo))       in [0, 2^f]
//	centre and spread:  round(2^f (x-centre)/(3 spread)) in [-2^f, 2^f]
//
// It rounds half away from zero. Infinities are moved to the nearer end. Callers must check for
// NaN, which is not a value. Encode returns Missing for it and reports it as clamped, so that the
// result is the same everywhere.
//
// The same x gives the same integer on every architecture. Each step is one correctly rounded IEEE
// operation (subtraction, division), or exact (scaling by 2^f, rounding to an integer). The one
// product that is followed by a sum is exact, so it does not matter whether a compiler fuses them.
// Transforms follow the same rules.
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

// EncodeColumn encodes each value of a column as Encode does, into every stride-th element of dst,
// starting at the first. It stops at a value that is not finite. It returns how many values it has
// encoded, and how many of those were clamped. dst must hold at least (len(values)-1)·stride + 1
// integers.
func (s Scale) EncodeColumn(dst []int64, stride int, values []float64, f Bits) (encoded, clamped int) {
	origin, length, one := s.lo, s.hi-s.lo, float64(f.One())
	low, high := s.lo, s.hi // limits of x for bounds; below, limits of its offset for centre and spread
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

// round rounds a number below 2^52 in magnitude to the nearest integer, half away from zero. Every
// step is exact: the fractional part, twice that, and the integer part of the double.
func round(y float64) int64 {
	whole := int64(y)
	rest := float64(y) - float64(whole)
	return whole + int64(rest+rest)
}

func (s Scale) least(f Bits) int64 {
	if s.spread > 0 {
		return -s.greatest(f)
	}
	return 0
}

// withoutLogarithm returns the integer for values of 0 and less under a log transform: the lower
// bound, or three spreads below the centre. The latter holds for Unlimited scales too, as an amount
// of zero is not an outlier.
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

// Missing returns the integer that represents an absent value, see Central.
func (s Scale) Missing(f Bits) int64 { return s.Central(f.One()) }

// Central returns the integer at the public centre, if one represents 1: 0 for centre and spread,
// the rate of bits if stated, otherwise the middle of the bounds.
func (s Scale) Central(one int64) int64 {
	switch {
	case s.spread > 0:
		return 0
	case s.rate > 0:
		return round(s.rate * float64(one))
	}
	return one / 2
}

// Range returns the largest change of one encoded value: 2^f for bounds, 2^(f+1) for centre and
// spread. It is the attribute-level sensitivity of the value itself. The largest absolute value is
// 2^f for both. On an Unlimited scale with centre and spread, Far replaces 2^f.
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
		reached := float64(reach * s.spread)
		return s.centre - reached, s.centre + reached
	}
	return s.lo, s.hi
}

// Origin returns the real value that is encoded as 0: the lower bound or the centre. An integer v
// represents Origin + v·Step.
func (s Scale) Origin() float64 {
	if s.spread > 0 {
		return s.centre
	}
	return s.lo
}

// String describes the scale in the syntax of a study file.
func (s Scale) String() string {
	if s.bare() {
		return "bounds " + s.Short()
	}
	return s.Short()
}

// bare reports whether the scale consists of bounds and nothing else.
func (s Scale) bare() bool { return s.lo < s.hi && s.rate == 0 && s.transform.IsZero() }

// Short is String without the word bounds, if there are only bounds.
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
