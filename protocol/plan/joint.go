package plan

import (
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// joint reports whether a kind is answered by all columns together.
func joint(kind study.AnalysisKind) bool {
	return kind == study.PCA || kind == study.Regression || kind == study.LDA
}

// jointly forecasts an answer from all columns together: by how one pair of them errs, and
// by how many there are.
func (c *cell) jointly(q question) (forecast.Error, error) {
	together := forecast.Joint{Columns: len(c.explaining(q.analysis)), K: math.Inf(1), Least: leastEigenvalue[c.Options.end]}
	if !c.sketch().Side.Sums() {
		together.K = float64(c.sketch().Projection.K)
	}
	at := *c
	at.each = c.level(q.analysis)
	as := func(kind study.AnalysisKind) (forecast.Error, error) {
		return at.bare(question{study.Analysis{Kind: kind}, q.x, q.y})
	}
	noisy := c.Study.Privacy.Mechanism != dp.None
	if q.analysis.Kind == study.Regression && c.sketch().Side.Sums() && noisy {
		// Nothing is divided by the target's variance: all hangs on those of the columns that explain.
		with := q.x
		for _, p := range c.explaining(q.analysis) {
			if p != q.x {
				with = p
				break
			}
		}
		as = func(kind study.AnalysisKind) (forecast.Error, error) {
			y := with
			if kind == study.Covariance {
				y = q.y
			}
			return at.bare(question{study.Analysis{Kind: kind}, q.x, y})
		}
	}
	var err error
	if together.Correlation, err = as(study.Correlation); err != nil {
		return forecast.Error{}, err
	}
	if q.analysis.Kind == study.PCA {
		out := together.Component()
		if out.Undefined == "" {
			out.Standings, err = at.allStand()
		}
		return out, err
	}
	covariance, err := as(study.Covariance)
	if err != nil {
		return forecast.Error{}, err
	}
	if together.Ridge, err = c.ridge(q.analysis); err != nil {
		return forecast.Error{}, err
	}
	if q.analysis.Kind == study.LDA {
		label, _ := c.Study.Label()
		return together.Difference(covariance, 1/float64(len(label.Classes()))), nil
	}
	if !noisy {
		together.Correlation = forecast.Error{} // no noise that columns could drown in
	}
	return together.Coefficient(covariance), nil
}

// allStand are the standings of all columns together: of pca, which sets aside those whose variance
// drowns, and of the records that each two parties share.
func (c *cell) allStand() (out []estimate.Standing, err error) {
	type alike struct {
		party  int
		column forecast.Column
	}
	known := map[alike][]estimate.Standing{}
	correlation := study.Analysis{Kind: study.Correlation}
	for _, p := range c.places() {
		kind := alike{p.party, c.central(p)}
		if _, ok := known[kind]; !ok {
			e, err := c.bare(question{correlation, p, p})
			if err != nil {
				return nil, err
			}
			if e.Undefined != "" { // it does not stand out even as expected
				known[kind] = []estimate.Standing{{}}
			} else if n := len(e.Standings); n > 0 {
				known[kind] = e.Standings[n-1:]
			}
		}
		out = append(out, known[kind]...)
	}
	if c.union() || c.sketch().Side.Sums() {
		return out, nil
	}
	for x := range c.Study.Parties {
		for y := range x {
			ones := study.Feature{Column: -1, Kind: study.Ones}
			pair, err := c.pair(place{x, ones}, place{y, ones})
			if err != nil {
				return nil, err
			}
			shared, err := pair.SharedStanding()
			if err != nil {
				return nil, err
			}
			out = append(out, shared...)
		}
	}
	return out, nil
}

// ridge is the one that a regression or lda will have.
func (c *cell) ridge(a study.Analysis) (float64, error) {
	var of study.Ridge
	switch o := a.Options.(type) {
	case study.RegressionOptions:
		of = o.Ridge
	case study.LDAOptions:
		of = o.Ridge
	}
	if c.sketch().Side != sketch.Moments {
		return of.By, nil
	}
	plan, err := c.plan(c.viewer())
	if err != nil {
		return 0, err
	}
	var on []int
	for _, p := range c.explaining(a) {
		on = append(on, slices.Index(plan.Features, p.feature))
	}
	noise, err := c.momentNoise()
	if err != nil {
		return 0, err
	}
	return plan.Ridge(of, noise.Product, int64(c.unionRecords()), on), nil
}

// places are all value features, of every party or of the union.
func (c *cell) places() (out []place) {
	for party := range c.Study.Parties {
		for _, f := range c.Study.Features(party, c.index) {
			if f.Kind == study.Value || f.Kind == study.OneHot {
				out = append(out, place{party, f})
			}
		}
		if c.union() {
			break
		}
	}
	return out
}

// explaining are the features of an analysis of all columns: of a regression and lda those
// that explain, without the reference of each categorical column.
func (c *cell) explaining(a study.Analysis) (out []place) {
	var on []string
	explained := ""
	switch o := a.Options.(type) {
	case study.RegressionOptions:
		on, explained = o.On, o.Target
	case study.LDAOptions:
		label, _ := c.Study.Label()
		on, explained = o.On, label.Name
	default:
		return c.places()
	}
	for _, p := range c.places() {
		column := c.Study.Columns[p.feature.Column]
		reference := column.Kind == study.Categorical && p.feature.Value == column.Values[0]
		if column.Name != explained && !reference && (len(on) == 0 || slices.Contains(on, column.Name)) {
			out = append(out, p)
		}
	}
	return out
}

// explained are the questions of a regression and lda: each column that explains, with the
// target, or with the label's first value.
func (c *cell) explained(a study.Analysis) (out []question) {
	name := ""
	switch o := a.Options.(type) {
	case study.RegressionOptions:
		name = o.Target
	case study.LDAOptions:
		label, _ := c.Study.Label()
		name = label.Name
	}
	target := slices.IndexFunc(c.places(), func(p place) bool { return c.Study.Columns[p.feature.Column].Name == name })
	if target < 0 {
		return nil
	}
	for _, p := range c.explaining(a) {
		out = append(out, question{a, p, c.places()[target]})
	}
	return out
}

// summing are the questions of sums: the columns of a party over the records of each
// other one, or of the union over its own.
func (c *cell) summing(a study.Analysis) (out []question) {
	for party := range c.Study.Parties {
		for _, x := range c.extremes(party) {
			for other := range c.Study.Parties {
				if other != party || c.union() {
					out = append(out, question{a, x, place{other, study.Feature{Column: -1, Kind: study.Ones}}})
				}
				if c.union() {
					break
				}
			}
		}
		if c.union() {
			break
		}
	}
	return out
}
