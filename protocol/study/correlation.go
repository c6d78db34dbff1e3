package study

import (
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Correlation is of columns, over the intersection. Covariance and correlation need ones
// for the means and, by estimator E1, squares for the variances over the intersection.
const Correlation AnalysisKind = "correlation"

// CorrelationOptions are those of Correlation.
type CorrelationOptions struct {
	Estimator Estimator // default E2
}

// Estimator names a way to estimate correlations over the intersection
// (see kernel/estimate for their assumptions).
type Estimator string

const (
	E1 Estimator = "E1" // no assumption; needs ones and squares
	E2 Estimator = "E2" // overlap at random; needs ones
)

var correlation = kind{
	name: Correlation,
	needs: func(options Options) []needs {
		o, _ := options.(CorrelationOptions)
		return []needs{{side: sketch.Columns, ones: true, squares: o.Estimator == E1}}
	},
	keys: []string{"estimator"},
	read: func(o object) Options { return CorrelationOptions{Estimator: choice(o, "estimator", estimators, E2)} },
	says: func(a Analysis) string { return "estimator " + string(a.Estimator()) },
}

// Estimator is how a correlation is estimated, and empty for other kinds.
func (a Analysis) Estimator() Estimator {
	o, _ := a.Options.(CorrelationOptions)
	return o.Estimator
}

func (o CorrelationOptions) String() string { return "estimator: " + string(o.Estimator) }

func (o CorrelationOptions) encode(e *encoder) { e.text("analysis.estimator", string(o.Estimator)) }
