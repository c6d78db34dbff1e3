package fixedpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func asinhOf(t testing.TB, unit float64) Transform {
	t.Helper()
	out, err := Asinh(unit)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// mustScale returns a test's scale with a transform.
func mustScale(t testing.TB) func(Scale, error) Scale {
	return func(s Scale, err error) Scale {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// anything draws numbers of all magnitudes and both signs, including subnormal ones.
func anything(r *rand.Rand) float64 {
	for {
		if x := math.Float64frombits(r.Uint64()); finite(x) {
			return x
		}
	}
}

// Both transforms differ from the standard library's by a few units in the last place, over all
// magnitudes and where cancellation would show.
func TestTransformsAreAccurate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const tolerance = 1e-15
	off := func(have, want float64) bool { return math.Abs(have-want) > tolerance*math.Abs(want) }
	for range 200_000 {
		x := anything(r)
		y := math.Abs(x)
		want := math.Log(y)
		if y < 1e-300 { // on some processors math.Log is wrong for subnormal numbers
			want = math.Log(y*0x1p100) - 100*math.Ln2
		}
		if off(logarithm(y), want) {
			t.Fatalf("logarithm(%v) = %v, want %v", y, logarithm(y), want)
		}
		if y > 1e-300 && off(arsinh(x), math.Asinh(x)) {
			t.Fatalf("arsinh(%v) = %v, want %v", x, arsinh(x), math.Asinh(x))
		}
		near := 1 + (r.Float64()-0.5)/math.Exp(20*r.Float64())
		if off(logarithm(near), math.Log(near)) {
			t.Fatalf("logarithm(%v) = %v, want %v", near, logarithm(near), math.Log(near))
		}
		small := math.Exp(10 * (r.Float64() - 0.5)) // around the change of formulas
		if off(arsinh(small), math.Asinh(small)) {
			t.Fatalf("arsinh(%v) = %v, want %v", small, arsinh(small), math.Asinh(small))
		}
	}
	for x, want := range map[float64]float64{0: math.Inf(-1), -1: math.Inf(-1), 1: 0, math.Inf(1): math.Inf(1), math.E: 1} {
		if got := logarithm(x); got != want {
			t.Errorf("logarithm(%v) = %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1)} {
		if got := arsinh(x); got != x || math.Signbit(got) != math.Signbit(x) {
			t.Errorf("arsinh(%v) = %v", x, got)
		}
	}
	if !math.IsNaN(logarithm(math.NaN())) || !math.IsNaN(arsinh(math.NaN())) {
		t.Error("NaN")
	}
}

// One digest over the bits of many transformed numbers, which every other implementation and
// processor must reproduce.
func TestTransformsHaveTheSameBitsEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	h := sha256.New()
	for range 100_000 {
		x := anything(r)
		for _, y := range []float64{logarithm(math.Abs(x)), arsinh(x), logarithm(1 + r.Float64()), arsinh(4 * r.Float64())} {
			binary.Write(h, binary.BigEndian, math.Float64bits(y))
		}
	}
	const want = "d479216c8d915326d485bc10cf6555785a3d6d1035595f5475d3f09a21d0152c"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func TestTransformedScales(t *testing.T) {
	must := mustScale(t)
	amounts, typical := must(Log().Bounds(1, 1e6)), must(Log().CentreSpread(2000, 10))
	far := typical.Unlimited()
	signed, around := must(asinhOf(t, 100).Bounds(-1e4, 1e6)), must(asinhOf(t, 100).CentreSpread(0, math.E))
	for _, c := range []struct {
		scale   Scale
		x       float64
		want    int64
		clamped bool
	}{
		{amounts, 1, 0, false},
		{amounts, 1000, 512, false}, // the middle of the logarithms
		{amounts, 1e6, 1024, false},
		{amounts, 0.99, 0, true},
		{amounts, 0, 0, true},
		{amounts, -5, 0, true},
		{amounts, 2e6, 1024, true},
		{amounts, math.NaN(), 512, true},
		{typical, 2000, 0, false},
		{typical, 20_000, 341, false},  // one factor above: a third
		{typical, 200, -341, false},    // and below
		{typical, 2.1e6, 1024, true},   // beyond three
		{typical, 1.9, -1024, true},    //
		{typical, 0, -1024, true},      //
		{typical, -2000, -1024, true},  //
		{far, 2e6, 1024, false},        // not limited to three spreads
		{far, 2e9, 2048, false},        //
		{far, 2e-3, -2048, false},      //
		{far, 0, -1024, true},          // except without a logarithm
		{far, -5, -1024, true},         //
		{signed, -1e4, 0, false},       //
		{signed, 1e6, 1024, false},     //
		{signed, -1e5, 0, true},        //
		{around, 0, 0, false},          //
		{around, 100, 301, false},      // asinh(1)/3
		{around, -100, -301, false},    //
		{around, 1001.8, 1024, true},   // asinh(10.018) is above 3
		{around, 1001.7, 1024, false},  //
		{around, -1001.8, -1024, true}, //
	} {
		if got, clamped := c.scale.Encode(c.x, 10); got != c.want || clamped != c.clamped {
			t.Errorf("%v: Encode(%v) = %d, %v; want %d, %v", c.scale, c.x, got, clamped, c.want, c.clamped)
		}
	}
	if first, second := typical.Declared(); first != 2000 || second != 10 {
		t.Errorf("declared %v, %v", first, second)
	}
	if centre, spread, ok := typical.CentreSpread(); !ok || centre != logarithm(2000) || spread != logarithm(10) {
		t.Errorf("centre %v, spread %v, %v", centre, spread, ok)
	}
	for scale, want := range map[Scale]string{
		amounts: "transform log, bounds [1, 1e+06]", around: "transform asinh, unit 100, centre 0, spread 2.718281828459045",
	} {
		if scale.String() != want {
			t.Errorf("String = %q, want %q", scale, want)
		}
	}
	for transform, want := range map[Transform]string{{}: "pay", Log(): "log(pay)", asinhOf(t, 100): "asinh(pay/100)"} {
		got := transform.Of("pay")
		if got != want {
			t.Errorf("Of = %q, want %q", got, want)
		}
		if back, name, ok := Titled(got); ok == transform.IsZero() || ok && (back != transform || name != "pay") {
			t.Errorf("Titled(%q) = %v, %q, %v", got, back, name, ok)
		}
		for _, x := range []float64{1e-3, 1, 5664, 1e9} {
			if got := transform.Invert(transform.Apply(x)); math.Abs(got-x) > 1e-12*x {
				t.Errorf("%v comes back as %v from %s", x, got, want)
			}
		}
	}
}

func TestTitled(t *testing.T) {
	for _, title := range []string{"", "log", "log(", "log(x", "log x)", "asinh(x)", "asinh(x/)", "asinh(x/0)", "asinh(x/-2)", "asinh(x/y)", "asinh(x/2"} {
		if _, _, ok := Titled(title); ok {
			t.Errorf("%q has a transform", title)
		}
	}
}

func TestTransformedScalesRefused(t *testing.T) {
	asinh := asinhOf(t, 2)
	for name, err := range map[string]error{
		"log from 0":           second(Log().Bounds(0, 1)),
		"log from below 0":     second(Log().Bounds(-1, 1)),
		"log not in order":     second(Log().Bounds(2, 1)),
		"log, one logarithm":   second(Log().Bounds(1e300, math.Nextafter(1e300, 2e300))),
		"log around 0":         second(Log().CentreSpread(0, 2)),
		"log, factor 1":        second(Log().CentreSpread(5, 1)),
		"log, factor below 1":  second(Log().CentreSpread(5, 0.5)),
		"asinh, factor 1":      second(asinh.CentreSpread(5, 1)),
		"asinh, no number":     second(asinh.Bounds(math.NaN(), 1)),
		"asinh, infinite":      second(asinh.Bounds(0, math.Inf(1))),
		"asinh of unit 0":      second(Asinh(0)),
		"asinh of no unit":     second(Asinh(math.NaN())),
		"asinh, infinite unit": second(Asinh(math.Inf(1))),
		"asinh, beyond floats": second(asinhOf(t, 1e-300).Bounds(0, 1e300)),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A column is encoded like its values one by one, and encoding is monotone where logarithms exist.
func TestEncodeColumnTransforms(t *testing.T) {
	must := mustScale(t)
	scales := []Scale{
		must(Log().Bounds(1e-3, 1e6)), must(Log().CentreSpread(2000, 10)),
		must(asinhOf(t, 100).Bounds(-1e4, 1e6)), must(asinhOf(t, 0.5).CentreSpread(-3, 4)),
	}
	scales = append(scales, scales[1].Unlimited(), scales[3].Unlimited())
	rapid.Check(t, func(t *rapid.T) {
		s, f := rapid.SampledFrom(scales).Draw(t, "scale"), Bits(rapid.IntRange(1, int(MaxBits)).Draw(t, "bits"))
		values := rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1e3, 1e7)), 1, 20).Draw(t, "values")
		slices.Sort(values)
		dst := make([]int64, len(values))
		encoded, clamped := s.EncodeColumn(dst, 1, values, f)
		rising := dst
		if s.far && s.transform.IsLog() { // values of 0 and less do not count as outliers
			rising = dst[len(dst)-len(slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return x <= 0 })):]
		}
		if encoded != len(values) || !slices.IsSorted(rising) {
			t.Fatalf("%d of %d values encoded, as %v", encoded, len(values), dst)
		}
		for i, x := range values {
			v, moved := s.Encode(x, f)
			if v != dst[i] {
				t.Fatalf("%v: EncodeColumn(%v) = %d, Encode %d", s, x, dst[i], v)
			}
			if moved {
				clamped--
			}
		}
		if clamped != 0 {
			t.Fatalf("%d more are clamped in a column than one by one", clamped)
		}
		if encoded, _ := s.EncodeColumn(dst[:1], 1, []float64{math.NaN()}, f); encoded != 0 {
			t.Fatal("NaN is encoded")
		}
	})
}
