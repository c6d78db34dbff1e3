package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The squared distance of a record from a mean record, of its own group and of another, is
// unbiased, and its error has the stated variance. Each mean over 20,000 draws of noise is within 5
// standard errors (6e-7). With the noise of the other case it is not.
func TestDistanceFromMean(t *testing.T) {
	const k, n, draws = 40, 4, 20_000
	rng := rand.New(rand.NewPCG(71, 1))
	group, record := cloud(rng, n, k, 0, 1), cloud(rng, 1, k, 2, 1)[0]
	r := Records{K: k, Identity: true, Noise: Noise{Variance: 0.5, FourthCumulant: 0.75}} // Laplace with b = 1/2
	laplace := func() float64 { return (rng.ExpFloat64() - rng.ExpFloat64()) / 2 }
	for _, own := range []bool{false, true} {
		of := group
		if own {
			of = append(group[:n-1:n-1], record)
		}
		shift := difference(record, meansOf(of))
		truth := dot(shift, shift)
		var sum, squares, stated, other, covered float64
		for range draws {
			noisy := make([][]float64, n)
			for i := range noisy {
				noisy[i] = make([]float64, k)
				for j := range noisy[i] {
					noisy[i][j] = of[i][j] + laplace()
				}
			}
			x := noisy[n-1]
			if !own {
				x = make([]float64, k)
				for j := range x {
					x[j] = record[j] + laplace()
				}
			}
			mean := Mean{meansOf(noisy), n}
			e := must(t)(r.DistanceFromMean(x, mean, own, 0))
			sum, squares = sum+e.Interval.Estimate-truth, squares+(e.Interval.Estimate-truth)*(e.Interval.Estimate-truth)
			stated += e.StandardError * e.StandardError / draws
			other += must(t)(r.DistanceFromMean(x, mean, !own, 0)).Interval.Estimate - truth
			if e.Low <= truth && truth <= e.High {
				covered++
			}
		}
		deviation := math.Sqrt(squares / draws / draws)
		if math.Abs(sum/draws) > 5*deviation {
			t.Errorf("own %v: off by %g on average, deviation %g", own, sum/draws, deviation)
		}
		if math.Abs(other/draws) < 5*deviation {
			t.Errorf("own %v: the other noise is off by %g alone", own, other/draws)
		}
		if ratio := squares / draws / stated; math.Abs(ratio-1) > 0.08 {
			t.Errorf("own %v: variance is %.3f times the stated", own, ratio)
		}
		if share := covered / draws; share < 0.94 || share > 0.96 {
			t.Errorf("own %v: %.3f of the intervals cover", own, share)
		}
	}
	if e := must(t)(r.DistanceFromMean(record, Mean{record, 1}, true, 0)); e.Defined() {
		t.Errorf("from itself: %v", e)
	}
	if _, err := r.DistanceFromMean(record, Mean{record, 0}, false, 0); err == nil {
		t.Error("a mean of no records passes")
	}
	if _, err := r.DistanceFromMean(record[1:], Mean{record, 3}, false, 0); err == nil {
		t.Errorf("a record of %d coordinates passes", k-1)
	}
}
