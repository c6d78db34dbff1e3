package dp

import (
	"math"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

// gaussianMasses are the probabilities of -reach … reach under N_Z(0, variance).
func gaussianMasses(variance float64, reach int) []float64 {
	out, sum := make([]float64, 2*reach+1), 0.0
	for i := range out {
		j := float64(i - reach)
		out[i] = math.Exp(-j * j / (2 * variance))
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// convolved is the distribution of a sum, as far as both reach.
func convolved(a, b []float64) []float64 {
	reach := (len(a) - 1) / 2
	out := make([]float64, len(a))
	for i := range out {
		for j := range b {
			if k := i + reach - j; k >= 0 && k < len(a) {
				out[i] += a[k] * b[j]
			}
		}
	}
	return out
}

// stickOf is the exact δ at ε of a distribution against itself moved by shift.
func stickOf(p []float64, shift int, epsilon Epsilon) (delta float64) {
	for i := range p {
		moved := 0.0
		if i+shift < len(p) {
			moved = p[i+shift]
		}
		delta += max(0, p[i]-math.Exp(float64(epsilon))*moved)
	}
	return delta
}

// TestSharedNoiseKeepsItsPromise convolves the parts exactly and computes the δ of their sum.
// Power: one part fewer than planned exceeds the guarantee's δ; so would parts divided by all
// parties instead of those that do not collude.
func TestSharedNoiseKeepsItsPromise(t *testing.T) {
	full.Statistical(t)
	for _, b := range []Budget{{1, 1e-6}, {2, 1e-5}, {8, 1e-6}} {
		for _, h := range []int{2, 3, 5} {
			for _, shift := range []int{16, 40} {
				whole := calibrate(t, promise(t, Gaussian, b), Sensitivity{int64(shift), int64(shift * shift)})
				part, err := whole.Shared(h)
				if err != nil {
					t.Fatal(err)
				}
				one := gaussianMasses(part.Variance(), int(14*math.Sqrt(whole.Variance()))+shift)
				sum := one
				for range h - 2 {
					sum = convolved(sum, one)
				}
				if d := stickOf(sum, shift, b.Epsilon); d <= float64(b.Delta) {
					t.Errorf("%v, %d parts of %v: one fewer still has delta %g: the test has no power", b, h, part, d)
				}
				sum = convolved(sum, one)
				if d := stickOf(sum, shift, b.Epsilon); d > float64(b.Delta)*(1+1e-9) {
					t.Errorf("%v, %d parts of %v: delta is %g", b, h, part, d)
				}
				if total := float64(h) * part.Variance(); total < whole.Variance() || total > whole.Variance()+float64(h)*leastShared {
					t.Errorf("%d parts add up to a variance of %g, the whole is %g", h, total, whole.Variance())
				}
				if part.Guarantee() != whole.Guarantee() || part.Sensitivity() != whole.Sensitivity() {
					t.Errorf("a part says that the sum has %v, the whole %v", part.Guarantee(), whole.Guarantee())
				}
			}
		}
	}
}

// TestSumLemma convolves small parts, where the lemma's error is large enough to measure, and
// compares it with the bound (1+κ)/(1-κ).
func TestSumLemma(t *testing.T) {
	for _, v := range []float64{0.6, 0.8, 1} {
		kappa := 2 * math.Exp(-2*math.Pi*math.Pi*v/2) * 1.001
		sum, want := convolved(gaussianMasses(v, 40), gaussianMasses(v, 40)), gaussianMasses(2*v, 40)
		worst := 0.0
		for j := 40 - 6; j <= 40+6; j++ {
			worst = max(worst, math.Abs(sum[j]/want[j]-1))
		}
		if bound := (1+kappa)/(1-kappa) - 1; worst > bound || worst < bound/100 {
			t.Errorf("variance %g: relative error %.3g, want it visible and below %.3g", v, worst, bound)
		}
	}
	if kappa := 2 * math.Exp(-2*math.Pi*math.Pi*leastShared/2); kappa > 5.3e-69 {
		t.Errorf("κ for parts of variance %d is %g", leastShared, kappa)
	}
}

func TestSharedRefusesAndRounds(t *testing.T) {
	gaussian := calibrate(t, promise(t, Gaussian, Budget{1, 1e-6}), Sensitivity{3, 9})
	if one, err := gaussian.Shared(1); err != nil || one != gaussian {
		t.Errorf("the only party's part is %v, %v, want %v", one, err, gaussian)
	}
	if least, err := gaussian.Shared(64); err != nil || least.Variance() != leastShared {
		t.Errorf("the part of one of 64 is %v, %v", least, err)
	}
	if none, err := (Noise{guarantee: promise(t, None, Budget{})}).Shared(3); err != nil || none.Variance() != 0 {
		t.Errorf("no noise shared is %v, %v", none, err)
	}
	if _, err := gaussian.Shared(0); err == nil {
		t.Error("nobody shares the noise, and no error")
	}
	laplace := calibrate(t, promise(t, Laplace, Budget{Epsilon: 1}), Sensitivity{3, 9})
	if _, err := laplace.Shared(2); err == nil {
		t.Error("laplace noise is shared")
	}
}
