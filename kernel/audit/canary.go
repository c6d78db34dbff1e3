package audit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cosketch/cosketch/kernel/dp"
)

// FalseRejection is the false-rejection rate of Judge: the probability, over a mechanism's noise, that it
// fails a mechanism that keeps its claim.
const FalseRejection = 1e-6

// Trials holds scores of independent outputs of a mechanism under two neighbouring data sets. A
// score may be any function of an output. The closer it is to the likelihood ratio of the two data
// sets, the larger the ε that the trials find.
type Trials struct {
	Without []float64
	With    []float64 // of the data set with the canary: higher, if the score is useful
}

// GaussianScore returns the likelihood ratio for Gaussian noise, up to an increasing function.
// noise is the output minus the exact output without the canary; delta is what the canary adds.
func GaussianScore(noise, delta []int64) float64 {
	var sum float64
	for i, d := range delta {
		sum += float64(noise[i]) * float64(d)
	}
	return sum
}

// LaplaceScore is GaussianScore for Laplace noise.
func LaplaceScore(noise, delta []int64) float64 {
	var sum int64
	for i, d := range delta {
		sum += magnitude(noise[i]) - magnitude(noise[i]-d)
	}
	return float64(sum)
}

func magnitude(v int64) int64 { return max(v, -v) }

// Halved returns noise as if it had been drawn at half its scale. noise is the output minus the
// exact output without the canary; if the canary was in, delta is the part of it that is not noise.
// An audit that passes halved noise has too few trials.
func Halved(noise, delta []int64, with bool) []int64 {
	out := make([]int64, len(noise))
	for i, n := range noise {
		if with {
			n -= delta[i]
		}
		if out[i] = n / 2; with {
			out[i] += delta[i]
		}
	}
	return out
}

// FlipsConclude reports whether this many trials under each of two values would probably fail
// randomised response that flips as for twice the claimed ε. It uses the expected counts and two
// standard errors.
func FlipsConclude(claim dp.Epsilon, trials int) bool {
	n := trials / 2 // the other half chooses the threshold
	rate := 1 / (1 + math.Exp(2*float64(claim)))
	wrong := float64(n) * rate
	errs := int(math.Ceil(wrong + 2*math.Sqrt(wrong)))
	return errs < n && rates{positives: errs, negatives: errs, n: n}.epsilon() > claim
}

// Finding compares a claim with the lower bound on ε from trials.
type Finding struct {
	Claimed    dp.Epsilon // of the release
	Delta      dp.Delta   // at which both ε hold
	Found      dp.Epsilon // lower bound on the mechanism's true ε; wrong with probability Doubt at most
	Detectable dp.Epsilon // the largest ε that this many trials could find
	Trials     int        // under each data set; half of them choose the threshold
	Passed     bool
}

// Judge computes a lower bound on the ε of a mechanism from trials. It fails the mechanism if the
// bound is above its claim. If the claim is true, this has probability Doubt at most.
//
// A threshold on the score distinguishes the two data sets with error rates fp and fn. It is chosen
// on the first half of the trials. On the second half both rates get an upper bound of Clopper and
// Pearson 1934, at Doubt/2 each.
//
// For Gaussian noise with parameter μ, every test satisfies Φ⁻¹(1-fp) - Φ⁻¹(fn) ≤ μ (Dong, Roth and
// Su 2022). The left side is compared with the claim's μ; the threshold is the midpoint of the
// means. For pure ε, every test has (1-fn)/fp and (1-fp)/fn of at most e^ε; the threshold is the
// one that finds the largest ε.
func Judge(claim dp.Guarantee, t Trials) (Finding, error) {
	n := min(len(t.With), len(t.Without))
	if n < 2 {
		return Finding{}, fmt.Errorf("judging by %d trials: want at least 2 under each data set", n)
	}
	f := Finding{Claimed: claim.Epsilon(), Delta: claim.Delta(), Trials: n}
	choose := Trials{Without: t.Without[:n/2], With: t.With[:n/2]}
	decide := Trials{Without: t.Without[n/2 : n], With: t.With[n/2 : n]}
	best := rates{n: len(decide.With)} // no errors
	switch claim.Mechanism() {
	case dp.Gaussian:
		found, reach := decide.at(choose.middle()).mu(), best.mu()
		f.Found, f.Detectable = dp.EpsilonOf(found, f.Delta), dp.EpsilonOf(reach, f.Delta)
		f.Passed = found <= claim.Mu()
	case dp.Laplace, dp.RandomisedResponse:
		f.Found, f.Detectable = max(0, decide.at(choose.sharpest()).epsilon()), best.epsilon()
		f.Passed = f.Found <= f.Claimed
	default:
		return Finding{}, errors.New("judging mechanism none: it claims nothing")
	}
	return f, nil
}

// rates holds the error counts of one threshold on n trials of each kind.
type rates struct{ positives, negatives, n int }

// at counts the errors of the rule "with the canary if the score is at least threshold".
func (t Trials) at(threshold float64) rates {
	r := rates{n: len(t.With)}
	for i := range t.With {
		if t.Without[i] >= threshold {
			r.positives++
		}
		if t.With[i] < threshold {
			r.negatives++
		}
	}
	return r
}

// bounds returns the upper bounds of both rates.
func (r rates) bounds() (fp, fn float64) {
	return upper(r.positives, r.n), upper(r.negatives, r.n)
}

// upper returns the Clopper–Pearson upper bound on a probability after x of n events: the p at
// which x or fewer events have probability Doubt/2. That probability is the regularised incomplete
// beta function I of 1-p with n-x and x+1.
func upper(x, n int) float64 {
	if x >= n {
		return 1
	}
	lo, hi := float64(x)/float64(n), 1.0
	for hi-lo > 1e-12*hi {
		mid := (lo + hi) / 2
		if mathext.RegIncBeta(float64(n-x), float64(x+1), 1-mid) > FalseRejection/2 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

func (r rates) mu() dp.Mu {
	fp, fn := r.bounds()
	if fp >= 1 || fn >= 1 {
		return 0
	}
	normal := distuv.UnitNormal
	return dp.Mu(max(0, -normal.Quantile(fp)-normal.Quantile(fn)))
}

func (r rates) epsilon() dp.Epsilon {
	fp, fn := r.bounds()
	return dp.Epsilon(math.Log(max((1-fn)/fp, (1-fp)/fn)))
}

// middle returns the midpoint of the mean scores.
func (t Trials) middle() float64 {
	var sum float64
	for i := range t.With {
		sum += t.With[i] + t.Without[i]
	}
	return sum / float64(2*len(t.With))
}

// sharpest returns the threshold that finds the largest ε. It uses the rates without confidence
// bounds, but adds a few errors, so that it does not choose a nearly empty tail.
func (t Trials) sharpest() float64 {
	without, with := slices.Sorted(slices.Values(t.Without)), slices.Sorted(slices.Values(t.With))
	n, slack := float64(len(with)), 20.0
	best, at := math.Inf(-1), with[0]
	for _, threshold := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(with), without...)))) {
		below, _ := slices.BinarySearch(with, threshold)
		kept, _ := slices.BinarySearch(without, threshold)
		fn, fp := float64(below), n-float64(kept)
		if found := max((n-fn)/(fp+slack), (n-fp)/(fn+slack)); found > best {
			best, at = found, threshold
		}
	}
	return at
}
