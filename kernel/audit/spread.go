package audit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Law is the distribution that noise should have.
type Law struct {
	Mechanism dp.Mechanism // gaussian or laplace
	Variance  float64      // above 0
}

// GoodnessOfFit says how well drawn noise fits its law.
type GoodnessOfFit struct {
	Draws    int
	Variance float64 // variance of the draws relative to that of the law
	Bins     int     // of about equal probability
	Chance   float64 // p-value: the probability, under the law, of counts in the bins at least as uneven
	Passed   bool    // Chance is at least Doubt

	// Histogram compares the draws with the law's expectation, over four standard deviations of the
	// law on both sides. The first and the last bin include everything beyond.
	Histogram []Bin
}

// Bin counts the draws between two whole numbers.
type Bin struct {
	From, To int64 // From is included, To is not
	Drawn    int
	Expected float64
}

// Fit compares drawn noise with its law by Pearson's χ² test over the whole numbers, grouped into
// bins. It fails correct noise with probability Doubt. With 100,000 draws it is certain to fail
// noise whose scale is off by 10 %.
func Fit(draws []int64, law Law) (GoodnessOfFit, error) {
	const least = 100 // draws per bin
	if len(draws) < 10*least {
		return GoodnessOfFit{}, fmt.Errorf("comparing noise with its law: %d draws, want at least %d", len(draws), 10*least)
	}
	below, err := law.below()
	if err != nil {
		return GoodnessOfFit{}, err
	}
	out := GoodnessOfFit{Draws: len(draws)}
	for _, v := range draws {
		out.Variance += float64(v) * float64(v) / law.Variance / float64(len(draws))
	}
	edges := law.edges(below, min(64, len(draws)/least))
	out.Bins = len(edges) + 1
	counts := make([]int, out.Bins)
	for _, v := range draws {
		at, found := slices.BinarySearch(edges, v)
		if found {
			at++ // a bin starts at its edge
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
		return GoodnessOfFit{}, errors.New("comparing noise with its law: it has one value")
	}
	out.Histogram = law.histogram(below, draws)
	out.Chance = distuv.ChiSquared{K: float64(out.Bins - 1)}.Survival(chi)
	out.Passed = out.Chance >= FalseRejection
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

// below returns a function that gives the probability of a number below v.
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

// exactGaussian sums a discrete Gaussian if that is feasible. Otherwise it uses the normal
// distribution; a step is then less than a thousandth of σ.
func exactGaussian(variance float64) func(v int64) float64 {
	sigma := math.Sqrt(variance)
	if sigma > 4096 {
		return func(v int64) float64 { return distuv.UnitNormal.CDF((float64(v) - 0.5) / sigma) }
	}
	reach := int64(math.Ceil(12 * sigma))
	sums := make([]float64, 2*reach+2) // sums[i]: sum up to -reach+i-1
	for i := range 2*reach + 1 {
		v := float64(i - reach)
		sums[i+1] = sums[i] + math.Exp(-v*v/2/variance)
	}
	whole := sums[len(sums)-1]
	return func(v int64) float64 {
		return sums[min(max(v+reach, 0), 2*reach+1)] / whole
	}
}

// edges returns the starts of bins of about equal probability, except the first.
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
