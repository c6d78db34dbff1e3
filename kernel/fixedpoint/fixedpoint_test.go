package fixedpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func mustBounds(t testing.TB, lo, hi float64) Scale {
	t.Helper()
	s, err := Bounds(lo, hi)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustCentre(t testing.TB, centre, spread float64) Scale {
	t.Helper()
	s, err := CentreSpread(centre, spread)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScalesRefused(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, b := range [][2]float64{{0, 0}, {1, 0}, {nan, 1}, {0, nan}, {-inf, 0}, {0, inf}, {-math.MaxFloat64, math.MaxFloat64}} {
		if s, err := Bounds(b[0], b[1]); err == nil || !s.IsZero() {
			t.Errorf("Bounds(%v, %v) = %v, %v", b[0], b[1], s, err)
		}
	}
	for _, c := range [][2]float64{{0, 0}, {0, -1}, {nan, 1}, {0, nan}, {inf, 1}, {0, inf}, {0, math.MaxFloat64 / 2}, {math.MaxFloat64, math.MaxFloat64 / 4}} {
		if s, err := CentreSpread(c[0], c[1]); err == nil || !s.IsZero() {
			t.Errorf("CentreSpread(%v, %v) = %v, %v", c[0], c[1], s, err)
		}
	}
}

func TestEncode(t *testing.T) {
	bounds, centre := mustBounds(t, -1, 3), mustCentre(t, 47, 21)
	for _, c := range []struct {
		scale   Scale
		x       float64
		bits    Bits
		want    int64
		clamped bool
	}{
		{bounds, -1, 8, 0, false},
		{bounds, 3, 8, 256, false},
		{bounds, 1, 8, 128, false},
		{bounds, -1 + 4.0*2.5/256, 8, 3, false}, // half away from zero
		{bounds, -1.0001, 8, 0, true},
		{bounds, 3.0001, 8, 256, true},
		{bounds, math.Inf(1), 14, 1 << 14, true},
		{bounds, math.Inf(-1), 14, 0, true},
		{bounds, math.NaN(), 8, 128, true},
		{centre, 47, 10, 0, false},
		{centre, 47 + 63, 10, 1024, false},
		{centre, 47 - 63, 10, -1024, false},
		{centre, 47 + 21, 10, 341, false},
		{centre, 47 - 63*0.5/1024, 10, -1, false}, // half away from zero
		{centre, 110.1, 10, 1024, true},
		{centre, -16.1, 10, -1024, true},
		{centre, math.MaxFloat64, 10, 1024, true},
		{centre, -math.MaxFloat64, 10, -1024, true},
		{centre, math.NaN(), 10, 0, true},
	} {
		if got, clamped := c.scale.Encode(c.x, c.bits); got != c.want || clamped != c.clamped {
			t.Errorf("%v: Encode(%v, %d) = %d, %v; want %d, %v", c.scale, c.x, c.bits, got, clamped, c.want, c.clamped)
		}
	}
}

func TestConstants(t *testing.T) {
	bounds, centre := mustBounds(t, 10, 20), mustCentre(t, 5, 2)
	if got := []int64{bounds.Missing(10), bounds.Range(10), centre.Missing(10), centre.Range(10)}; got[0] != 512 || got[1] != 1024 || got[2] != 0 || got[3] != 2048 {
		t.Errorf("missing and range: %v", got)
	}
	if bounds.Step(10) != 10.0/1024 || bounds.Origin() != 10 || centre.Step(10) != 6.0/1024 || centre.Origin() != 5 {
		t.Error("step or origin")
	}
	if lo, hi, ok := bounds.Bounds(); lo != 10 || hi != 20 || !ok {
		t.Error("Bounds accessor")
	}
	if _, _, ok := bounds.CentreSpread(); ok {
		t.Error("bounds answer as centre and spread")
	}
	if c, s, ok := centre.CentreSpread(); c != 5 || s != 2 || !ok {
		t.Error("CentreSpread accessor")
	}
	if _, _, ok := centre.Bounds(); ok {
		t.Error("centre and spread answer as bounds")
	}
	for want, s := range map[string]Scale{"no scale": {}, "bounds [10, 20]": bounds, "centre 5, spread 2": centre} {
		if s.String() != want {
			t.Errorf("String = %q, want %q", s, want)
		}
	}
	if got := bounds.Short() + "; " + centre.Short(); got != "[10, 20]; centre 5, spread 2" {
		t.Error(got)
	}
	if Weight(0.3, 10) != 307 || Weight(1, 14) != 1<<14 || Weight(2, 8) != 256 || Weight(-1, 8) != 0 {
		t.Error("Weight")
	}
	for f, ok := range map[Bits]bool{-1: false, 0: false, 1: true, 14: true, 15: false} {
		if (f.Check() == nil) != ok {
			t.Errorf("%d bits: %v", f, f.Check())
		}
	}
}

func drawScale(t *rapid.T) Scale {
	a := rapid.Float64Range(-1e6, 1e6).Draw(t, "a")
	b := rapid.Float64Range(1e-3, 1e6).Draw(t, "b")
	var s Scale
	var err error
	if rapid.Bool().Draw(t, "bounds") {
		s, err = Bounds(a, a+b)
	} else {
		s, err = CentreSpread(a, b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Encoding is monotone, stays in range, reports clamping, and can be inverted up to half a step.
func TestEncodeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScale(t)
		f := Bits(rapid.IntRange(1, int(MaxBits)).Draw(t, "bits"))
		half := s.Step(f) * float64(f.One())
		x := s.Origin() + rapid.Float64Range(-1.5, 1.5).Draw(t, "x")*half
		y := s.Origin() + rapid.Float64Range(-1.5, 1.5).Draw(t, "y")*half
		v, clamped := s.Encode(x, f)
		w, _ := s.Encode(y, f)
		if v < s.least(f) || v > f.One() {
			t.Fatalf("%d out of range", v)
		}
		if x <= y && v > w || x >= y && v < w {
			t.Fatalf("not monotone: %v → %d, %v → %d", x, v, y, w)
		}
		back := s.Origin() + float64(v)*s.Step(f)
		slack := s.Step(f)/2 + 1e-9*(half+math.Abs(x))
		if !clamped && math.Abs(back-x) > slack {
			t.Fatalf("%v came back as %v, step %v", x, back, s.Step(f))
		}
		if clamped && v != s.least(f) && v != f.One() {
			t.Fatalf("clamped to %d", v)
		}
		if max(v, w)-min(v, w) > s.Range(f) {
			t.Fatalf("change from %d to %d exceeds %d", v, w, s.Range(f))
		}
	})
}

func TestSquareIsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Bits(rapid.IntRange(1, int(MaxBits)).Draw(t, "bits"))
		v := rapid.Int64Range(-f.One(), f.One()).Draw(t, "v")
		got := Square(v, f)
		if got < 0 || got > f.One() {
			t.Fatalf("Square(%d) = %d", v, got)
		}
		if d := got*f.One() - v*v; d > f.One()/2 || d < -f.One()/2 {
			t.Fatalf("Square(%d) = %d is not nearest", v, got)
		}
	})
	if Square(-1<<14, 14) != 1<<14 {
		t.Error("Square(-1) is not 1")
	}
}

