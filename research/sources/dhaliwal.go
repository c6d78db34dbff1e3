package sources

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
)

// DhaliwalElement is theorem 3 of Dhaliwal et al. 2019, for one changed value: b = 2√k/ε. It holds
// if no row of the projection is longer than 2. The paper gives the probability of that as 1 -
// d·exp(-k/2), the confidence. In two of the paper's four settings it is negative, and so says
// nothing. The l1 norm of a row is about 0.8√k.
func DhaliwalElement(s Setting) (n Noise, confidence float64, err error) {
	if err := s.check(false); err != nil {
		return Noise{}, 0, fmt.Errorf("calibrating by Dhaliwal's theorem 3: %w", err)
	}
	k := float64(s.K)
	return Noise{dp.Laplace, 2 * math.Sqrt(k) / float64(s.Budget.Epsilon)}, 1 - float64(s.Columns)*math.Exp(-k/2), nil
}

// DhaliwalRow is theorem 5 of Dhaliwal et al. 2019, for a changed row of l2 norm at most 1, at
// failure probability β: b = √(2k·ln(2k/β))/ε. The paper's table 1 has β = 1, the smallest noise
// that the theorem allows, for which it guarantees nothing. For any β it covers one pair of rows
// chosen independently of the projection, not all pairs at once.
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
