package audit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
)

// drawn draws calibrated noise and returns it with its parameters.
func drawn(t *testing.T, m dp.Mechanism, l1 int64, n int) ([]int64, dp.Noise) {
	t.Helper()
	b := dp.Budget{Epsilon: 1}
	if m == dp.Gaussian {
		b.Delta = 1e-6
	}
	g, err := dp.Promise(m, b)
	if err != nil {
		t.Fatal(err)
	}
	noise, err := dp.Calibrate(g, dp.Sensitivity{L1: l1, L2Squared: l1 * l1})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]int64, n)
	if err := noise.Add(out, rand.NewChaCha8([32]byte{byte(l1), 3})); err != nil {
		t.Fatal(err)
	}
	return out, noise
}

// TestFit: noise as calibrated fits its law; a law whose scale is off by 10 %, or of the other
// kind, is rejected.
func TestFit(t *testing.T) {
	for _, m := range []dp.Mechanism{dp.Gaussian, dp.Laplace} {
		for _, l1 := range []int64{1, 7, 1000, 1 << 20} {
			draws, noise := drawn(t, m, l1, 100_000)
			law := Law{m, noise.Variance()}
			got, err := Fit(draws, law)
			if err != nil || !got.Passed || math.Abs(got.Variance-1) > 0.03 {
				t.Errorf("%s of l1 %d: %+v, %v", m, l1, got, err)
			}
			for _, scale := range []float64{0.9, 1.1} {
				off, err := Fit(draws, Law{m, noise.Variance() * scale * scale})
				if err != nil || off.Passed {
					t.Errorf("%s of l1 %d with a scale of %g: %+v, %v", m, l1, scale, off, err)
				}
			}
			other := dp.Laplace
			if m == dp.Laplace {
				other = dp.Gaussian
			}
			if law.Variance < 9 {
				continue
			}
			if off, err := Fit(draws, Law{other, noise.Variance()}); err != nil || off.Passed {
				t.Errorf("%s taken for %s: %+v, %v", m, other, off, err)
			}
		}
	}
}

// TestHistogram: every draw is in one bin, the bins are adjacent, and each count is within seven
// standard deviations of its expectation (false-rejection rate below 1e-10 per run). Under a law
// that is a tenth too wide some counts are not.
func TestHistogram(t *testing.T) {
	for _, m := range []dp.Mechanism{dp.Gaussian, dp.Laplace} {
		for _, l1 := range []int64{1, 7, 1000} {
			draws, noise := drawn(t, m, l1, 100_000)
			far := func(scale float64) (most float64) {
				got, err := Fit(draws, Law{m, noise.Variance() * scale * scale})
				if err != nil {
					t.Fatal(err)
				}
				counted, expected := 0, 0.0
				for i, b := range got.Histogram {
					counted, expected = counted+b.Drawn, expected+b.Expected
					if b.From >= b.To || i > 0 && b.From != got.Histogram[i-1].To {
						t.Errorf("%s of l1 %d: bin %d from %d to %d", m, l1, i, b.From, b.To)
					}
					most = max(most, math.Abs(float64(b.Drawn)-b.Expected)/math.Sqrt(max(b.Expected, 9)))
				}
				if counted != len(draws) || math.Abs(expected-float64(len(draws))) > 1e-6*float64(len(draws)) {
					t.Errorf("%s of l1 %d: %d draws in bins, %g expected", m, l1, counted, expected)
				}
				return most
			}
			if most := far(1); most > 7 {
				t.Errorf("%s of l1 %d: a bin is %.1f deviations off its law", m, l1, most)
			}
			if most := far(1.1); most < 7 {
				t.Errorf("%s of l1 %d under a wider law: every bin is within %.1f deviations", m, l1, most)
			}
		}
	}
}

func TestFitRefuses(t *testing.T) {
	draws := make([]int64, 10_000)
	for name, l := range map[string]Law{"no variance": {dp.Gaussian, 0}, "narrow": {dp.Gaussian, 1}, "no law": {dp.None, 10}} {
		if _, err := Fit(draws, l); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Fit(draws[:10], Law{dp.Gaussian, 10}); err == nil {
		t.Error("ten draws were enough")
	}
}

// TestOneRun: guesses by randomised response at ε give a lower bound on ε, which approaches ε with
// more guesses. Random guesses give no bound.
func TestOneRun(t *testing.T) {
	for _, c := range []struct {
		epsilon float64
		made    int
		least   float64
	}{{0, 10_000, 0}, {1, 1000, 0.5}, {1, 100_000, 0.9}, {4, 10_000, 3.3}} {
		q := 1 / (1 + math.Exp(-c.epsilon))
		got, err := OneRun(Guesses{Canaries: 10 * c.made, Made: c.made, Right: int(q * float64(c.made))}, 0)
		if err != nil || float64(got) > c.epsilon || float64(got) < c.least {
			t.Errorf("ε = %g by %d guesses: %g, %v", c.epsilon, c.made, got, err)
		}
	}
	pure, err := OneRun(Guesses{Canaries: 1000, Made: 500, Right: 480}, 0)
	approximate, err2 := OneRun(Guesses{Canaries: 1000, Made: 500, Right: 480}, 1e-5)
	if err != nil || err2 != nil || approximate > pure || approximate < pure-1 {
		t.Errorf("δ takes %g to %g: %v, %v", pure, approximate, err, err2)
	}
	for _, g := range []Guesses{{}, {Canaries: 1, Made: 2}, {Canaries: 2, Made: 1, Right: 2}, {Canaries: 2, Made: 1, Right: -1}} {
		if _, err := OneRun(g, 0); err == nil {
			t.Errorf("%+v: no error", g)
		}
	}
	if _, err := OneRun(Guesses{Canaries: 1, Made: 1}, 1); err == nil {
		t.Error("δ = 1 was taken")
	}
}
