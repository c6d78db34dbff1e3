// Package sources holds the calibrations of the papers that introduced noisy sketches, with
// misprints corrected, for comparison only. Studies cannot use them: each adds more noise than
// package dp for the same guarantee, or guarantees less than it says.
//
// All assume that entries change by at most 1, and a projection P of d x k independent entries N(0,
// 1/k), whose rows have random norms. Noise is added to the projected data, in units of the change.
package sources

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Setting holds the parameters of the calibrations.
type Setting struct {
	Budget  dp.Budget // required; Laplace ignores δ
	Columns int       // d, of the data: at least 1
	K       int       // k, of the sketch: at least 1
}

// Noise is the noise distribution of one entry.
type Noise struct {
	Mechanism dp.Mechanism // gaussian or laplace
	Scale     float64      // σ, or b
}

// Variance returns σ², or 2b².
func (n Noise) Variance() float64 {
	if n.Mechanism == dp.Laplace {
		return 2 * n.Scale * n.Scale
	}
	return n.Scale * n.Scale
}

// FourthCumulant returns 0, or 12b⁴.
func (n Noise) FourthCumulant() float64 {
	if n.Mechanism == dp.Laplace {
		return 12 * math.Pow(n.Scale, 4)
	}
	return 0
}

func (s Setting) check(gaussian bool) error {
	switch {
	case s.Columns < 1 || s.K < 1:
		return fmt.Errorf("a projection of %d x %d: want at least one column and one dimension", s.Columns, s.K)
	case !(s.Budget.Epsilon > 0) || math.IsInf(float64(s.Budget.Epsilon), 1):
		return fmt.Errorf("epsilon %g: want above 0", float64(s.Budget.Epsilon))
	case gaussian && !(s.Budget.Delta > 0 && s.Budget.Delta < 0.5):
		return fmt.Errorf("delta %g: want above 0 and below 1/2", float64(s.Budget.Delta))
	}
	return nil
}
