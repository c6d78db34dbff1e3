package dp

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// smoothing is η² of the lemma in the package comment: the variance that a discrete Gaussian needs
// beyond σ² for the analytic calibration to hold.
const smoothing = 9

// MaxDeviation is the largest standard deviation of a discrete Gaussian that is drawn. Like the
// limits below it is in units of the sketch's entries.
const MaxDeviation = 1 << 28

// Limits on noise within which the samplers' intermediate values fit their words.
const (
	maxVariance = MaxDeviation * MaxDeviation // of a discrete Gaussian
	maxScale    = 1 << 50                     // of a discrete Laplace distribution
	maxEntry    = 1 << 62                     // of a sketch before noise
	maxEntries  = 1 << 34                     // of a sketch: see the package comment
)

// Noise is a calibrated distribution of integer noise, identical for all entries of a sketch. It is
// immutable; Calibrate makes it.
type Noise struct {
	guarantee   Guarantee
	sensitivity Sensitivity
	gaussian    discreteGaussian // mechanism gaussian
	laplace     discreteLaplace  // mechanism laplace
}

// Calibrate returns the least noise that keeps the guarantee for a sketch of the given sensitivity:
//
//   - gaussian: variance ⌈D2²/μ²⌉ + 9 (see the package comment);
//   - laplace: scale D1/ε·(1+2^-32), rounded up to a binary fraction within 2^-32 relative, or
//     absolute if the scale is below 1;
//   - none: no noise;
//   - randomised-response: no noise, as the values were randomised before projection (Flips).
//
// The first two are computed in exact arithmetic from the guarantee's μ or ε.
func Calibrate(g Guarantee, s Sensitivity) (Noise, error) {
	n := Noise{guarantee: g, sensitivity: s}
	switch {
	case g.mechanism == None || g.mechanism == RandomisedResponse:
		return n, nil
	case s.L1 < 1 || s.L2Squared < 1:
		return Noise{}, fmt.Errorf("calibrating noise to sensitivity %v: both norms must be at least 1", s)
	}
	var err error
	switch g.mechanism {
	case Gaussian:
		n.gaussian, err = calibrateGaussian(g.mu, s)
	case Laplace:
		n.laplace, err = calibrateLaplace(g.budget.Epsilon, s)
	default:
		err = errors.New("the guarantee names no mechanism")
	}
	if err != nil {
		return Noise{}, fmt.Errorf("calibrating noise to %v and sensitivity %v: %w", g, s, err)
	}
	return n, nil
}

var errNoiseTooLarge = errors.New("the noise would be too large to sample; raise epsilon, or lower bits, the clip or k")

func calibrateGaussian(mu Mu, s Sensitivity) (discreteGaussian, error) {
	m := new(big.Rat).SetFloat64(float64(mu))
	square := new(big.Rat).SetInt64(s.L2Squared)
	variance := ceiling(square.Quo(square, m.Mul(m, m)))
	variance.Add(variance, big.NewInt(smoothing))
	if !variance.IsInt64() || variance.Int64() > maxVariance {
		return discreteGaussian{}, errNoiseTooLarge
	}
	return discreteGaussian{uint64(variance.Int64())}, nil
}

func calibrateLaplace(epsilon Epsilon, s Sensitivity) (discreteLaplace, error) {
	e := new(big.Rat).SetFloat64(float64(epsilon))
	scale := new(big.Rat).SetInt64(s.L1)
	scale.Quo(scale, e)
	scale.Mul(scale, big.NewRat(1<<32+1, 1<<32)) // see the package comment
	const digits = 34
	shift := max(0, digits-ceiling(scale).BitLen())
	scale.Mul(scale, new(big.Rat).SetInt64(1<<shift))
	numerator := ceiling(scale)
	if !numerator.IsInt64() || numerator.Int64() > maxScale {
		return discreteLaplace{}, errNoiseTooLarge
	}
	return discreteLaplace{geometric{numerator: uint64(numerator.Int64()), shift: uint(shift)}}, nil
}

// ceiling returns ⌈r⌉ for r ≥ 0.
func ceiling(r *big.Rat) *big.Int {
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// Guarantee returns the guarantee that the noise was calibrated to.
func (n Noise) Guarantee() Guarantee { return n.guarantee }

// Sensitivity returns the sensitivity that the noise was calibrated for.
func (n Noise) Sensitivity() Sensitivity { return n.sensitivity }

// Variance returns the variance of one entry's noise, in squared units of the sketch's
// entries: s² for the discrete Gaussian (to 1e-70 relative), 1/(2 sinh²(1/(2t))) for the
// discrete Laplace distribution of scale t, which is 2t² - 1/6 + O(t⁻²).
func (n Noise) Variance() float64 {
	switch n.guarantee.mechanism {
	case Gaussian:
		return float64(n.gaussian.variance)
	case Laplace:
		s := math.Sinh(0.5 / n.laplace.scale())
		return 0.5 / (s * s)
	}
	return 0
}

// Scale returns the exact scale t of the discrete Laplace distribution; 0 for other noise.
func (n Noise) Scale() float64 {
	if n.guarantee.mechanism != Laplace {
		return 0
	}
	return n.laplace.scale()
}

// FourthCumulant returns the fourth cumulant of one entry's noise: 0 for the discrete
// Gaussian (to 1e-70 relative), v + 3v² for the discrete Laplace distribution of
// variance v, which is the difference of two geometric variables.
func (n Noise) FourthCumulant() float64 {
	if n.guarantee.mechanism != Laplace {
		return 0
	}
	v := n.Variance()
	return v + float64(3*v*v)
}

// String names the distribution and its size.
func (n Noise) String() string {
	switch n.guarantee.mechanism {
	case Gaussian:
		return fmt.Sprintf("discrete gaussian noise of variance %d", n.gaussian.variance)
	case Laplace:
		return fmt.Sprintf("discrete laplace noise of scale %.9g", n.laplace.scale())
	}
	return "no noise"
}
