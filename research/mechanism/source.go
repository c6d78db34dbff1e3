package mechanism

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/research/sources"
)

// calibration returns the noise of a mechanism for a dense Gaussian projection whose longest row
// has the given norm.
type calibration func(s Setting, k int, epsilon dp.Epsilon, longest float64) (sources.Noise, error)

// dense returns a mechanism with a dense Gaussian projection of entries N(0, 1/k).
func dense(name, source string, pure bool, noise calibration) rival {
	return rival{
		name: name, source: source, pure: pure,
		variance: func(s Setting, k int, epsilon dp.Epsilon, rows []float64) (mean float64, err error) {
			for _, longest := range rows {
				n, err := noise(s, k, epsilon, longest)
				if err != nil {
					return 0, err
				}
				mean += sources.DistanceVariance(k, float64(s.R2), n) / float64(len(rows))
			}
			return mean, nil
		},
		once: func(t *trial, epsilon dp.Epsilon) (float64, error) {
			if err := t.draw(); err != nil {
				return 0, err
			}
			n, err := noise(t.Setting, t.K, epsilon, t.longest)
			if err != nil {
				return 0, err
			}
			return t.dense(n)
		},
	}
}

func (r rival) ofRecords() rival {
	r.record = true
	return r
}

func (r rival) doubted(by func(Setting, dp.Epsilon) string) rival {
	r.doubt = by
	return r
}

// source converts the setting for the papers' calibrations.
func (s Setting) source(k int, epsilon dp.Epsilon) sources.Setting {
	return sources.Setting{Budget: dp.Budget{Epsilon: epsilon, Delta: s.Delta}, Columns: s.D, K: k}
}

func lemma2(s Setting, k int, epsilon dp.Epsilon, _ float64) (sources.Noise, error) {
	n, _, err := sources.KenthapadiLemma2(s.source(k, epsilon))
	return n, err
}

func theorem1(s Setting, k int, epsilon dp.Epsilon, longest float64) (sources.Noise, error) {
	return sources.KenthapadiTheorem1(s.source(k, epsilon).Budget, longest)
}

func element(s Setting, k int, epsilon dp.Epsilon, _ float64) (sources.Noise, error) {
	n, _, err := sources.DhaliwalElement(s.source(k, epsilon))
	return n, err
}

func record(beta func(Setting) float64) calibration {
	return func(s Setting, k int, epsilon dp.Epsilon, _ float64) (sources.Noise, error) {
		return sources.DhaliwalRow(s.source(k, epsilon), beta(s))
	}
}

// analytic is the analytic Gaussian mechanism (Balle and Wang 2018) for the longest row.
func analytic(s Setting, _ int, epsilon dp.Epsilon, longest float64) (sources.Noise, error) {
	mu, err := dp.MuOf(dp.Budget{Epsilon: epsilon, Delta: s.Delta})
	return sources.Noise{Mechanism: dp.Gaussian, Scale: longest / float64(mu)}, err
}
