package mechanism

import (
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
)

// The calibrations of this file are those that the sources print, for comparison alone:
// no study can select them. Each is for a dense Gaussian projection with entries
// N(0, 1/k) and a change of one value by at most 1.

// lemma2 is σ of Kenthapadi, Korolova, Mironov and Mishra 2012, lemma 2, which covers
// rows of the projection up to length 2: 4√ln(1/δ)/ε.
func lemma2(epsilon dp.Epsilon, delta dp.Delta) float64 {
	return 4 * math.Sqrt(math.Log(1/float64(delta))) / float64(epsilon)
}

// elementWise is the scale of Laplace noise of Dhaliwal et al. 2019, lemma 1 with rows up
// to length 2: l1 sensitivity 2√k, over ε.
func elementWise(k int, epsilon dp.Epsilon) float64 {
	return 2 * math.Sqrt(float64(k)) / float64(epsilon)
}

// analytic is σ of the analytic Gaussian mechanism (Balle and Wang 2018) for l2
// sensitivity 1; dense projections need it times the greatest length of their rows.
func analytic(epsilon dp.Epsilon, delta dp.Delta) (float64, error) {
	mu, err := dp.MuOf(dp.Budget{Epsilon: epsilon, Delta: delta})
	return 1 / float64(mu), err
}
