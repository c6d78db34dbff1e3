package dp

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func (a uint128) big() *big.Int {
	b := new(big.Int).SetUint64(a.hi)
	return b.Or(b.Lsh(b, 64), new(big.Int).SetUint64(a.lo))
}

func drawUint128(t *rapid.T, label string) uint128 {
	return uint128{rapid.Uint64().Draw(t, label+".hi"), rapid.Uint64().Draw(t, label+".lo")}
}

func TestUint128(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawUint128(t, "a"), drawUint128(t, "b")
		if a.less(b) != (a.big().Cmp(b.big()) < 0) {
			t.Fatalf("%v < %v is wrong", a, b)
		}
		if b.less(a) {
			a, b = b, a
		}
		if got, want := b.minus(a).big(), new(big.Int).Sub(b.big(), a.big()); got.Cmp(want) != 0 {
			t.Fatalf("%v - %v is %v", b, a, got)
		}
		if got, want := multiply(a.lo, b.lo).big(), new(big.Int).Mul(new(big.Int).SetUint64(a.lo), new(big.Int).SetUint64(b.lo)); got.Cmp(want) != 0 {
			t.Fatalf("%d·%d is %v", a.lo, b.lo, got)
		}
		if got, want := a.leadingZeros(), uint(128-a.big().BitLen()); got != want {
			t.Fatalf("%v has %d leading zeros, got %d", a, want, got)
		}
		if z := a.leadingZeros(); z < 128 {
			if got, want := a.shifted(z).big(), new(big.Int).Lsh(a.big(), z); got.Cmp(want) != 0 {
				t.Fatalf("%v shifted by %d is %v", a, z, got)
			}
		}
		a.hi >>= 2
		if got, want := a.root(), new(big.Int).Sqrt(a.big()).Uint64(); got != want {
			t.Fatalf("root of %v is %d, want %d", a, got, want)
		}
	})
}

// TestRootOfSmall tests squares and their neighbours, up to where float64 holds integers and
// beyond.
func TestRootOfSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.Uint64Range(1, 1<<27).Draw(t, "root")
		for add, want := range map[int64]uint64{-1: r - 1, 0: r, 1: r, int64(2 * r): r} {
			if got := (uint128{lo: r*r + uint64(add)}).root(); got != want {
				t.Fatalf("root of %d² + %d is %d, want %d", r, add, got, want)
			}
		}
	})
}

func TestProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		factors := rapid.SliceOfN(rapid.Int64Range(-2, 1<<40), 0, 4).Draw(t, "factors")
		want, negative := big.NewInt(1), false
		for _, f := range factors {
			want.Mul(want, big.NewInt(f))
			negative = negative || f < 0
		}
		got, err := product(factors...)
		if (err == nil) && (negative || want.Cmp(big.NewInt(got)) != 0) {
			t.Fatalf("product of %v is %d, want %v or an error", factors, got, want)
		}
		if err != nil && !negative && want.IsInt64() && want.Sign() > 0 {
			t.Fatalf("product of %v refused, want %v", factors, want)
		}
	})
}

// A factor of 0 makes any product fit.
func TestProductWithZero(t *testing.T) {
	for _, factors := range [][]int64{{0}, {3, 0, 2}, {0, 1 << 62, 4}} {
		if got, err := product(factors...); got != 0 || err != nil {
			t.Errorf("product of %v is %d, %v", factors, got, err)
		}
	}
}
