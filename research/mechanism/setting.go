package mechanism

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
)

// Setting is the setting of a comparison: two records of D binary values that differ in R2 of them.
// So their squared distance and the sum of fourth powers of their differences are both R2. One
// value of one record is protected (unit attribute).
type Setting struct {
	K      int          // required: coordinates of a sketched record
	D      int          // required: values of a record
	R2     int          // required: squared distance of the two records
	Delta  dp.Delta     // of (ε, δ) mechanisms; pure ones ignore it
	Levels []dp.Epsilon // required: the values of ε
	Trials int          // simulated pairs per mechanism and ε; 0: formulas only
}

// Limits within which a comparison takes minutes, not days.
const (
	maxK      = 4096
	maxD      = 1 << 15
	maxTrials = 1_000_000
)

// Check returns an error if the setting is invalid or would take too long.
func (s Setting) Check() error {
	switch {
	case s.K < 1 || s.K > maxK:
		return fmt.Errorf("k = %d: want 1 to %d", s.K, maxK)
	case s.D < 1 || s.D > maxD:
		return fmt.Errorf("d = %d: want 1 to %d", s.D, maxD)
	case s.R2 < 1 || s.R2 > s.D:
		return fmt.Errorf("r2 = %d: want 1 to d = %d, as so many of the values differ", s.R2, s.D)
	case s.Trials != 0 && (s.Trials < 100 || s.Trials > maxTrials):
		return fmt.Errorf("%d trials: want 100 to %d", s.Trials, maxTrials)
	case s.K > projection.HadamardSize(s.D):
		return fmt.Errorf("k = %d is more than a Hadamard matrix for d = %d has columns, %d", s.K, s.D, projection.HadamardSize(s.D))
	case len(s.Levels) == 0:
		return fmt.Errorf("no epsilon to compare at")
	}
	for _, epsilon := range s.Levels {
		if _, err := dp.Promise(dp.Gaussian, dp.Budget{Epsilon: epsilon, Delta: s.Delta}); err != nil {
			return err
		}
	}
	return nil
}
