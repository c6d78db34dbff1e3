package dp

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func bigSquaredNorm(v []int64) *big.Int {
	sum := new(big.Int)
	for _, x := range v {
		b := big.NewInt(x)
		sum.Add(sum, b.Mul(b, b))
	}
	return sum
}

func TestClipL2Properties(t *testing.T) {
	entry := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-100, 100), rapid.Int64Range(-1<<20, 1<<20),
		rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 0}))
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(entry, 0, 12).Draw(t, "v")
		bound := rapid.OneOf(rapid.Int64Range(0, 1<<20), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "bound")
		limit := bigSquaredNorm([]int64{bound})
		before := slices.Clone(v)
		clipped := ClipL2(v, bound)
		if inside := bigSquaredNorm(before).Cmp(limit) <= 0; inside == clipped {
			t.Fatalf("clipping %v to %d reports %v", before, bound, clipped)
		}
		if !clipped && !slices.Equal(v, before) {
			t.Fatalf("a vector within %d was changed: %v to %v", bound, before, v)
		}
		if bigSquaredNorm(v).Cmp(limit) > 0 {
			t.Fatalf("%v clipped to %d is %v: too long", before, bound, v)
		}
		again := slices.Clone(v)
		if ClipL2(again, bound) {
			t.Fatalf("%v clipped to %d twice changes again", before, bound)
		}
		for i := range v {
			if v[i] != 0 && (v[i] > 0) != (before[i] > 0) {
				t.Fatalf("entry %d of %v changed sign", i, before)
			}
		}
	})
}

// TestClipL2KeepsDirection checks that clipping loses no more than rounding: each entry
// is within 2 of the exact scaling.
func TestClipL2KeepsDirection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Int64Range(-1<<30, 1<<30), 1, 12).Draw(t, "v")
		bound := rapid.Int64Range(1, 1<<30).Draw(t, "bound")
		before := slices.Clone(v)
		if !ClipL2(v, bound) {
			return
		}
		norm, _ := new(big.Float).Sqrt(new(big.Float).SetInt(bigSquaredNorm(before))).Float64()
		for i := range v {
			exact := float64(before[i]) / norm * float64(bound)
			if math.Abs(float64(v[i])-exact) > 2 {
				t.Fatalf("entry %d of %v clipped to %d is %d, want about %.2f", i, before, bound, v[i], exact)
			}
		}
	})
}

// TestScaleDividesExactly compares multiplication by the reciprocal with division, for all entries
// under a few norms, whose products with the bounds leave every remainder.
func TestScaleDividesExactly(t *testing.T) {
	var v []int64
	for _, norm := range []int64{2, 3, 1000, 1<<16 + 1, 1<<21 - 1, 1 << 21, 1<<21 + 1, 1<<22 - 1} {
		for _, bound := range []int64{1, norm / 2, norm*2/3 + 1, norm - 2, norm - 1} {
			if bound < 1 || bound >= norm || norm > 1<<22-2 && bound != norm-2 { // one bound of a long norm leaves all remainders
				continue
			}
			v = v[:0]
			for x := -norm; x <= norm; x++ {
				v = append(v, x)
			}
			scale(v, uint64(bound), uint64(norm))
			for i, got := range v {
				if x := int64(i) - norm; got != x*bound/norm {
					t.Fatalf("%d·%d/%d is %d, want %d", x, bound, norm, got, x*bound/norm)
				}
			}
		}
	}
}

func TestClipL2Examples(t *testing.T) {
	for _, c := range []struct {
		v       []int64
		bound   int64
		want    []int64
		clipped bool
	}{
		{nil, 0, nil, false},
		{[]int64{0, 0}, 0, []int64{0, 0}, false},
		{[]int64{1}, 0, []int64{0}, true},
		{[]int64{1}, -5, []int64{0}, true},
		{[]int64{3, -4}, 5, []int64{3, -4}, false},
		{[]int64{6, -8}, 5, []int64{3, -4}, true},
		{[]int64{math.MinInt64, 0}, 7, []int64{-7, 0}, true},
	} {
		v := slices.Clone(c.v)
		if clipped := ClipL2(v, c.bound); clipped != c.clipped || !slices.Equal(v, c.want) {
			t.Errorf("%v clipped to %d is %v (%v), want %v (%v)", c.v, c.bound, v, clipped, c.want, c.clipped)
		}
	}
}

func TestBeside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clip := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "clip")
		fixed := rapid.OneOf(rapid.Int64Range(-1000, 1000), rapid.Int64(), rapid.Just(clip), rapid.Just(clip-1)).Draw(t, "fixed")
		got, limit := RemainingClip(clip, fixed), bigSquaredNorm([]int64{clip})
		switch {
		case got < 0:
			t.Fatalf("beside %d of %d is %d", fixed, clip, got)
		case bigSquaredNorm([]int64{fixed}).Cmp(limit) >= 0:
			if got != 0 {
				t.Fatalf("beside %d of %d is %d, want nothing", fixed, clip, got)
			}
		case bigSquaredNorm([]int64{got, fixed}).Cmp(limit) > 0:
			t.Fatalf("beside %d of %d is %d: too long", fixed, clip, got)
		case bigSquaredNorm([]int64{got + 1, fixed}).Cmp(limit) <= 0:
			t.Fatalf("beside %d of %d is %d: one more fits", fixed, clip, got)
		}
	})
}

func TestLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		square := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "square")
		n, want := CeilSqrt(square), big.NewInt(square)
		if bigSquaredNorm([]int64{n}).Cmp(want) < 0 || n > 0 && bigSquaredNorm([]int64{n - 1}).Cmp(want) >= 0 {
			t.Fatalf("the length of %d is %d", square, n)
		}
	})
}

// Entries just above the limit for a one-word sum of squares are summed in two words. In one word
// the squares of 1025 of them would wrap around to less than the bound.
func TestClipL2OfSquaresThatWouldWrap(t *testing.T) {
	for _, entry := range []int64{1<<27 - 1, -1<<27 + 1, 1 << 26, 1<<26 - 1, -1 << 26} {
		for _, n := range []int{1025, 1<<12 - 1} {
			v := make([]int64, n)
			for i := range v {
				v[i] = entry
			}
			limit := bigSquaredNorm([]int64{1 << 28})
			if !ClipL2(v, 1<<28) || bigSquaredNorm(v).Cmp(limit) > 0 {
				t.Errorf("%d entries of %d are not clipped", n, entry)
			}
		}
	}
}
