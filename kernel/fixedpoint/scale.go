package fixedpoint

import (
	"fmt"
	"math"
)

// Scale maps a column's real values to [0, 2^f] (bounds) or [-2^f, 2^f] (centre
// and spread). Exactly one of the two forms is set; see Bounds and CentreSpread.
// The zero Scale is unset and is not to be used.
type Scale struct {
	lo, hi         float64 // bounds, lo < hi
	centre, spread float64 // spread > 0 when this form is used
}

// reach is how many spreads on either side of the centre are representable.
const reach = 3

// Bounds returns the scale with public least and greatest values: lo is encoded
// as 0 and hi as 2^f. It refuses bounds that are not finite or not in order, and
// those whose distance is beyond float64.
func Bounds(lo, hi float64) (Scale, error) {
	switch {
	case !finite(lo) || !finite(hi):
		return Scale{}, fmt.Errorf("bounds [%v, %v]: not finite", lo, hi)
	case lo >= hi:
		return Scale{}, fmt.Errorf("bounds [%v, %v]: the first must be less than the second", lo, hi)
	case !finite(hi - lo):
		return Scale{}, fmt.Errorf("bounds [%v, %v]: too far apart", lo, hi)
	}
	return Scale{lo: lo, hi: hi}, nil
}

// CentreSpread returns the scale with a public typical value and a public typical
// deviation from it: centre is encoded as 0 and centre ± 3·spread as ±2^f. It
// refuses a centre or spread that is not finite and a spread that is not positive.
func CentreSpread(centre, spread float64) (Scale, error) {
	switch {
	case !finite(centre) || !finite(spread):
		return Scale{}, fmt.Errorf("centre %v, spread %v: not finite", centre, spread)
	case spread <= 0:
		return Scale{}, fmt.Errorf("centre %v, spread %v: the spread must be positive", centre, spread)
	case !finite(reach*spread) || !finite(math.Abs(centre)+reach*spread):
		return Scale{}, fmt.Errorf("centre %v, spread %v: too large", centre, spread)
	}
	return Scale{centre: centre, spread: spread}, nil
}

// Bounds returns the public bounds; ok is false for a scale of the other form.
func (s Scale) Bounds() (lo, hi float64, ok bool) { return s.lo, s.hi, s.lo < s.hi }

// CentreSpread returns the public centre and spread; ok is false for a scale of
// the other form.
func (s Scale) CentreSpread() (centre, spread float64, ok bool) {
	return s.centre, s.spread, s.spread > 0
}

// IsZero reports whether the scale is unset.
func (s Scale) IsZero() bool { return s == Scale{} }

// Encode returns the integer for x at resolution f, and whether x was outside
// the representable range and so was moved to its nearer end:
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
// so that it does not matter whether a compiler fuses them.
func (s Scale) Encode(x float64, f Bits) (v int64, clamped bool) {
	var offset, length float64
	var below, above bool
	if s.spread > 0 {
		offset, length = x-s.centre, reach*s.spread
		below, above = offset < -length, offset > length
	} else {
		offset, length = x-s.lo, s.hi-s.lo
		below, above = x < s.lo, x > s.hi
	}
	switch {
	case below:
		return s.least(f), true
	case above:
		return f.One(), true
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
		low, high = -length, length
	}
	at := 0
	for i, x := range values {
		offset := x - origin
		compared := offset
		if s.spread == 0 {
			compared = x
		}
		switch {
		case compared >= low && compared <= high:
			dst[at] = round(offset / length * one)
		case !finite(x):
			return i, clamped
		default:
			dst[at] = f.One()
			if compared < low {
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
		return -f.One()
	}
	return 0
}

// Missing returns the integer that stands for an absent value: the centre, or the
// middle of the bounds.
func (s Scale) Missing(f Bits) int64 {
	if s.spread > 0 {
		return 0
	}
	return f.One() / 2
}

// Range returns the largest change of one encoded value: 2^f for bounds, 2^(f+1)
// for centre and spread. It is the attribute-level sensitivity of the value
// itself. The largest absolute value is 2^f for both.
func (s Scale) Range(f Bits) int64 { return f.One() - s.least(f) }

// Step returns the real size of one integer unit.
func (s Scale) Step(f Bits) float64 {
	if s.spread > 0 {
		return reach * s.spread / float64(f.One())
	}
	return (s.hi - s.lo) / float64(f.One())
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
	switch {
	case s.IsZero():
		return "no scale"
	case s.spread > 0:
		return fmt.Sprintf("centre %v, spread %v", s.centre, s.spread)
	}
	return fmt.Sprintf("bounds [%v, %v]", s.lo, s.hi)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
