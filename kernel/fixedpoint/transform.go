package fixedpoint

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Transform is applied to a value before it is encoded. The zero Transform leaves values unchanged.
type Transform struct {
	log  bool
	unit float64 // of asinh; otherwise 0
}

// Log returns the natural logarithm. Values of 0 and less have none: they are encoded as the lower
// bound, or as three spreads below the centre.
func Log() Transform { return Transform{log: true} }

// Asinh returns the transform asinh(x/unit) = sign(x)·ln(|x|/unit + √(x²/unit² + 1)). It is close
// to x/unit for |x| well below unit, and close to ±ln(2|x|/unit) well above. It is defined for all
// values. Asinh returns an error if unit is not positive and finite.
func Asinh(unit float64) (Transform, error) {
	if !(unit > 0) || !finite(unit) {
		return Transform{}, fmt.Errorf("unit %v: it must be positive", unit)
	}
	return Transform{unit: unit}, nil
}

// IsZero reports whether the transform leaves values unchanged.
func (t Transform) IsZero() bool { return t == Transform{} }

func (t Transform) IsLog() bool { return t.log }

// Unit returns the unit of Asinh; ok is false for other transforms.
func (t Transform) Unit() (unit float64, ok bool) { return t.unit, t.unit > 0 }

// Of returns the title of a column's transformed values: log(NAME), asinh(NAME/UNIT) or NAME.
func (t Transform) Of(name string) string {
	switch {
	case t.log:
		return "log(" + name + ")"
	case t.unit > 0:
		return fmt.Sprintf("asinh(%s/%v)", name, t.unit)
	}
	return name
}

// Titled is the inverse of Of: it returns the transform and the column of a title. ok is false for
// a title without a transform. Column names must not contain parentheses.
func Titled(title string) (t Transform, name string, ok bool) {
	inner, closed := strings.CutSuffix(title, ")")
	if name, is := strings.CutPrefix(inner, "log("); is && closed {
		return Log(), name, true
	}
	inner, is := strings.CutPrefix(inner, "asinh(")
	at := strings.LastIndexByte(inner, '/')
	if !is || !closed || at < 0 {
		return Transform{}, "", false
	}
	unit, err := strconv.ParseFloat(inner[at+1:], 64)
	if err == nil {
		t, err = Asinh(unit)
	}
	return t, inner[:at], err == nil
}

// Apply returns the transformed value, bit-identical on every architecture. The logarithm of 0 and
// less is -Inf.
func (t Transform) Apply(x float64) float64 {
	switch {
	case t.log:
		return logarithm(x)
	case t.unit > 0:
		return arsinh(x / t.unit)
	}
	return x
}

// Invert returns the value whose transform is y. Its last bits may differ between architectures, so
// use it for display only.
func (t Transform) Invert(y float64) float64 {
	switch {
	case t.log:
		return math.Exp(y)
	case t.unit > 0:
		return t.unit * math.Sinh(y)
	}
	return y
}

// Spread converts a declared spread to the typical deviation of transformed values. Under a
// transform, the declared spread is a factor above 1: two thirds of the values lie between
// centre/factor and centre·factor. The deviation is ln(factor) on a log scale, and also on an asinh
// scale well above its unit.
func (t Transform) Spread(declared float64) (float64, error) {
	if t.IsZero() {
		return declared, nil
	}
	if !(declared > 1) || !finite(declared) {
		return 0, fmt.Errorf("spread %v: under a transform it is a factor above 1", declared)
	}
	return logarithm(declared), nil
}

