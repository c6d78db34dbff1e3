package plan

import (
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofRegression() forecaster {
	return forecaster{
		kind: study.Regression, other: jointly(coefficient), asks: explained, about: aboutExplained, tail: tailsOfProducts, divided: true,
		explains: func(_ *cell, a study.Analysis) explanation {
			o, _ := a.Options.(study.RegressionOptions)
			return explanation{o.On, o.Target, o.Ridge}
		},
		assumes:   correlatedAtWorst,
		intervals: func(c *cell, a study.Analysis) int { return len(c.explaining(a)) + 3 },
		measure:   "spreads of the target per spread of the column", usable: standsOut,
		worth: func(f judgement) string {
			return "coefficients of at least " + detects(f.Chosen) + " stand out, in spreads of the target per spread of the column; those of correlated columns have larger errors" + supposing(f.Supposes)
		},
		tooWide: "even a target that follows the column exactly would not stand out of the interval of its coefficient",
	}
}

// coefficient forecasts the error of the coefficient of one column.
func coefficient(c *cell, q question) (forecast.Error, error) {
	noisy, with := c.Study.Privacy.Mechanism != dp.None, q.y
	if !c.projects() && noisy {
		// Nothing is divided by the target's variance: only those of the explaining columns matter.
		with = q.x
		on := c.explaining(q.analysis)
		if i := slices.IndexFunc(on, func(p place) bool { return p != q.x }); i >= 0 {
			with = on[i]
		}
	}
	at, together, err := c.together(q.analysis, q.x, with)
	if err != nil {
		return forecast.Error{}, err
	}
	if !noisy {
		together.Correlation = forecast.Error{} // no noise that could hide columns
	}
	covariance, err := at.pairErrs(study.Covariance, q.x, q.y)
	return together.Coefficient(covariance), err
}
