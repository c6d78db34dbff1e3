package plan

import (
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// known reports whether an analysis is among those that are forecast.
func (c *cell) known(a study.Analysis) bool {
	o, bare := a.Options.(study.PCAOptions)
	return measures[a.Kind] != "" && !(bare && !o.Centre)
}

// questions lists the pairs of an analysis among which the ones that err most and
// least are: of every party, or of the union, the columns with the least and the
// greatest spread; of covariances, which include variances, also each of them with
// itself. On the records side there is one question, about two typical records, or, for
// groups, one for each pair of parties. The list is empty where a study has no pair.
func (c *cell) questions(a study.Analysis) []question {
	switch {
	case a.Kind == study.GroupDistance:
		return c.pairsOfParties(a)
	case a.Kind == study.Regression || a.Kind == study.LDA:
		return c.explained(a)
	case a.Kind == study.Sums:
		return c.summing(a)
	case c.sketch().Side == sketch.Records || c.sketch().Side == sketch.Cells:
		return []question{{analysis: a}}
	}
	var groups [][]place
	for party := range c.Study.Parties {
		if a.Kind == study.Intersection {
			groups = append(groups, []place{{party, study.Feature{Column: -1, Kind: study.Ones}}})
		} else {
			groups = append(groups, c.extremes(party))
		}
		if c.union() {
			break
		}
	}
	var out []question
	for i, own := range groups {
		if a.Kind == study.Covariance || a.Kind == study.Mean {
			for _, x := range own {
				out = append(out, question{a, x, x})
			}
		}
		if c.union() && len(own) == 2 && a.Kind != study.Mean {
			out = append(out, question{a, own[0], own[1]})
		}
		for _, others := range groups[i+1:] {
			for _, x := range own {
				for _, y := range others {
					out = append(out, question{a, x, y})
				}
			}
		}
	}
	return out
}

// pairsOfParties are all pairs of parties, each with itself too.
func (c *cell) pairsOfParties(a study.Analysis) (out []question) {
	for i := range c.Study.Parties {
		for j := range i + 1 {
			out = append(out, question{a, place{party: j}, place{party: i}})
		}
	}
	return out
}

// extremes are a party's value features of least and greatest spread; two features
// wherever there are two.
func (c *cell) extremes(party int) []place {
	var features []study.Feature
	for _, f := range c.Study.Features(party, c.index) {
		if f.Kind == study.Value || f.Kind == study.OneHot {
			features = append(features, f)
		}
	}
	least, most := 0, len(features)-1
	for i, f := range features {
		if c.encoded(f).Spread < c.encoded(features[least]).Spread {
			least = i
		}
		if c.encoded(f).Spread > c.encoded(features[most]).Spread {
			most = i
		}
	}
	if least == most {
		return []place{{party, features[least]}}
	}
	return []place{{party, features[least]}, {party, features[most]}}
}

// hardest returns the question whose answer errs most, and the error of the one that
// errs least.
func (c *cell) hardest(questions []question) (hardest question, most, least forecast.Error, err error) {
	for i, q := range questions {
		e, err := c.forecast(q)
		if err != nil {
			return question{}, most, least, err
		}
		if i == 0 || off(q.analysis.Kind, e) > off(q.analysis.Kind, most) {
			hardest, most = q, e
		}
		if i == 0 || off(q.analysis.Kind, least) > off(q.analysis.Kind, e) {
			least = e
		}
	}
	return hardest, most, least, nil
}

// names are the features of a question, as results name them.
func (c *cell) names(q question) []analysis.Feature {
	parties := q.analysis.Kind == study.GroupDistance
	if side := c.sketch().Side; side == sketch.Cells || side == sketch.Records && !parties {
		return nil
	}
	name := func(p place) analysis.Feature {
		f := analysis.Feature{Party: c.Study.Parties[p.party].Name, Value: p.feature.Value}
		if p.feature.Kind != study.Ones && !parties {
			f.Column = c.Study.Columns[p.feature.Column].Title()
		}
		if c.union() {
			f.Party = ""
		}
		return f
	}
	if q.analysis.Kind == study.Mean {
		return []analysis.Feature{name(q.x)}
	}
	return []analysis.Feature{name(q.x), name(q.y)}
}
