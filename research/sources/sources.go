// Package sources holds the calibrations of the papers that sketches with noise come
// from, corrected where they are printed wrong, for comparison only. No study can ask
// for them: each adds more noise than package dp does for the same promise, or promises
// less than it says.
//
// All are for entries that change by at most 1 and for a projection P of d x k
// independent entries N(0, 1/k), whose rows have norms that are themselves random. Noise
// is in units of the change, on the projected data.
package sources

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Setting is what the calibrations depend on.
type Setting struct {
	Budget  dp.Budget // required; Laplace ignores δ
	Columns int       // d, of the data: at least 1
	K       int       // k, of the sketch: at least 1
}

// Noise is the noise of one entry.
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
