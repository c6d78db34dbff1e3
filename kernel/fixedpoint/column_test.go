package fixedpoint

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A column is encoded like its values one by one: also at the limits of the range, at half steps,
// and up to the first value that is not finite.
func TestEncodeColumnIsEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, f := drawScale(t), Bits(rapid.IntRange(1, int(MaxBits)).Draw(t, "bits"))
		stride := rapid.IntRange(1, 3).Draw(t, "stride")
		value := rapid.OneOf(
			rapid.Custom(func(t *rapid.T) float64 { // a half step, or next to one
				n := rapid.Int64Range(-2*f.One()-3, 2*f.One()+3).Draw(t, "n")
				return math.Nextafter(s.Origin()+(float64(n)+0.5)*s.Step(f), rapid.Float64().Draw(t, "toward"))
			}),
			rapid.Float64(),
			rapid.SampledFrom([]float64{s.lo, s.hi, s.centre - reach*s.spread, s.centre + reach*s.spread, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}),
		)
		x := rapid.SliceOfN(value, 0, 8).Draw(t, "x")
		dst := make([]int64, len(x)*stride+1)
		for i := range dst {
			dst[i] = -1 << 40
		}
		encoded, clamped := s.EncodeColumn(dst, stride, x, f)
		want := 0
		for i, v := range dst {
			if i%stride != 0 || i/stride >= encoded {
				if v != -1<<40 {
					t.Fatalf("place %d is overwritten", i)
				}
				continue
			}
			one, moved := s.Encode(x[i/stride], f)
			if v != one {
				t.Fatalf("%v: EncodeColumn(%v) = %d, Encode %d", s, x[i/stride], v, one)
			}
			if moved {
				want++
			}
		}
		if clamped != want || encoded < len(x) && finite(x[encoded]) || encoded > len(x) {
			t.Fatalf("%v: %d of %v encoded, %d clamped, want %d", s, encoded, x, clamped, want)
		}
	})
}

// round equals math.Round in the range where it is used.
func TestRound(t *testing.T) {
	for n := -1 << 15; n <= 1<<15; n++ {
		for _, y := range []float64{float64(n) / 2, math.Nextafter(float64(n)/2, math.Inf(1)), math.Nextafter(float64(n)/2, math.Inf(-1))} {
			if got := round(y); got != int64(math.Round(y)) {
				t.Fatalf("round(%v) = %d", y, got)
			}
		}
	}
}
