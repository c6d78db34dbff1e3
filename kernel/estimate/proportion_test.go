package estimate

import (
	"math"
	"testing"
)

// TestWilson: both ends solve (p̂-p)² = z²p(1-p)/n, which defines the interval, and equal the
// formula's values computed by hand.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		x, n      int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		e := Proportion(c.x, c.n, DefaultLevel)
		if math.Abs(e.Low-c.low) > 5e-5 || math.Abs(e.High-c.high) > 5e-5 {
			t.Errorf("%d of %d: [%.4f, %.4f], want [%.4f, %.4f]", c.x, c.n, e.Low, e.High, c.low, c.high)
		}
		z, p := DefaultLevel.z(), e.Interval.Estimate
		for _, end := range []float64{e.Low, e.High} {
			if d := (p-end)*(p-end) - z*z*end*(1-end)/float64(c.n); math.Abs(d) > 1e-12 {
				t.Errorf("%d of %d: end %v misses by %v", c.x, c.n, end, d)
			}
		}
	}
	if Proportion(0, 0, DefaultLevel).Defined() || Proportion(1, 2, 2).Defined() {
		t.Error("no trials, or a level of 2, have an interval")
	}
}

// TestWilsonCovers sums the binomial distribution: coverage is near the level on average, and
// nowhere far below it.
func TestWilsonCovers(t *testing.T) {
	const n = 50
	var sum, least, count float64 = 0, 1, 0
	for p := 0.02; p < 0.985; p += 0.004 {
		covered := 0.0
		for x := 0; x <= n; x++ {
			if e := Proportion(x, n, DefaultLevel); e.Low <= p && p <= e.High {
				covered += math.Exp(choose(n, x) + float64(x)*math.Log(p) + float64(n-x)*math.Log(1-p))
			}
		}
		sum, least, count = sum+covered, math.Min(least, covered), count+1
	}
	if mean := sum / count; mean < 0.945 || mean > 0.96 || least < 0.88 {
		t.Errorf("coverage %.4f on average, %.4f at least", mean, least)
	}
}

func choose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

func TestAffine(t *testing.T) {
	e := Proportion(60, 100, DefaultLevel)
	same, wider := e.Affine(1, 0), e.Affine(2, -0.5)
	if same != e {
		t.Errorf("%v became %v", e, same)
	}
	if math.Abs(wider.Interval.Estimate-0.7) > 1e-12 || wider.Low != 2*e.Low-0.5 || wider.High != 2*e.High-0.5 || math.Abs(wider.StandardError-2*e.StandardError) > 1e-12 {
		t.Errorf("%v became %v", e, wider)
	}
	if far := e.Affine(4, -1); far.Interval.Estimate <= 1 || far.High != 1 {
		t.Errorf("%v: the number is unbiased and not cut, the interval is", far)
	}
}
