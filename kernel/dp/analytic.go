package dp

import (
	"fmt"
	"math"
)

// Mu is the parameter of Gaussian differential privacy (Dong, Roth and Su 2022): the l2 sensitivity
// over the standard deviation of the noise. Its inverse is the noise multiplier σ/D2. The mus of
// several releases of the same data compose exactly, to the root of the sum of their squares.
type Mu float64

// Limits on ε and on the δ of a Gaussian guarantee. Within them MuOf's margin of 2^-30 exceeds its
// floating-point error, and no release moves as far as the samplers' tails (see the package
// comment).
const (
	minEpsilon Epsilon = 1e-6
	maxEpsilon Epsilon = 1000
	minDelta   Delta   = 1e-30
)

// MuOf returns the largest μ whose Gaussian mechanism is (ε, δ)-private: the inverse of the
// analytic calibration of Balle and Wang 2018, theorem 8. It is rounded down by 2^-30 relative,
// then to 31 binary digits. The first step covers floating-point error. The second makes machines
// agree whose exp and erfc differ in the last bits. They can still differ if a value falls on the
// edge of the grid, about once in a million budgets; allow 1e-8 when comparing a calibration with a
// peer's.
func MuOf(b Budget) (Mu, error) {
	if err := b.checkGaussian(); err != nil {
		return 0, err
	}
	lo, hi := Mu(1), Mu(1)
	for deltaOf(lo, b.Epsilon) > b.Delta {
		lo /= 2
	}
	for deltaOf(hi, b.Epsilon) <= b.Delta {
		hi *= 2
	}
	for hi-lo > 1e-14*hi {
		mid := lo + (hi-lo)/2
		if deltaOf(mid, b.Epsilon) <= b.Delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return onGrid(lo - lo/(1<<30)), nil
}

func (b Budget) checkGaussian() error {
	switch {
	case !(b.Epsilon >= minEpsilon && b.Epsilon <= maxEpsilon):
		return fmt.Errorf("epsilon %g of a gaussian mechanism: want %g to %g", float64(b.Epsilon), float64(minEpsilon), float64(maxEpsilon))
	case !(b.Delta >= minDelta && b.Delta < 1):
		return fmt.Errorf("delta %g of a gaussian mechanism: want %g to below 1 (1e-6 is usual)", float64(b.Delta), float64(minDelta))
	}
	return nil
}

// onGrid rounds a positive μ down to 31 binary digits.
func onGrid(mu Mu) Mu {
	mantissa, exponent := math.Frexp(float64(mu))
	return Mu(math.Ldexp(math.Floor(math.Ldexp(mantissa, gridBits)), exponent-gridBits))
}

const gridBits = 31

// EpsilonOf returns the least ε ≥ 0, within 1e-12 relative and rounded up, at which a
// μ-Gaussian private release is (ε, δ)-private. It is infinite for δ = 0 and 0 for μ = 0.
func EpsilonOf(mu Mu, delta Delta) Epsilon {
	switch {
	case mu == 0:
		return 0
	case !(delta > 0):
		return Epsilon(math.Inf(1))
	case deltaOf(mu, 0) <= delta:
		return 0
	}
	// The privacy loss is N(μ²/2, μ²) and its tail is below exp(-x²/2).
	m := float64(mu)
	lo, hi := Epsilon(0), Epsilon(m*m/2+m*math.Sqrt(-2*math.Log(float64(delta)))+1e-12)
	if math.IsInf(float64(hi), 1) {
		return hi
	}
	for hi-lo > 1e-12*hi {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if deltaOf(mu, mid) <= delta {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// deltaOf returns the δ at ε of a μ-Gaussian private release,
// Φ(μ/2-ε/μ) - e^ε·Φ(-μ/2-ε/μ), in a form that neither overflows nor cancels:
// e^ε·φ(ε/μ+μ/2) = φ(ε/μ-μ/2), with Mills' ratio for Φ(-x)/φ(x).
func deltaOf(mu Mu, epsilon Epsilon) Delta {
	b, a := float64(epsilon)/float64(mu), float64(mu)/2
	density := math.Exp(-(b-a)*(b-a)/2) / math.Sqrt(2*math.Pi)
	if b < a {
		upper := math.Erfc((b-a)/math.Sqrt2) / 2
		return Delta(upper - float64(density*mills(b+a)))
	}
	return Delta(density * (mills(b-a) - mills(b+a)))
}

// mills returns Mills' ratio Φ(-x)/φ(x) for x ≥ 0. For x ≥ 4 it uses Laplace's continued fraction
// 1/(x+1/(x+2/(x+3/(x+…)))), with enough levels to give the same bits as 100 of them.
func mills(x float64) float64 {
	if x < 4 {
		return math.Sqrt(math.Pi/2) * math.Erfc(x/math.Sqrt2) * math.Exp(x*x/2)
	}
	return laplace(x, math.Floor(20+800/(x*x)))
}

func laplace(x, levels float64) float64 {
	f := 0.0
	for n := levels; n >= 1; n-- {
		f = n / (x + f)
	}
	return 1 / (x + f)
}