// AutoBits equals the rule computed in floats, away from ties.
func TestAutoBits(t *testing.T) {
	for k := 1; k < 1<<13; k++ {
		f := AutoBits(k)
		bias := func(f Bits) float64 { return 3 / float64(f.One()) }
		limit := 0.01 / math.Sqrt(float64(k))
		if f < MaxBits && bias(f) >= limit {
			t.Fatalf("k=%d: %d bits are too few", k, f)
		}
		if bias(f-1) < limit {
			t.Fatalf("k=%d: %d bits are more than needed", k, f)
		}
	}
	for k, want := range map[int]Bits{1: 9, 32: 11, 256: 13, 1024: 14, 2982: 14, 1 << 24: 14, 0: 9} {
		if got := AutoBits(k); got != want {
			t.Errorf("AutoBits(%d) = %d, want %d", k, got, want)
		}
	}
}

// One digest over 10,000 encoded values pins the integers on every architecture. The scales have no
// short binary form, so that a different order of rounding, such as a fused multiply-add, would
// change the digest.
func TestGolden(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	h := sha256.New()
	for i := range 10000 {
		// Quotients, so that computing the inputs involves nothing to fuse.
		a, b := float64(rng.IntN(1e6)-5e5)/977, float64(rng.IntN(1e5)+1)/1013
		s := mustCentre(t, a, b)
		if i%2 == 0 {
			s = mustBounds(t, a, a+b)
		}
		f := Bits(rng.IntN(int(MaxBits)) + 1)
		v, clamped := s.Encode(a+b*float64(rng.IntN(9000)-4500)/1024, f)
		if clamped {
			v += 1 << 20
		}
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
	}
	const want = "47eac69ca570d369554c84a5376bb5cb8c874bc25e160af0519a71f01f7cd134"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func BenchmarkEncode(b *testing.B) {
	s := mustCentre(b, 47, 21)
	var sum int64
	x := 0.0
	for b.Loop() {
		v, _ := s.Encode(x, 14)
		sum += v
		x += 0.25
	}
	_ = sum
}
