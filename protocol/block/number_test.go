package block

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestInterval(t *testing.T) {
	for _, c := range []struct {
		estimate, low, high float64
		number, between     string
	}{
		{0.8312, 0.6789, 0.9999, "0.83", "[0.68, 1.00]"},
		{0.8312, 0.8306, 0.8318, "0.8312", "[0.8306, 0.8318]"},
		{-0.004, -0.31, 0.32, "0.00", "[-0.31, 0.32]"}, // no -0.00
		{0.7, -0.6, 1, "0.7", "[-0.6, 1.0]"},
		{1806.4, 1636.2, 1885, "1810", "[1640, 1890]"},
		{252533, 205597, 308996, "250000", "[210000, 310000]"},
		{-252533, -308996, -205597, "-250000", "[-310000, -210000]"},
		{3, -9.9e6, 9.9e6, "0", "[-10000000, 10000000]"},
		{1.234e13, 1.1e13, 1.4e13, "1.23e+13", "[1.10e+13, 1.40e+13]"},
		{1.5e-8, 1e-8, 2e-8, "1.5e-08", "[1.0e-08, 2.0e-08]"},
		{12, 12, 12, "12", "[12, 12]"},                                                 // exact
		{0.1234567891, 0.1234567891, 0.1234567891, "0.123457", "[0.123457, 0.123457]"}, // exact, six digits
		{1, 2, 1, "1", "[2, 1]"},                                                       // no interval at all
	} {
		number, between := Interval(c.estimate, c.low, c.high)
		if number != c.number || between != c.between {
			t.Errorf("Interval(%v, %v, %v) = %s %s, want %s %s", c.estimate, c.low, c.high, number, between, c.number, c.between)
		}
	}
}

// A printed number is within half a unit of the last place that the interval's width leaves, and
// has at most mostDigits digits.
func TestRoundingKeepsWhatTheIntervalLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1e15, 1e15).Draw(t, "x") * math.Pow10(rapid.IntRange(-20, 5).Draw(t, "scale"))
		width := math.Abs(x) * math.Pow(10, rapid.Float64Range(-6, 3).Draw(t, "width"))
		low, high := x-width/2, x+width/2
		place, ok := lastPlace(low, high)
		if !ok {
			t.Skip("no width left")
		}
		number, _ := Interval(x, low, high)
		got, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatalf("printed %q: %v", number, err)
		}
		if slack := math.Pow10(place)/2 + 1e-12*math.Abs(x); math.Abs(got-x) > slack*(1+1e-9) {
			t.Fatalf("%v printed as %s, off by more than %g", x, number, slack)
		}
		mantissa, _, _ := strings.Cut(number, "e")
		digits := strings.TrimLeft(strings.NewReplacer("-", "", ".", "").Replace(mantissa), "0")
		if len(strings.TrimRight(digits, "0")) > mostDigits {
			t.Fatalf("%v printed as %s: %d digits", x, number, len(digits))
		}
	})
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1 kB", 2040: "2.04 kB", 30720: "30.7 kB", 656_700: "657 kB", 999_600: "1000 kB", 1_650_000: "1.65 MB", 6_400_000_000: "6.4 GB", 12_345_000_000_000: "12345 GB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d are %q, want %q", n, got, want)
		}
	}
}
