package mechanism

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
)

// rival is one mechanism of the comparison.
type rival struct {
	name   string
	source string // whose it is; empty for this project's own
	pure   bool   // ε alone, no δ
	step   int    // k is a multiple of it; 0: any k
	whole  bool   // k is d: nothing is projected

	// variance is the formula for the squared distance at an ε and k; rows are the
	// greatest lengths of rows that were drawn, for a mechanism that adapts to them.
	variance func(s Setting, k int, epsilon dp.Epsilon, rows []float64) (float64, error)
	// once simulates one pair of records and returns the error of their distance.
	once func(t *trial, epsilon dp.Epsilon) (float64, error)
}

// rivals lists the mechanisms, the sources' first.
func rivals() []rival {
	out := []rival{
		{
			name: "gaussian + gaussian", source: "KKMM 2012, lemma 2",
			variance: func(s Setting, k int, epsilon dp.Epsilon, _ []float64) (float64, error) {
				return s.dense(k, gaussianNoise(lemma2(epsilon, s.Delta))), nil
			},
			once: func(t *trial, epsilon dp.Epsilon) (float64, error) {
				return t.dense(dp.Gaussian, lemma2(epsilon, t.Delta))
			},
		},
		{
			name: "gaussian + analytic", source: "longest row drawn",
			variance: func(s Setting, k int, epsilon dp.Epsilon, rows []float64) (float64, error) {
				sigma, err := analytic(epsilon, s.Delta)
				var mean float64
				for _, w := range rows {
					mean += s.dense(k, gaussianNoise(sigma*w)) / float64(len(rows))
				}
				return mean, err
			},
			once: func(t *trial, epsilon dp.Epsilon) (float64, error) {
				sigma, err := analytic(epsilon, t.Delta)
				if err != nil {
					return 0, err
				}
				return t.dense(dp.Gaussian, sigma*t.longest)
			},
		},
		{
			name: "gaussian + laplace", source: "Dhaliwal et al. 2019", pure: true,
			variance: func(s Setting, k int, epsilon dp.Epsilon, _ []float64) (float64, error) {
				return s.dense(k, laplaceNoise(elementWise(k, epsilon))), nil
			},
			once: func(t *trial, epsilon dp.Epsilon) (float64, error) {
				return t.dense(dp.Laplace, elementWise(t.K, epsilon))
			},
		},
	}
	for _, m := range []struct {
		method forecast.Method
		source string
	}{
		{forecast.Method{Mechanism: dp.Gaussian, Family: projection.Hadamard}, "SRHT, analytic"},
		{forecast.Method{Mechanism: dp.Laplace, Family: projection.Rademacher}, ""},
		{forecast.Method{Mechanism: dp.Laplace, Family: projection.Sparse, S: 8}, ""},
		{forecast.Method{Mechanism: dp.Laplace, Family: projection.Sparse, S: 4}, ""},
		{forecast.Method{Mechanism: dp.Laplace, Family: projection.Sparse, S: 1}, "CountSketch"},
		{forecast.Method{Mechanism: dp.Laplace, Family: projection.Identity}, ""},
	} {
		out = append(out, own(m.method, m.source))
	}
	return append(out, rival{
		name: string(forecast.RandomisedResponse), source: "binary values only", pure: true, whole: true,
		variance: func(s Setting, _ int, epsilon dp.Epsilon, _ []float64) (float64, error) {
			return forecast.ResponseDistance(s.D, epsilon), nil
		},
		once: func(t *trial, epsilon dp.Epsilon) (float64, error) { return t.respond(epsilon) },
	})
}

// own is one of the project's own mechanisms, as studies select it.
func own(m forecast.Method, source string) rival {
	name := fmt.Sprintf("%s + %s", m.Family, m.Mechanism)
	if m.S > 0 {
		name = fmt.Sprintf("%s s=%d + %s", m.Family, m.S, m.Mechanism)
	}
	return rival{
		name: name, source: source, pure: m.Mechanism == dp.Laplace, step: m.S, whole: m.Family == projection.Identity,
		variance: func(s Setting, k int, epsilon dp.Epsilon, _ []float64) (float64, error) {
			g, err := s.promise(m.Mechanism, epsilon)
			if err != nil {
				return 0, err
			}
			if m.Family == projection.Identity {
				k = s.D
			}
			law, err := m.Attribute(k/max(m.S, 1)*max(m.S, 1), s.D, g)
			return law.Distance(s.difference()), err
		},
		once: func(t *trial, epsilon dp.Epsilon) (float64, error) { return t.own(m, epsilon) },
	}
}

func (s Setting) promise(m dp.Mechanism, epsilon dp.Epsilon) (dp.Guarantee, error) {
	b := dp.Budget{Epsilon: epsilon}
	if m == dp.Gaussian {
		b.Delta = s.Delta
	}
	return dp.Promise(m, b)
}

// difference is that of the two records: every value that differs does so by 1.
func (s Setting) difference() forecast.Difference {
	return forecast.Difference{Squared: float64(s.R2), Fourth: float64(s.R2)}
}

// dense is the variance of the distance under a dense Gaussian projection.
func (s Setting) dense(k int, noise estimate.Noise) float64 {
	law := forecast.Law{Projection: projection.Spec{Family: projection.Gaussian, K: k}, Features: s.D, Noise: noise}
	return law.Distance(s.difference())
}

func gaussianNoise(sigma float64) estimate.Noise { return estimate.Noise{Variance: sigma * sigma} }

func laplaceNoise(scale float64) estimate.Noise {
	return estimate.Noise{Variance: 2 * scale * scale, FourthCumulant: 12 * math.Pow(scale, 4)}
}
