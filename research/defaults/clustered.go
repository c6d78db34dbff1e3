package defaults

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Rejection is the probability that a row fails whose coverage is exactly at its limit.
const Rejection = 1e-6

// leastIntervals is the smallest number of intervals by which a coverage is judged.
const leastIntervals = 1000

// wrongCoverage is a coverage that rows must be able to distinguish from their lower limit.
const wrongCoverage = 0.85

// coverage counts intervals that hold the truth, by seed.
//
// Intervals of one seed are not independent: they share declared centres and spreads, the clip and,
// in vertical studies, the projection. To keep the level of a binomial test, it uses the effective
// number of intervals of Korn and Graubard (Survey Methodology 24, 1998, pages 193 to 201) instead
// of their number n. With n_s intervals of which c_s cover in each of S seeds, p = Σc/n, and
//
//	v  = S/(S-1) Σ (c_s - p n_s)² / n²       the variance of p by seed (linearised ratio)
//	n' = min(n, p(1-p)/v)                    n over the design effect, which is at least 1
//	n* = n' (z/t)²                           z and t: the 1-α quantiles of the normal
//	                                         distribution and of Student's with S-1 degrees
//
// The last factor allows for v being estimated from S seeds. A lower limit L is rejected if a
// binomial variable of n* trials with probability L is at most p n* with probability below α
// (Clopper and Pearson 1934, by the incomplete beta function, since n* is not an integer). An upper
// limit uses the other tail. If no interval covers, or all do, v is 0 and n' is n.
type coverage struct {
	n, covered []int // by seed
}

func (c *coverage) add(n, covered int) {
	c.n, c.covered = append(c.n, n), append(c.covered, covered)
}

func (c coverage) total() (n, covered int) {
	for i := range c.n {
		n, covered = n+c.n[i], covered+c.covered[i]
	}
	return n, covered
}

// share returns p; NaN without intervals.
func (c coverage) share() float64 {
	n, covered := c.total()
	return float64(covered) / float64(n)
}

// effective returns n* at the level alpha; 0 with fewer than two seeds.
func (c coverage) effective(alpha float64) float64 {
	n, covered := c.total()
	seeds, squares := 0.0, 0.0
	p := float64(covered) / float64(n)
	for i := range c.n {
		if c.n[i] > 0 {
			off := float64(c.covered[i]) - p*float64(c.n[i])
			seeds, squares = seeds+1, squares+off*off
		}
	}
	if seeds < 2 {
		return 0
	}
	effective := float64(n)
	if v := seeds / (seeds - 1) * squares / float64(n) / float64(n); v > 0 {
		effective = math.Min(effective, p*(1-p)/v)
	}
	z := distuv.UnitNormal.Quantile(1 - alpha)
	t := distuv.StudentsT{Sigma: 1, Nu: seeds - 1}.Quantile(1 - alpha)
	return effective * z * z / t / t
}

// atMost returns the probability of at most x successes in n trials with probability p.
func atMost(n, x, p float64) float64 {
	switch {
	case x < 0:
		return 0
	case x >= n:
		return 1
	}
	return mathext.RegIncBeta(n-x, x+1, 1-p)
}

// below reports whether a test at level alpha finds the coverage below a limit.
func (c coverage) below(limit, alpha float64) bool {
	n := c.effective(alpha)
	return n > 0 && atMost(n, c.share()*n, limit) < alpha
}

// above reports whether a test at level alpha finds the coverage above a limit.
func (c coverage) above(limit, alpha float64) bool {
	n := c.effective(alpha)
	return n > 0 && atMost(n, (1-c.share())*n, 1-limit) < alpha
}

// power returns the probability that below finds intervals of this true coverage, for as many
// intervals with the same design effect.
func (c coverage) power(limit, coverage, alpha float64) float64 {
	n := c.effective(alpha)
	if n == 0 || atMost(n, 0, limit) >= alpha {
		return 0
	}
	lo, hi := 0.0, n // the largest count that is rejected lies between them
	for range 60 {
		if x := (lo + hi) / 2; atMost(n, x, limit) < alpha {
			lo = x
		} else {
			hi = x
		}
	}
	return atMost(n, lo, coverage)
}
