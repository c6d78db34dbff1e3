package plan

import (
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofLDA() forecaster {
	return forecaster{
		kind: study.LDA, other: map[sketch.Side]errorFunc{sketch.Moments: difference}, asks: explained, about: aboutExplained, tail: tailsOfProducts, divided: true,
		explains: func(c *cell, a study.Analysis) explanation {
			o, _ := a.Options.(study.LDAOptions)
			label, _ := c.Study.Label()
			return explanation{o.On, label.Name, o.Ridge}
		},
		assumes: correlatedAtWorst,
		intervals: func(c *cell, a study.Analysis) int {
			k := c.classes()
			return k + (2*k-1)*len(c.explaining(a)) + k*(k-1)
		},
		measure: "difference of two classes' means, as share of the column's spread", usable: standsOut,
		worth: func(f judgement) string {
			return "classes whose means in a column are " + detects(f.Chosen) + " of its spread apart are told apart; how well all columns together do depends on the data" + supposing(f.Supposes)
		},
		tooWide: "classes whose means are a whole spread apart would not be told apart",
	}
}

// classes returns the number of classes of the label.
func (c *cell) classes() int {
	label, _ := c.Study.Label()
	return len(label.Classes())
}

// difference forecasts the error of the distance of two classes in a column.
func difference(c *cell, q question) (forecast.Error, error) {
	at, together, err := c.together(q.analysis, q.x, q.y)
	if err != nil {
		return forecast.Error{}, err
	}
	covariance, err := at.pairErrs(study.Covariance, q.x, q.y)
	return together.Difference(covariance, 1/float64(c.classes())), err
}
