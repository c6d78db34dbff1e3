package sources

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
)

// DhaliwalElement is theorem 3 of Dhaliwal et al. 2019, for one changed value:
// b = 2√k/ε. It holds where no row of the projection is longer than 2, of which the paper
// gives the probability as 1 - d·exp(-k/2): confidence, which is negative, and so says
// nothing, in two of the paper's four settings. The l1 norm of a row is about 0.8√k.
func DhaliwalElement(s Setting) (n Noise, confidence float64, err error) {
	if err := s.check(false); err != nil {
		return Noise{}, 0, fmt.Errorf("calibrating by Dhaliwal's theorem 3: %w", err)
	}
	k := float64(s.K)
	return Noise{dp.Laplace, 2 * math.Sqrt(k) / float64(s.Budget.Epsilon)}, 1 - float64(s.Columns)*math.Exp(-k/2), nil
}

// DhaliwalRow is theorem 5 of Dhaliwal et al. 2019, for a changed row of l2 norm at most 1,
// at failure probability β: b = √(2k·ln(2k/β))/ε. The paper's table 1 has β = 1, the
// smallest noise that the theorem allows, to which it gives no probability at all. For
// any β it covers one pair of rows that was chosen without knowledge of the projection,
// not all of them at once.
func DhaliwalRow(s Setting, beta float64) (Noise, error) {
	if err := s.check(false); err != nil {
		return Noise{}, fmt.Errorf("calibrating by Dhaliwal's theorem 5: %w", err)
	}
	if !(beta > 0 && beta <= 1) {
		return Noise{}, fmt.Errorf("calibrating by Dhaliwal's theorem 5: failure probability %g, want above 0 and at most 1", beta)
	}
	k := float64(s.K)
	return Noise{dp.Laplace, math.Sqrt(2*k*math.Log(2*k/beta)) / float64(s.Budget.Epsilon)}, nil
}
