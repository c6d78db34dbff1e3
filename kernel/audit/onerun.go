package audit

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Guesses are the results of guessing about one release. Each canary was included or left out by a
// fair coin. Made guesses were made, by a rule fixed before; Right of them were correct.
type Guesses struct {
	Canaries int
	Made     int
	Right    int
}

// OneRunFalseRejection is the probability that the bound of OneRun exceeds a true claim. With a smaller
// value a single release would give no bound, as the failure probability due to δ alone is that
// large.
const OneRunFalseRejection = 0.05

// OneRun returns a lower bound on ε from the guesses about a single release (Steinke, Nasr and
// Jagielski 2023, theorem 5.2): the least ε at which this many correct guesses are not too
// unlikely. For a true claim it exceeds the claim with probability OneRunFalseRejection at most. It finds
// less than Judge does with the same number of canaries, but needs only one release.
func OneRun(g Guesses, delta dp.Delta) (dp.Epsilon, error) {
	if g.Made < 1 || g.Made > g.Canaries || g.Right < 0 || g.Right > g.Made {
		return 0, fmt.Errorf("bounding ε by one release: %d right of %d guesses about %d canaries", g.Right, g.Made, g.Canaries)
	}
	if !(delta >= 0) || delta >= 1 {
		return 0, errors.New("bounding ε by one release: δ is not between 0 and 1")
	}
	const most = 100
	lo, hi := 0.0, float64(most)
	if g.chance(lo, delta) >= OneRunFalseRejection {
		return 0, nil
	}
	for hi-lo > 1e-6 {
		if middle := (lo + hi) / 2; g.chance(middle, delta) < OneRunFalseRejection {
			lo = middle
		} else {
			hi = middle
		}
	}
	return dp.Epsilon(lo), nil
}

// chance bounds the probability of this many correct guesses under (ε, δ).
func (g Guesses) chance(epsilon float64, delta dp.Delta) float64 {
	q := 1 / (1 + math.Exp(-epsilon))
	tail := atLeast(g.Made, g.Right, q)
	steepest := 0.0
	for i := 1; i <= g.Right && delta > 0; i++ {
		between := atLeast(g.Made, g.Right-i, q) - tail
		steepest = math.Max(steepest, between/float64(i))
	}
	return math.Min(1, tail+2*float64(g.Canaries)*float64(delta)*steepest)
}

// atLeast returns the probability of x or more successes in n trials.
func atLeast(n, x int, p float64) float64 {
	switch {
	case x <= 0:
		return 1
	case x > n:
		return 0
	}
	return mathext.RegIncBeta(float64(x), float64(n-x+1), p)
}
