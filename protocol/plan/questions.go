package plan

import (
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// questions lists questions of an analysis that include those with the largest and the smallest
// error. It is empty if there is nothing to compare.
func (c *cell) questions(a study.Analysis) []question {
	if asks := c.of(a.Kind).asks; asks != nil {
		return asks(c, a)
	}
	return c.pairs(a, false)
}

// pairs pairs the columns of the smallest and largest spread of every party, or of the union, with
// those of others; if alone, also each with itself.
func (c *cell) pairs(a study.Analysis, alone bool) []question {
	var groups [][]place
	for party := range c.apart() {
		groups = append(groups, c.extremes(party))
	}
	return c.across(a, groups, alone)
}

// apart returns how many sets of columns there are: one per party, or one for the union.
func (c *cell) apart() int {
	if c.union() {
		return 1
	}
	return len(c.Study.Parties)
}

// across returns all pairs of places of two groups, or of the single group of the union.
func (c *cell) across(a study.Analysis, groups [][]place, alone bool) (out []question) {
	for i, own := range groups {
		if alone {
			for _, x := range own {
				out = append(out, question{a, x, x})
			}
		}
		if c.union() && len(own) == 2 {
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

// onesOf stands for the record count of a party.
func onesOf(party int) place { return place{party, study.Feature{Column: -1, Kind: study.Ones}} }

// extremes returns a party's value features of smallest and largest spread: two features if it has
// two.
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

// hardest returns the question whose answer has the largest error, that error, and the smallest
// error.
func (c *cell) hardest(questions []question) (hardest question, most, least forecast.Error, err error) {
	for i, q := range questions {
		of := c.of(q.analysis.Kind)
		e, err := c.forecast(q)
		if err != nil {
			return question{}, most, least, err
		}
		if i == 0 || of.off(e) > of.off(most) {
			hardest, most = q, e
		}
		if i == 0 || of.off(least) > of.off(e) {
			least = e
		}
	}
	return hardest, most, least, nil
}

// names returns the features of a question, as results name them.
func (c *cell) names(q question) []analysis.Feature {
	if names := c.of(q.analysis.Kind).names; names != nil {
		return names(c, q)
	}
	return []analysis.Feature{c.named(q.x), c.named(q.y)}
}

// named returns the name of a place, as in results.
func (c *cell) named(p place) analysis.Feature {
	f := analysis.Feature{Party: c.Study.Parties[p.party].Name, Value: p.feature.Value}
	if p.feature.Kind != study.Ones {
		f.Column = c.Study.Columns[p.feature.Column].Title()
	}
	if c.union() {
		f.Party = ""
	}
	return f
}
