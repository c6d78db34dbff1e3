package audit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Law is what noise is said to be.
type Law struct {
	Mechanism dp.Mechanism // gaussian or laplace
	Variance  float64      // above 0
}

// Spread says how far drawn noise follows its law.
type Spread struct {
	Draws    int
	Variance float64 // of the draws over that of the law
	Bins     int     // of equal probability, as far as whole numbers allow
	Chance   float64 // of counts in the bins that are at least so uneven, under the law
	Passed   bool    // Chance is at least Doubt

	// Histogram is what was drawn beside what the law expects, over four deviations of the
	// law to both sides; the first and the last bin hold all beyond them.
	Histogram []Bin
}

// Bin is the draws from one whole number up to another one.
type Bin struct {
	From, To int64 // From is in it, To is not
	Drawn    int
	Expected float64
}

// Fit compares drawn noise with its law by Pearson's χ² over the whole numbers, grouped
// into bins. It fails noise that is as it should be with probability Doubt; of 100,000
// draws, those of a scale that is 10 % off fail for certain.
func Fit(draws []int64, law Law) (Spread, error) {
	const least = 100 // draws a bin
	if len(draws) < 10*least {
		return Spread{}, fmt.Errorf("comparing noise with its law: %d draws, want at least %d", len(draws), 10*least)
	}
	below, err := law.below()
	if err != nil {
		return Spread{}, err
	}
	out := Spread{Draws: len(draws)}
	for _, v := range draws {
		out.Variance += float64(v) * float64(v) / law.Variance / float64(len(draws))
	}
	edges := law.edges(below, min(64, len(draws)/least))
	out.Bins = len(edges) + 1
	counts := make([]int, out.Bins)
	for _, v := range draws {
		at, found := slices.BinarySearch(edges, v)
		if found {
			at++ // a bin begins with its edge
		}
		counts[at]++
	}
	var chi float64
	before := 0.0
	for i, count := range counts {
		to := 1.0
		if i < len(edges) {
			to = below(edges[i])
		}
		expected := (to - before) * float64(len(draws))
		chi += (float64(count) - expected) * (float64(count) - expected) / expected
		before = to
	}
	if out.Bins < 2 {
		return Spread{}, errors.New("comparing noise with its law: it has one value")
	}
	out.Histogram = law.histogram(below, draws)
	out.Chance = distuv.ChiSquared{K: float64(out.Bins - 1)}.Survival(chi)
	out.Passed = out.Chance >= Doubt
	return out, nil
}

// histogram counts draws in bins of equal width.
func (l Law) histogram(below func(int64) float64, draws []int64) []Bin {
	const most = 41
	reach := int64(math.Ceil(4 * math.Sqrt(l.Variance)))
	width := (2*reach + most) / most
	bins := make([]Bin, (2*reach)/width+1)
	for i := range bins {
		bins[i].From = -reach + int64(i)*width
		bins[i].To = bins[i].From + width
		from, to := below(bins[i].From), below(bins[i].To)
		if i == 0 {
			from = 0
		}
		if i == len(bins)-1 {
			to = 1
		}
		bins[i].Expected = (to - from) * float64(len(draws))
	}
	for _, v := range draws {
		bins[min(max((v+reach)/width, 0), int64(len(bins)-1))].Drawn++
	}
	return bins
}

// below returns the probability of a number below v.
func (l Law) below() (func(v int64) float64, error) {
	if !(l.Variance > 0) {
		return nil, fmt.Errorf("comparing noise with its law: variance %g", l.Variance)
	}
	switch l.Mechanism {
	case dp.Gaussian:
		// Of variance 9 and more, as calibrated noise is, a discrete Gaussian's probabilities
		// up to a number are those of the normal law up to half a step further on, but for a
		// part that the sum over a period would show: 1/(24σ²) of the density's slope.
		if l.Variance < 9 {
			return nil, fmt.Errorf("comparing noise with its law: variance %g is below 9", l.Variance)
		}
		return exactGaussian(l.Variance), nil
	case dp.Laplace:
		t := 0.5 / math.Asinh(math.Sqrt(0.5/l.Variance)) // the variance is 1/(2 sinh²(1/2t))
		ratio := math.Exp(-1 / t)
		return func(v int64) float64 {
			if v <= 0 {
				return math.Exp(float64(v-1)/t) / (1 + ratio)
			}
			return 1 - math.Exp(-float64(v)/t)/(1+ratio)
		}, nil
	}
	return nil, fmt.Errorf("comparing noise with its law: mechanism %q", l.Mechanism)
}

// exactGaussian sums a discrete Gaussian where that is feasible and takes the normal law
// beyond, where a step is less than a thousandth of σ.
func exactGaussian(variance float64) func(v int64) float64 {
	sigma := math.Sqrt(variance)
	if sigma > 4096 {
		return func(v int64) float64 { return distuv.UnitNormal.CDF((float64(v) - 0.5) / sigma) }
	}
	reach := int64(math.Ceil(12 * sigma))
	sums := make([]float64, 2*reach+2) // sums[i]: of all up to -reach+i-1
	for i := range 2*reach + 1 {
		v := float64(i - reach)
		sums[i+1] = sums[i] + math.Exp(-v*v/2/variance)
	}
	whole := sums[len(sums)-1]
	return func(v int64) float64 {
		return sums[min(max(v+reach, 0), 2*reach+1)] / whole
	}
}

// edges are where bins of about equal probability begin, but for the first.
func (l Law) edges(below func(int64) float64, bins int) (out []int64) {
	sigma := math.Sqrt(l.Variance)
	for i := 1; i < bins; i++ {
		want := float64(i) / float64(bins)
		lo, hi := int64(-40*sigma)-40, int64(40*sigma)+40
		for hi-lo > 1 {
			if middle := lo + (hi-lo)/2; below(middle) < want {
				lo = middle
			} else {
				hi = middle
			}
		}
		if len(out) == 0 || hi > out[len(out)-1] {
			out = append(out, hi)
		}
	}
	return out
}
