package cluster

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/distance"
	"github.com/cosketch/cosketch/kernel/estimate"
)

// noised draws records of clusters with these distances apart and spreads within, and returns them
// without and with noise of variance v.
func noised(rng *rand.Rand, n, d, clusters int, apart, within, v float64) (truth, points *mat.Dense) {
	centres := mat.NewDense(clusters, d, nil)
	for i := range centres.RawMatrix().Data {
		centres.RawMatrix().Data[i] = apart / math.Sqrt(2*float64(d)) * rng.NormFloat64()
	}
	truth, points = mat.NewDense(n, d, nil), mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			truth.Set(i, j, centres.At(i%clusters, j)+within*rng.NormFloat64())
			points.Set(i, j, truth.At(i, j)+math.Sqrt(v)*rng.NormFloat64())
		}
	}
	return truth, points
}

// inertiaOf returns the inertia of points with given labels.
func inertiaOf(points *mat.Dense, r Result) (sum float64) {
	_, d := points.Dims()
	r.Centroids = mat.NewDense(len(r.Sizes), d, nil)
	means := r.means(points)
	for i, label := range r.Labels {
		sum += distance.Squared(points.RawRowView(i), means.RawRowView(label))
	}
	return sum
}

// Estimates are right for the labels that k-means found, for noise from negligible to dominant.
// Over 40 trials the mean error is within 5 standard errors of 0 (false rejection 6e-7 a setting)
// or a seventh of what it is without the optimism, and the intervals of 95 % cover in all but 9
// (1e-4 a setting). Without the optimism they fail where noise is large.
func TestInertiaWithoutNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation; others look at the workers")
	}
	const trials = 40
	for _, test := range []struct {
		name             string
		apart, within, v float64
		clusters         int
		naiveFails       bool
	}{
		{"noise alone", 0, 0, 1, 2, true},
		{"noise alone, five clusters", 0, 0, 1, 5, true},
		{"noise above clusters", 1.5, 0.1, 1, 3, true},
		{"noise beside clusters", 6, 0.3, 1, 3, true},
		{"a spread beside noise", 2, 1, 1, 4, true},
		{"little noise", 8, 1, 0.01, 3, false},
		{"no noise", 4, 1, 0, 3, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			const n, d = 3000, 12
			rng := source(40)
			records := estimate.Records{K: d, Noise: estimate.Noise{Variance: test.v}, Identity: true}
			var errs, naive []float64
			missed := 0
			for range trials {
				truth, points := noised(rng, n, d, test.clusters, test.apart, test.within, test.v)
				found := mustCluster(t, points, Options{Clusters: test.clusters, Restarts: 2, Rand: rng})
				want := inertiaOf(truth, found)
				got, err := Inertia(points, found, records, 0)
				if err != nil || !got.Defined() {
					t.Fatalf("%v, %v", got, err)
				}
				errs = append(errs, got.Estimate-want)
				naive = append(naive, found.Inertia-float64(n-test.clusters)*d*test.v-want)
				if got.Low > want*(1+1e-9) || got.High < want*(1-1e-9) {
					missed++
				}
			}
			if z := meanOver(errs); math.Abs(z) > 5 && math.Abs(mean(errs)) > math.Abs(mean(naive))/7 {
				t.Errorf("the mean error is %.1f standard errors; %.3g of noise, %.3g without the optimism", z, mean(errs)/n/test.v, mean(naive)/n/test.v)
			}
			if z := meanOver(naive); test.naiveFails && z > -5 {
				t.Errorf("without the optimism the mean error is %.1f standard errors: the test shows nothing", z)
			}
			if missed > 9 {
				t.Errorf("%d of %d intervals miss", missed, trials)
			}
		})
	}
}

// meanOver returns the mean in units of its standard error.
func meanOver(x []float64) float64 {
	var squares float64
	for _, v := range x {
		squares += (v - mean(x)) * (v - mean(x))
	}
	n := float64(len(x))
	return mean(x) / math.Sqrt(squares/n/(n-1)+1e-18)
}

// A projection has errors too, and the interval covers them: records of 300 columns to k = 24, new
// entries each time. At most 9 of 60 intervals miss (chance below 1e-3, seed fixed), and intervals
// of a tenth of the width miss more.
func TestInertiaAfterProjection(t *testing.T) {
	const n, d, k, trials = 400, 300, 24, 60
	rng := source(41)
	truth, _ := noised(rng, n, d, 3, 8, 0.5, 0)
	missed, narrow := 0, 0
	for range trials {
		r := mat.NewDense(d, k, nil)
		for i := range r.RawMatrix().Data {
			r.RawMatrix().Data[i] = rng.NormFloat64() / math.Sqrt(k)
		}
		var points mat.Dense
		points.Mul(truth, r)
		for i := range points.RawMatrix().Data {
			points.RawMatrix().Data[i] += 0.5 * rng.NormFloat64()
		}
		found := mustCluster(t, &points, Options{Clusters: 3, Restarts: 2, Rand: rng})
		got, err := Inertia(&points, found, estimate.Records{K: k, Noise: estimate.Noise{Variance: 0.25}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := inertiaOf(truth, found)
		if got.Low > want || got.High < want {
			missed++
		}
		if math.Abs(got.Estimate-want) > (got.High-got.Low)/20 {
			narrow++
		}
	}
	if missed > 9 || narrow < 20 {
		t.Errorf("%d of %d intervals miss, %d would at a tenth of the width", missed, trials, narrow)
	}
}

func TestInertiaRefuses(t *testing.T) {
	points := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 7})
	found := mustCluster(t, points, Options{Clusters: 3, Rand: source(42)})
	if e, err := Inertia(points, found, estimate.Records{K: 2}, 0); err != nil || !strings.Contains(e.Undefined, "3 clusters need more than 3 records") {
		t.Errorf("a cluster for each point: %v, %v", e, err)
	}
	if _, err := Inertia(points, found, estimate.Records{K: 3}, 0); err == nil {
		t.Error("points of 2 coordinates pass for records of 3")
	}
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}
