package study

import (
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// Correlation is of columns, by moments over the union, otherwise over the intersection. From a
// columns-side sketch, covariance and correlation need ones for the means; estimator E1 also needs
// squares for the variances over the intersection.
const Correlation AnalysisKind = "correlation"

// CorrelationOptions are the options of Correlation.
type CorrelationOptions struct {
	Estimator Estimator // default E2; empty if moments answer, which have no choice of estimators
}

// Estimator names a way to estimate correlations over the intersection
// (see kernel/estimate for their assumptions).
type Estimator string

const (
	E1 Estimator = "E1" // no assumption; needs ones and squares
	E2 Estimator = "E2" // overlap at random; needs ones
)

func ofCorrelation() Kind {
	return Kind{
		Name: Correlation,
		Needs: func(options Options) []Needs {
			o, _ := options.(CorrelationOptions)
			return []Needs{{Side: sketch.Moments}, {Side: sketch.Columns, Ones: true, squares: o.Estimator == E1}}
		},
		says: func(a Analysis) string {
			if a.Estimator() == "" {
				return "of the union"
			}
			return "estimator " + string(a.Estimator())
		},
		keys: optionKeys[CorrelationOptions]{Keys: correlationKeys},
		complete: func(r *schema.Reader, answering Sketch, options Options, path string) Options {
			if answering.Side != sketch.Moments {
				return options
			}
			if r.Given(path + ".estimator") {
				r.Fail(path+".estimator", "does not belong here: moments are of all records, and leave no choice of an estimator").Hint = "remove the key"
			}
			return CorrelationOptions{}
		},
	}
}

var correlationKeys = schema.Keys[CorrelationOptions]{{
	Name: "estimator", Path: "analysis.estimator", Default: string(E2),
	Doc:  "E1 assumes nothing and needs squares; E2 assumes that shared records are a random part",
	Form: schema.Word(func(o *CorrelationOptions) *Estimator { return &o.Estimator }, schema.Words{What: "estimator", Has: []string{string(E1), string(E2)}}),
}}

// Estimator returns how a correlation is estimated; empty for other kinds.
func (a Analysis) Estimator() Estimator {
	o, _ := a.Options.(CorrelationOptions)
	return o.Estimator
}

func (o CorrelationOptions) String() string {
	if o.Estimator == "" {
		return ""
	}
	return "estimator: " + string(o.Estimator)
}

func (o CorrelationOptions) Encode(e *schema.Encoder) {
	correlationKeys.Encode(e, &o)
}
