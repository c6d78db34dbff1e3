package defaults

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/protocol/study"
)

// told measures the discriminant of a horizontal study with a label.
func told(d *data, epsilon float64, masked bool) measured {
	s := setting{data: d, partition: study.Horizontal, epsilon: epsilon, masked: masked, by: bySpread, ask: []string{"lda"}}
	l := limits{low: 0.93, excused: masked}
	d.truth()
	return measured{s, []asked{
		{what: "lda is defined", kind: study.LDA, limits: limits{undefined: 0.05}, numbers: defined(study.LDA)},
		{what: "lda: shares of classes", measure: "share", limits: l, numbers: classShares},
		{what: "lda: means of classes", measure: "spreads", limits: l, numbers: classMeans},
	}, seedsFor(2)}
}

// defined counts whole answers, not their numbers.
func defined(kind study.AnalysisKind) func(*played, *tally) error {
	return func(p *played, t *tally) error {
		a, err := p.answer(kind)
		if err != nil {
			return err
		}
		if a.Undefined != "" {
			t.undefined++
		} else {
			t.answered++
		}
		return nil
	}
}

// members returns the rows of each class of the label.
func (d *data) members() (label column, of map[string][]int) {
	at := slices.IndexFunc(d.columns, func(c column) bool { return c.label })
	label, of = d.columns[at], map[string][]int{}
	for r, row := range d.rows {
		name := fmt.Sprint(row[at])
		if label.kind == study.Categorical {
			name = label.values[int(row[at])]
		}
		of[name] = append(of[name], r)
	}
	return label, of
}

func classShares(p *played, t *tally) error {
	a, err := p.answer(study.LDA)
	if err != nil || a.LDA == nil {
		return err
	}
	_, members := p.data.members()
	for c, class := range a.LDA.Classes {
		t.number(class, a.LDA.Shares[c], float64(len(members[class]))/float64(len(p.data.rows)), 1, marked(a))
	}
	return nil
}

// classMeans compares means of classes, in spreads of the column over all classes.
func classMeans(p *played, t *tally) error {
	a, err := p.answer(study.LDA)
	if err != nil || a.LDA == nil {
		return err
	}
	truth := p.data.truth()
	at, err := truth.places(a)
	if err != nil {
		return err
	}
	_, members := p.data.members()
	for c, class := range a.LDA.Classes {
		if len(members[class]) == 0 {
			return fmt.Errorf("no record has the class %q", class)
		}
		for j, i := range at {
			var sum, n float64
			for _, r := range members[class] {
				if x := p.data.entry(p.data.rows[r], truth.features[i]); !math.IsNaN(x) {
					sum, n = sum+x, n+1
				}
			}
			t.number(called(a.Features[j])+" of "+class, a.LDA.Means[c][j], sum/n, truth.sds[i], marked(a))
		}
	}
	return nil
}

// explained measures the regression of a column on all others in a horizontal study.
func explained(d *data, epsilon float64, masked bool, target string) measured {
	s := setting{data: d, partition: study.Horizontal, epsilon: epsilon, masked: masked, by: bySpread, ask: []string{"{kind: regression, target: " + target + "}"}}
	d.truth()
	return measured{s, []asked{
		{what: "regression is defined", kind: study.Regression, limits: limits{undefined: 0.05}, numbers: defined(study.Regression)},
		{what: "regression: coefficients", measure: "spreads a spread", numbers: coefficients},
	}, seedsFor(6)}
}

// coefficients compares coefficients with those of the same ridge on the raw data.
func coefficients(p *played, t *tally) error {
	a, err := p.answer(study.Regression)
	if err != nil || a.Regression == nil {
		return err
	}
	truth := p.data.truth()
	at, err := truth.places(a)
	if err != nil {
		return err
	}
	target, err := truth.place(a.Regression.Target)
	if err != nil {
		return err
	}
	b, err := truth.regression(at, target, a.Regression.Ridge)
	if err != nil {
		return err
	}
	for j, i := range at {
		unit := truth.sds[target] / truth.sds[i]
		t.number(called(a.Features[j]), p.interval(a.Regression.Coefficients[j]), b[j]*unit, unit, marked(a))
	}
	return nil
}

// regression solves the regression from correlations, with a ridge on their diagonal.
func (s *summary) regression(on []int, target int, ridge float64) ([]float64, error) {
	r, y := mat.NewSymDense(len(on), nil), mat.NewVecDense(len(on), nil)
	for a, i := range on {
		y.SetVec(a, s.correlation(i, target))
		for b, j := range on[:a+1] {
			c := s.correlation(i, j)
			if i == j {
				c = 1 + ridge
			}
			r.SetSym(a, b, c)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(r) {
		return nil, errors.New("the columns of the raw data are collinear")
	}
	var out mat.VecDense
	if err := chol.SolveVecTo(&out, y); err != nil {
		return nil, fmt.Errorf("regressing the raw data: %w", err)
	}
	return out.RawVector().Data, nil
}
