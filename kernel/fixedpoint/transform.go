package fixedpoint

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Transform is what happens to a value before it is encoded. The zero Transform leaves it
// as it is.
type Transform struct {
	log  bool
	unit float64 // of asinh; else 0
}

// Log takes the natural logarithm. Values of 0 and less have none: they are encoded as the
// lower bound, or as what is three spreads below the centre.
func Log() Transform { return Transform{log: true} }

// Asinh takes asinh(x/unit) = sign(x)·ln(|x|/unit + √(x²/unit² + 1)), which is close to
// x/unit for |x| well below unit and close to ±ln(2|x|/unit) well above. It takes every
// value. It refuses a unit that is not positive and finite.
func Asinh(unit float64) (Transform, error) {
	if !(unit > 0) || !finite(unit) {
		return Transform{}, fmt.Errorf("unit %v: it must be positive", unit)
	}
	return Transform{unit: unit}, nil
}

// IsZero reports whether the transform leaves values as they are.
func (t Transform) IsZero() bool { return t == Transform{} }

func (t Transform) IsLog() bool { return t.log }

// Unit returns the unit of Asinh; ok is false for other transforms.
func (t Transform) Unit() (unit float64, ok bool) { return t.unit, t.unit > 0 }

// Of names the transformed values of a column: log(NAME), asinh(NAME/UNIT) or NAME.
func (t Transform) Of(name string) string {
	switch {
	case t.log:
		return "log(" + name + ")"
	case t.unit > 0:
		return fmt.Sprintf("asinh(%s/%v)", name, t.unit)
	}
	return name
}

// Titled returns the transform and the column that Of made a title of; ok is false for a
// title without a transform. No name may have parentheses.
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

// Apply returns the transformed value. It has the same bits on every architecture.
// Logarithms of 0 and less are -Inf.
func (t Transform) Apply(x float64) float64 {
	switch {
	case t.log:
		return logarithm(x)
	case t.unit > 0:
		return arsinh(x / t.unit)
	}
	return x
}

// Invert returns the value whose transformed one is y. Its last bits may differ between
// architectures, so it is for showing only.
func (t Transform) Invert(y float64) float64 {
	switch {
	case t.log:
		return math.Exp(y)
	case t.unit > 0:
		return t.unit * math.Sinh(y)
	}
	return y
}

// Spread returns the typical deviation of transformed values that a declared spread stands
// for. Under a transform people declare a factor above 1: two thirds of the values lie
// between the centre divided by it and the centre times it, which is ln(factor) on the
// scale of logarithms, and on that of asinh well above its unit.
func (t Transform) Spread(declared float64) (float64, error) {
	if t.IsZero() {
		return declared, nil
	}
	if !(declared > 1) || !finite(declared) {
		return 0, fmt.Errorf("spread %v: under a transform it is a factor above 1", declared)
	}
	return logarithm(declared), nil
}

// Bounds returns the scale with public least and greatest values before the transform: lo
// is encoded as 0 and hi as 2^f. It refuses bounds that are not finite or not in order,
// those whose distance is beyond float64, and a lower one that has no logarithm.
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

// CentreSpread returns the scale with a public typical value before the transform, and a
// spread as Spread takes it: centre is encoded as 0, and three spreads on either side of
// it, after the transform, as ±2^f. It refuses a centre or spread that is not finite, a
// spread that is not positive (or no factor above 1), and a centre without a logarithm.
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
	if !finite(reach*deviation) || !finite(math.Abs(middle)+reach*deviation) {
		return Scale{}, fmt.Errorf("centre %v, spread %v: too large", centre, spread)
	}
	return Scale{centre: middle, spread: deviation, transform: t, declared: [2]float64{centre, spread}}, nil
}

// ln 2 in two parts: the product of the first with any exponent is exact.
const (
	ln2High = 0x1.62e42feep-1
	ln2Low  = math.Ln2 - ln2High
)

// logarithm is ln x within 2 units in the last place, and the same bits everywhere: it
// consists of exact steps and of single correctly rounded operations, and every product
// that a sum follows is converted explicitly, which forbids fusing the two (Go
// specification, Floating-point operators). Beyond exact powers of two it is twice the
// series of the area tangent at s = (m-1)/(m+1), with m in [√½, √2) and so |s| ≤ 0.1716.
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

// tail is ln((1+s)/(1-s)) - 2s for |s| ≤ 0.1716: 2s(s²/3 + s⁴/5 + …).
func tail(s float64) float64 {
	square := float64(s * s)
	sum := 1.0 / 23
	for _, c := range [...]float64{1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3} {
		sum = c + float64(sum*square)
	}
	return float64(float64(2*s) * float64(square*sum))
}

// arsinh is the inverse of the hyperbolic sine, by the same rules as logarithm.
func arsinh(x float64) float64 {
	y := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return x
	case y > 1<<28: // 1 beside y² is beyond the last place
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
