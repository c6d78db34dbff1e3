package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Coverage of squared distance, squared norm and inner product over 2,000 draws
// for each combination of projection and noise. The standard error of a coverage
// of .95 is .005, so the limits of .93 and .97 are four of them away; intervals
// that leave the projection or the noise out fall far below.
func TestRecordsCoverage(t *testing.T) {
	const d, trials, b = 60, 2000, 0.35
	laplaceNoise := Noise{Variance: 2 * b * b, FourthCumulant: 12 * math.Pow(b, 4)}
	for _, test := range []struct {
		name     string
		k        int
		project  func(*rand.Rand, int, [][]float64) [][]float64
		noise    Noise
		high     float64 // upper limit of the coverage
		identity bool
	}{
		{"gaussian projection and noise", 32, gaussianMatrix, Noise{Variance: 0.25}, 0.97, false},
		{"signs and gaussian noise", 32, rademacher, Noise{Variance: 0.25}, 0.985, false},
		{"count sketch and laplace noise", 48, countSketch, laplaceNoise, 0.985, false},
		{"signs without noise", 64, rademacher, Noise{}, 0.985, false},
		{"identity and laplace noise", d, identity, laplaceNoise, 0.97, true},
		{"identity and gaussian noise", d, identity, Noise{Variance: 0.25}, 0.97, true},
	} {
		rng := rand.New(rand.NewPCG(11, uint64(test.k)))
		points := make([][]float64, 2)
		for range d {
			x := rng.NormFloat64()
			points[0] = append(points[0], x)
			points[1] = append(points[1], 0.6*x+0.8*rng.NormFloat64())
		}
		z := make([]float64, d)
		for i := range z {
			z[i] = points[0][i] - points[1][i]
		}
		var distance, norm, product tally
		r := Records{K: test.k, Noise: test.noise, Identity: test.identity}
		for range trials {
			s := test.project(rng, test.k, points)
			for j := range s {
				for i := range s[j] {
					if test.noise.FourthCumulant > 0 {
						s[j][i] += b * laplace(rng)
					} else {
						s[j][i] += math.Sqrt(test.noise.Variance) * rng.NormFloat64()
					}
				}
			}
			distance.add(must(t)(r.SquaredDistance(s[0], s[1], 0)), dot(z, z))
			norm.add(must(t)(r.SquaredNorm(s[0], 0)), dot(points[0], points[0]))
			product.add(must(t)(r.InnerProduct(s[0], s[1], 0)), dot(points[0], points[1]))
		}
		for what, c := range map[string]*tally{"distance": &distance, "norm": &norm, "product": &product} {
			t.Logf("%s, %s: coverage %.3f, mean width %.1f", test.name, what, c.coverage(), c.width/trials)
			if got := c.coverage(); got < 0.93 || got > test.high || c.undefined > 0 {
				t.Errorf("%s, %s: coverage %.3f", test.name, what, got)
			}
		}
	}
}

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
	// Two equal records: the estimate may be negative, its interval not.
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
