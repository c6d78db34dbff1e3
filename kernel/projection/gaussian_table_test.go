package projection

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"math"
	"math/big"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of the family gaussian")

// fraction is the number of binary digits that the generator computes with. Terms of the series
// below reach 2^46, and a few hundred rounding errors add up.
const fraction = 256

// arctangent returns 2^fraction·atan(1/n) by its series.
func arctangent(n int64) *big.Int {
	power := new(big.Int).Lsh(big.NewInt(1), fraction)
	power.Quo(power, big.NewInt(n))
	sum, square := new(big.Int), big.NewInt(n*n)
	for i := int64(0); power.Sign() > 0; i++ {
		term := new(big.Int).Quo(power, big.NewInt(2*i+1))
		if i%2 == 0 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
		power.Quo(power, square)
	}
	return sum
}

// density0 returns 2^fraction·√(2/π), by Machin's formula for π.
func density0() *big.Int {
	pi := new(big.Int).Mul(arctangent(5), big.NewInt(16))
	pi.Sub(pi, new(big.Int).Mul(arctangent(239), big.NewInt(4)))
	quotient := new(big.Int).Lsh(big.NewInt(2), 3*fraction)
	quotient.Quo(quotient, pi)
	return quotient.Sqrt(quotient)
}

// within returns round(2^63·P(|N(0,1)| < (j − 1/2)/4096)) from the series
// P(|N| < x) = √(2/π)·Σ (−1)ⁿ x^(2n+1) / (2ⁿ n! (2n+1)), in integers. With
// x = (2j − 1)/2^13, x²/2 is (2j − 1)²/2^27.
func within(j int64, density *big.Int) uint64 {
	odd, square := big.NewInt(2*j-1), big.NewInt((2*j-1)*(2*j-1))
	power := new(big.Int).Mul(density, odd) // √(2/π)·x·(−x²/2)ⁿ/n!
	power.Rsh(power, 13)
	sum, term, small := new(big.Int), new(big.Int), new(big.Int)
	for n := int64(0); power.Sign() != 0; {
		sum.Add(sum, term.Quo(power, small.SetInt64(2*n+1)))
		n++
		power.Mul(power, square)
		power.Quo(power, small.SetInt64(-n<<27))
	}
	sum.Rsh(sum, fraction-64)
	return (sum.Uint64() + 1) >> 1
}

// The table equals its definition, and its digest is pinned.
func TestGaussianTable(t *testing.T) {
	density := density0()
	thresholds := make([]uint64, gaussianLargest, gaussianLargest+1)
	for i := range thresholds {
		thresholds[i] = within(int64(i)+1, density)
	}
	var table []byte
	count := 0
	for g := range uint64(1<<guideBits + 1) {
		for count < len(thresholds) && thresholds[count] <= g<<guideShift {
			count++
		}
		table = binary.LittleEndian.AppendUint16(table, uint16(count))
	}
	for i, v := range append(thresholds, 1<<63) {
		if i > 0 && v < thresholds[i-1] || v > 1<<63-1 && i < gaussianLargest {
			t.Fatalf("threshold %d is %d, after %d", i+1, v, thresholds[max(i, 1)-1])
		}
		table = binary.LittleEndian.AppendUint64(table, v)
	}
	if *update {
		if err := os.WriteFile("gaussian.table", table, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(table) != gaussianTable {
		t.Error("the table is not what this test computes; -update rewrites it")
	}
	const want = "a74301b42245f4e3b361eca57c8b909c4dd6977961b96ec4a2b9a20715247e37"
	sum := sha256.Sum256(table)
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// Thresholds agree with math.Erf, computed without the generator.
func TestGaussianTableAgreesWithErf(t *testing.T) {
	for j := 1; j <= gaussianLargest; j++ {
		want := math.Erf((float64(j) - 0.5) / gaussianUnit / math.Sqrt2)
		if got := float64(threshold(j)) / (1 << 63); math.Abs(got-want) > 4e-16 {
			t.Fatalf("threshold %d: %v, want %v", j, got, want)
		}
	}
}

// The guide does not change results: a magnitude is the number of thresholds that are at most u.
// This is checked by counting at, below and above thresholds, and at the ends of the guide's steps.
func TestMagnitude(t *testing.T) {
	count := 0
	check := func(u uint64, want int) {
		t.Helper()
		if got := magnitude(u); got != want {
			t.Fatalf("magnitude of %d: %d, want %d", u, got, want)
		}
	}
	check(0, 0)
	check(1<<63-1, gaussianLargest)
	for j := 1; j <= gaussianLargest; j++ {
		if v := threshold(j); j == gaussianLargest || threshold(j+1) > v {
			check(v, j)
			check(v-1, count)
			count = j
		}
	}
	count = 0
	for g := range uint64(1 << guideBits) {
		for count < gaussianLargest && threshold(count+1) <= g<<guideShift {
			count++
		}
		check(g<<guideShift, count)
	}
}

// The exact moments of an entry, from the table: variance 4096² and fourth moment 3 times its
// square, up to what rounding to integers adds. A unit off by one in a thousand would fail.
func TestGaussianMoments(t *testing.T) {
	var second, fourth, last float64
	for j := 1; j <= gaussianLargest+1; j++ {
		next := 1.0
		if j <= gaussianLargest {
			next = float64(threshold(j)) / (1 << 63)
		}
		v := float64(j-1) / gaussianUnit
		second += (next - last) * v * v
		fourth += (next - last) * v * v * v * v
		last = next
	}
	if math.Abs(second-1-1.0/12/gaussianUnit/gaussianUnit) > 1e-11 {
		t.Errorf("second moment %.12f", second)
	}
	if math.Abs(fourth-3) > 1e-6 {
		t.Errorf("fourth moment %.9f", fourth)
	}
}