// Bounds returns the scale with a public minimum and maximum, both before the transform: lo is
// encoded as 0 and hi as 2^f. It returns an error if the bounds are not finite, not in order, too
// close after the transform, or so far apart that float64 overflows, or if lo has no logarithm.
func (t Transform) Bounds(lo, hi float64) (Scale, error) {
	low, high := t.Apply(lo), t.Apply(hi)
	switch {
	case !finite(lo) || !finite(hi):
		return Scale{}, fmt.Errorf("bounds [%v, %v]: not finite", lo, hi)
	case lo >= hi:
		return Scale{}, fmt.Errorf("bounds [%v, %v]: the first must be less than the second", lo, hi)
	case t.log && lo <= 0:
		return Scale{}, fmt.Errorf("bounds [%v, %v]: only numbers above 0 have a logarithm (asinh takes all numbers)", lo, hi)
	case !finite(low) || !finite(high) || !finite(high-low):
		return Scale{}, fmt.Errorf("bounds [%v, %v]: too far apart", lo, hi)
	case low >= high:
		return Scale{}, fmt.Errorf("bounds [%v, %v]: too close to each other", lo, hi)
	}
	return Scale{lo: low, hi: high, transform: t, declared: [2]float64{lo, hi}}, nil
}

// CentreSpread returns the scale with a public typical value before the transform, and a spread as
// described at Spread. centre is encoded as 0; three spreads on either side of it, after the
// transform, as ±2^f. It returns an error if centre or spread is not finite or too large, the
// spread is not positive (not above 1 under a transform), or the centre has no logarithm.
func (t Transform) CentreSpread(centre, spread float64) (Scale, error) {
	switch {
	case !finite(centre) || !finite(spread):
		return Scale{}, fmt.Errorf("centre %v, spread %v: not finite", centre, spread)
	case t.log && centre <= 0:
		return Scale{}, fmt.Errorf("centre %v, spread %v: only numbers above 0 have a logarithm (asinh takes all numbers)", centre, spread)
	case spread <= 0:
		return Scale{}, fmt.Errorf("centre %v, spread %v: the spread must be positive", centre, spread)
	}
	deviation, err := t.Spread(spread)
	if err != nil {
		return Scale{}, fmt.Errorf("centre %v, %w", centre, err)
	}
	middle := t.Apply(centre)
	if !finite(reach*deviation) || !finite(math.Abs(middle)+float64(reach*deviation)) {
		return Scale{}, fmt.Errorf("centre %v, spread %v: too large", centre, spread)
	}
	return Scale{centre: middle, spread: deviation, transform: t, declared: [2]float64{centre, spread}}, nil
}

// ln 2 in two parts: the product of the first with any exponent is exact.
const (
	ln2High = 0x1.62e42feep-1
	ln2Low  = math.Ln2 - ln2High
)

// logarithm returns ln x within 2 units in the last place, bit-identical on every architecture. It
// consists of exact steps and of single correctly rounded operations. Every product that is
// followed by a sum is converted explicitly, which forbids fusing the two (Go specification,
// Floating-point operators). After removing powers of two, it is twice the series of artanh at s =
// (m-1)/(m+1), with m in [√½, √2) and so |s| ≤ 0.1716.
func logarithm(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x <= 0:
		return math.Inf(-1)
	}
	m, exponent := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, exponent = 2*m, exponent-1
	}
	s := (m - 1) / (m + 1)
	k := float64(exponent)
	low := tail(s) + float64(k*ln2Low)
	return float64(k*ln2High) + (2*s + low)
}

// tail returns ln((1+s)/(1-s)) - 2s for |s| ≤ 0.1716: 2s(s²/3 + s⁴/5 + …).
func tail(s float64) float64 {
	square := float64(s * s)
	sum := 1.0 / 23
	for _, c := range [...]float64{1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3} {
		sum = c + float64(sum*square)
	}
	return float64(float64(2*s) * float64(square*sum))
}

// arsinh returns the inverse hyperbolic sine, computed by the same rules as logarithm.
func arsinh(x float64) float64 {
	y := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return x
	case y > 1<<28: // adding 1 to y² would not change it
		y = logarithm(y) + math.Ln2
	case y >= 0.25:
		y = logarithm(y + math.Sqrt(float64(y*y)+1))
	default:
		square := float64(y * y)
		z := y + square/(1+math.Sqrt(1+square))
		s := z / (2 + z) // ln(1+z) without cancellation
		y = 2*s + tail(s)
	}
	return math.Copysign(y, x)
}
