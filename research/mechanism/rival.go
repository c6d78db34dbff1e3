package mechanism

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/research/sources"
)

// rival is one mechanism of the comparison.
type rival struct {
	name   string
	source string // paper or method; empty for this project's own
	pure   bool   // pure ε, without δ
	step   int    // k must be a multiple of it; 0: any k
	whole  bool   // k is d: nothing is projected
	record bool   // protects a whole record, not one value, so that the comparison is not fair

	// variance is the formula for the squared distance at an ε and k. rows are norms of the longest
	// rows of drawn matrices, for a mechanism that adapts to them.
	variance func(s Setting, k int, epsilon dp.Epsilon, rows []float64) (float64, error)
	// once simulates one pair of records and returns the error of their distance.
	once func(t *trial, epsilon dp.Epsilon) (float64, error)
	// doubt returns a caveat about the guarantee; nil: none.
	doubt func(s Setting, epsilon dp.Epsilon) string
}

// rivals returns the mechanisms, those of the sources first.
func rivals() []rival {
	out := []rival{
		dense("gaussian + gaussian", "KKMM, lemma 2", false, lemma2).doubted(func(s Setting, epsilon dp.Epsilon) string {
			if _, holds, _ := sources.KenthapadiLemma2(s.source(s.K, epsilon)); !holds {
				return "it promises nothing here: it is for k > 2(ln d + ln(2/δ)) and ε < ln(1/δ)"
			}
			return ""
		}),
		dense("gaussian by row", "KKMM, theorem 1", false, theorem1).doubted(func(Setting, dp.Epsilon) string {
			return "corrected: as printed it divides by 2δ where ε is meant; for the longest row as drawn"
		}),
		dense("gaussian + analytic", "by longest row", false, analytic),
		dense("gaussian + laplace", "Dhaliwal, thm 3", true, element).doubted(func(s Setting, epsilon dp.Epsilon) string {
			_, confidence, _ := sources.DhaliwalElement(s.source(s.K, epsilon))
			if confidence > 1-1e-12 {
				return ""
			}
			return fmt.Sprintf("it fails where a row is longer than 2, by its own account with a probability of at most %.2g", min(1, 1-confidence))
		}),
		dense("laplace by record", "Dhaliwal, table 1", true, record(func(Setting) float64 { return 1 })).ofRecords().doubted(func(Setting, dp.Epsilon) string {
			return "for a change of a whole record by a length of 1, to which theorem 5 gives the probability 0"
		}),
		dense("laplace by record, δ", "Dhaliwal, thm 5", false, record(func(s Setting) float64 { return float64(s.Delta) })).ofRecords().doubted(func(Setting, dp.Epsilon) string {
			return "the same at failure probability δ, for one pair of records"
		}),
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
		name: string(dp.RandomisedResponse), source: "binary values", pure: true, whole: true,
		variance: func(s Setting, _ int, epsilon dp.Epsilon, _ []float64) (float64, error) {
			g, err := s.promise(dp.RandomisedResponse, epsilon)
			if err != nil {
				return 0, err
			}
			law, err := forecast.Method{Mechanism: dp.RandomisedResponse, Family: projection.Identity}.Attribute(s.D, s.D, g)
			return law.Distance(s.difference()), err
		},
		once: func(t *trial, epsilon dp.Epsilon) (float64, error) { return t.respond(epsilon) },
	})
}

// own returns one of the project's mechanisms, as studies select it.
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

// difference returns the difference of the two records: every value that differs does so by 1.
func (s Setting) difference() forecast.Difference {
	return forecast.Difference{Squared: float64(s.R2), Fourth: float64(s.R2)}
}
