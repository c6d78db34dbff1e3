package estimate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/estimate"
)

func TestNoisePlus(t *testing.T) {
	a, b := estimate.Noise{Variance: 1, FourthCumulant: 3, Sources: 4}, estimate.Noise{Variance: 2, FourthCumulant: -1, Sources: 6}
	if got := a.Plus(b); got != (estimate.Noise{Variance: 3, FourthCumulant: 2, Sources: 10}) {
		t.Errorf("%+v", got)
	}
}

// Records of 12 coordinates of which 4 have Laplace noise of scale 1, 5 of scale 3 and 3 none.
// Their squared distance is unbiased. If they are equal its variance is that of the noise. 40,000
// trials: 5 standard errors, by the fourth moment of the trials, are a false rejection below 1e-6.
// Without the term that Beside adds to the cumulant the variance would be a third less.
func TestBeside(t *testing.T) {
	const k, trials = 12, 40_000
	laplace := func(b float64) estimate.Noise {
		return estimate.Noise{Variance: 2 * b * b, FourthCumulant: 12 * b * b * b * b}
	}
	noise := estimate.Beside(k, []estimate.Times{{4, laplace(1)}, {5, laplace(3)}})
	if want := (4*2 + 5*18) / 12.; math.Abs(noise.Variance-want) > 1e-12 {
		t.Errorf("variance %g, want %g", noise.Variance, want)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func() []float64 {
		x := make([]float64, k)
		for i := range 9 {
			scale := 1.0
			if i >= 4 {
				scale = 3
			}
			x[i] = scale * rng.ExpFloat64() * float64(2*rng.IntN(2)-1)
		}
		return x
	}
	records := estimate.Records{K: k, Noise: noise, Identity: true}
	var sum, squares, fourth float64
	for range trials {
		e, err := records.SquaredDistance(draw(), draw(), 0)
		if err != nil {
			t.Fatal(err)
		}
		sum += e.Estimate
		squares += e.Estimate * e.Estimate
		fourth += math.Pow(e.Estimate, 4)
	}
	variance := squares / trials
	if mean := sum / trials; math.Abs(mean) > 5*math.Sqrt(variance/trials) {
		t.Errorf("mean %g of variance %g", mean, variance)
	}
	stated := k * (8*noise.Variance*noise.Variance + 2*noise.FourthCumulant)
	if margin := 5 * math.Sqrt((fourth/trials-variance*variance)/trials); math.Abs(variance-stated) > margin || margin > 0.25*stated {
		t.Errorf("variance %g, stated %g ± %g", variance, stated, margin)
	}
	if one := estimate.Beside(2, []estimate.Times{{2, laplace(1)}}); one != laplace(1) {
		t.Errorf("of one kind: %+v", one)
	}
}
