package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func identity(_ *rand.Rand, _ int, points [][]float64) [][]float64 {
	out := make([][]float64, len(points))
	for i, p := range points {
		out[i] = append([]float64(nil), p...)
	}
	return out
}

func must(t *testing.T) func(Estimate, error) Estimate {
	return func(e Estimate, err error) Estimate {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
}

func TestSquaredDistanceByHand(t *testing.T) {
	laplace := Noise{Variance: 2, FourthCumulant: 12}
	r := Records{K: 100, Noise: laplace}
	x, y := make([]float64, 100), make([]float64, 100)
	for i := range x {
		x[i] = 3
	}
	e := must(t)(r.SquaredDistance(x, y, 0))
	if e.Interval.Estimate != 500 { // 900 − 2·100·2
		t.Errorf("distance is %v, want 500", e)
	}
	// Both ends solve (D − t)² = z²(2t²/k + 8vt + 8kv² + 2kκ).
	z := Level(0).z()
	for _, end := range []float64{e.Low, e.High} {
		variance := 2*end*end/100 + 8*2*end + 8*100*4 + 2*100*12
		if got := math.Abs(500-end) / math.Sqrt(variance); math.Abs(got-z) > 1e-9 {
			t.Errorf("end %g is %g deviations away, want %g", end, got, z)
		}
	}
	// Two equal records: the estimate may be negative, but not its interval.
	if e := must(t)(r.SquaredDistance(x, x, 0)); e.Interval.Estimate != -400 || e.Low != 0 {
		t.Errorf("distance of a record to itself is %v, want -400 and an interval from 0", e)
	}
}

func TestRecordsRefuse(t *testing.T) {
	for _, test := range []struct {
		r    Records
		x    []float64
		want string
	}{
		{Records{}, nil, "k = 0"},
		{Records{K: 2}, []float64{1}, "1 coordinates instead of 2"},
		{Records{K: 1, Noise: Noise{Variance: -1}}, []float64{1}, "noise variance"},
	} {
		_, distance := test.r.SquaredDistance(test.x, test.x, 0)
		_, norm := test.r.SquaredNorm(test.x, 0)
		_, product := test.r.InnerProduct(test.x, test.x, 0)
		for _, err := range []error{distance, norm, product} {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		}
	}
	// The score interval needs k > 2z².
	small := Records{K: 7, Noise: Noise{Variance: 1, FourthCumulant: 1}}
	if e := must(t)(small.SquaredNorm(make([]float64, 7), 0)); !strings.Contains(e.Undefined, "k = 7 is too small") {
		t.Errorf("interval at k = 7 is %v", e)
	}
}

func ExampleRecords_SquaredDistance() {
	// Sketched records with Laplace noise of scale 0.1 on each of 16 coordinates.
	noise := Noise{Variance: 2 * 0.1 * 0.1, FourthCumulant: 12 * 0.1 * 0.1 * 0.1 * 0.1}
	x := []float64{1, 0, 2, 0, 1, 0, 0, 1, 3, 0, 1, 0, 0, 0, 1, 0}
	y := []float64{0, 0, 1, 0, 1, 2, 0, 1, 1, 0, 1, 0, 1, 0, 1, 1}
	e, err := Records{K: 16, Noise: noise}.SquaredDistance(x, y, 0.9)
	if err != nil {
		panic(err)
	}
	fmt.Println(e)
	// Output: 11.36 [6.94008, 28.0443]
}

// Distances gives what SquaredDistance gives, for every kind of noise.
func TestDistancesAreSquaredDistances(t *testing.T) {
	x, y := make([]float64, 40), make([]float64, 40)
	var raw float64
	for i := range x {
		x[i], y[i] = float64(i%7), float64(i%3)
		raw += (x[i] - y[i]) * (x[i] - y[i])
	}
	for _, r := range []Records{
		{K: 40}, {K: 40, Identity: true}, {K: 40, Noise: Noise{Variance: 2}}, {K: 40, Noise: Noise{Variance: 2}, Identity: true},
		{K: 40, Noise: Noise{Variance: 2, FourthCumulant: 12}}, {K: 40, Noise: Noise{Variance: 2, Sources: 12}},
	} {
		for _, level := range []Level{0, 0.5, 1 - 1e-9} {
			want, err := r.SquaredDistance(x, y, level)
			if err != nil {
				t.Fatal(err)
			}
			d, err := r.Distances(level)
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Of(raw); got != want {
				t.Errorf("%+v at %g: %v, want %v", r, float64(level), got, want)
			}
		}
	}
	if _, err := (Records{}).Distances(0); err == nil {
		t.Error("records of no coordinates passed")
	}
	if _, err := (Records{K: 1}).Distances(2); err == nil {
		t.Error("level 2 passed")
	}
}
