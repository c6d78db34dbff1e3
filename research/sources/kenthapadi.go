package sources

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
)

// KenthapadiTheorem1 is theorem 1 of Kenthapadi et al. 2012 for a projection whose longest row has
// norm w2: σ ≥ w2·√(2(ln(1/(2δ))+ε))/ε. The printed theorem divides by 2δ instead of ε, which gives
// σ = 243103 instead of 4.862 (ε = 1, δ = 1e-5). Lemma 1 and equation (3) of the paper are right.
func KenthapadiTheorem1(b dp.Budget, w2 float64) (Noise, error) {
	if err := (Setting{Budget: b, Columns: 1, K: 1}).check(true); err != nil {
		return Noise{}, fmt.Errorf("calibrating by Kenthapadi's theorem 1: %w", err)
	}
	if !(w2 > 0) || math.IsInf(w2, 1) {
		return Noise{}, fmt.Errorf("calibrating by Kenthapadi's theorem 1: longest row of norm %g, want above 0", w2)
	}
	e := float64(b.Epsilon)
	return Noise{dp.Gaussian, w2 * math.Sqrt(2*(-math.Log(2*float64(b.Delta))+e)) / e}, nil
}

// KenthapadiLemma2 is lemma 2 of Kenthapadi et al. 2012, which does not depend on the drawn
// projection: σ ≥ 4√(ln(1/δ))/ε for k > 2(ln d + ln(2/δ)) and ε < ln(1/δ). Half of δ covers a
// longest row beyond 2. Outside these conditions there is no guarantee, and holds is false.
func KenthapadiLemma2(s Setting) (n Noise, holds bool, err error) {
	if err := s.check(true); err != nil {
		return Noise{}, false, fmt.Errorf("calibrating by Kenthapadi's lemma 2: %w", err)
	}
	e, log := float64(s.Budget.Epsilon), -math.Log(float64(s.Budget.Delta))
	holds = float64(s.K) > 2*(math.Log(float64(s.Columns))+math.Ln2+log) && e < log
	return Noise{dp.Gaussian, 4 * math.Sqrt(log) / e}, holds, nil
}

// MaxRowNormRatio bounds the norm of the longest row of a d x k projection with N(0, 1/k) entries: it
// exceeds 1 + √(2(ln d + ln(1/β))/k) with probability at most β (the proof of lemma 2, which takes
// β = δ/2).
func LongestRow(columns, k int, beta float64) float64 {
	return 1 + math.Sqrt(2*(math.Log(float64(columns))-math.Log(beta))/float64(k))
}
