package analysis

import (
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// columns is a merged columns-side sketch: all parties' columns beside each
// other (stack), or one set of columns of the union (add).
type columns struct {
	study  *study.Study
	gram   *estimate.Gram
	groups []group
	level  estimate.Level // of each interval
}

// group is the columns that came from one party, or from the union.
type group struct {
	party   string // empty for the union
	records int64
	plan    release.Plan
	first   int // index in the Gram of the group's first column
}

// columns merges the parties' sketches of one index into a Gram matrix.
func (r *run) columns(index int) (*columns, error) {
	c := &columns{study: r.Study}
	var parts []sketch.Sketch
	var noise []estimate.Noise
	add := r.Study.Merge(index) == study.Add
	for n, contribution := range r.Contributions {
		plan, err := release.For(r.Study, contribution.Party, index)
		if err != nil {
			return nil, err
		}
		parts = append(parts, contribution.Sketches[index])
		if add && n > 0 {
			c.groups[0].records += contribution.Records
			continue
		}
		g := group{party: r.Study.Parties[contribution.Party].Name, records: contribution.Records, plan: plan, first: len(noise)}
		if add {
			g.party = ""
		}
		c.groups = append(c.groups, g)
		for i := range plan.Features {
			noise = append(noise, plan.NoiseOf(i, 1, contribution.Records))
		}
	}
	merge := sketch.Stack
	if add {
		merge = sketch.Add
		for i := range noise {
			noise[i] = c.groups[0].plan.NoiseOf(i, len(parts), c.groups[0].records)
		}
	}
	merged, err := merge(parts...)
	if err != nil {
		return nil, err
	}
	c.gram, err = estimate.New(realColumns(merged, c.groups[0].plan.Unit()), noise)
	return c, err
}

// realColumns turns a k × n integer sketch into its n columns in encoded units.
func realColumns(s sketch.Sketch, unit float64) [][]float64 {
	out := make([][]float64, s.Cols)
	flat := make([]float64, s.Rows*s.Cols)
	for j := range out {
		out[j] = flat[j*s.Rows:][:s.Rows]
		for i := range s.Rows {
			out[j][i] = float64(s.Data[i*s.Cols+j]) * unit
		}
	}
	return out
}

// Intervals is how many intervals an analysis has, about so many columns of values and
// parties in all.
func Intervals(kind study.AnalysisKind, values, parties int) int {
	switch kind {
	case study.Mean:
		return values
	case study.GroupDistance:
		return parties * parties
	case study.Intersection:
		return parties * (parties - 1) / 2
	case study.InnerProduct, study.Covariance:
		return values * (values + 1) / 2
	}
	return values * (values - 1) / 2
}

// variable is one value feature, with its group.
type variable struct {
	group   group
	feature int // index into group.plan.Features
}

// variables lists the value features of all groups, in order.
func (c *columns) variables() []variable {
	var out []variable
	for _, g := range c.groups {
		for i := range g.plan.Values {
			out = append(out, variable{g, i})
		}
	}
	return out
}

func (c *columns) name(v variable) Feature {
	f := v.group.plan.Features[v.feature]
	return Feature{Party: v.group.party, Column: c.study.Columns[f.Column].Name, Value: f.Value}
}

// ones locates a group's column of ones; ok is false where it has none.
func (c *columns) ones(g group) (estimate.Ones, bool) {
	if g.plan.Sketch().Helpers.Ones == 0 {
		return estimate.Ones{}, false
	}
	return estimate.Ones{Column: g.first + len(g.plan.Features) - 1, Weight: g.plan.OnesWeight(), Records: int(g.records)}, true
}

// original is a variable in the column's original units, where the column of
// ones can supply the offset; otherwise the encoded variable, and false.
func (c *columns) original(v variable) (estimate.Combination, bool) {
	column, unit := c.column(v), c.unit(v)
	at := v.group.first + v.feature
	ones, ok := c.ones(v.group)
	switch {
	case column.Scale.Origin() == 0:
		return estimate.Combination{{Column: at, Weight: unit}}, true
	case ok:
		return estimate.Combination{{Column: at, Weight: unit}, {Column: ones.Column, Weight: column.Scale.Origin() / ones.Weight}}, true
	}
	return estimate.Column(at), false
}

// Assumptions of the two estimators of a correlation over the intersection.
const (
	assumesE1 = "nothing about which records the parties share"
	assumesE2 = "the records that two parties share are a random part of each party's records"
)

func (c *columns) correlation(a study.Analysis, out *Analysis) {
	out.Estimator, out.Assumption = a.Estimator(), assumesE2
	if a.Estimator() == study.E1 {
		out.Assumption = assumesE1
	}
	located := c.locate(a, out)
	for i := range located {
		for j := i + 1; j < len(located); j++ {
			e := estimate.Estimate{}
			if a.Estimator() == study.E1 {
				e = c.gram.CorrelationE1(located[i], located[j], c.level)
			} else {
				e = c.gram.CorrelationE2(located[i], located[j], c.level)
			}
			out.Pairs = append(out.Pairs, pair(i, j, e))
		}
	}
}

// locate names the value features and gives their places in the Gram.
func (c *columns) locate(a study.Analysis, out *Analysis) []estimate.Variable {
	vars := c.variables()
	located := make([]estimate.Variable, len(vars))
	for i, v := range vars {
		out.Features = append(out.Features, c.name(v))
		ones, _ := c.ones(v.group)
		located[i] = estimate.Variable{
			Value: v.group.first + v.feature, Ones: ones,
			Kurtosis: c.column(v).Kurtosis,
		}
		if a.Estimator() == study.E1 {
			located[i].Squares, located[i].SquaresWeight = v.group.first+v.group.plan.Values+v.feature, 1
		}
	}
	return located
}

func (c *columns) column(v variable) study.Column {
	return c.study.Columns[v.group.plan.Features[v.feature].Column]
}

// unit is how much of the column's original unit one encoded unit is.
func (c *columns) unit(v variable) float64 {
	return c.column(v).Scale.Step(c.study.Bits) * float64(c.study.Bits.One())
}

func (c *columns) intersection(out *Analysis) {
	for i, g := range c.groups {
		out.Features = append(out.Features, Feature{Party: g.party})
		for j := i + 1; j < len(c.groups); j++ {
			a, _ := c.ones(g)
			b, _ := c.ones(c.groups[j])
			out.Pairs = append(out.Pairs, pair(i, j, c.gram.Intersection(a, b, c.level)))
		}
	}
}

// Units of products and distances.
const (
	unitsOriginal = "original"
	unitsEncoded  = "encoded: (value - origin) over the range of bounds or over 3 spreads, as the sketch has no column of ones"
)

// products answers inner products, distances and cosines of all pairs. They are
// in original units if those of every column can be restored.
func (c *columns) products(kind study.AnalysisKind, out *Analysis) {
	vars := c.variables()
	combos := make([]estimate.Combination, len(vars))
	out.Units = unitsOriginal
	for i, v := range vars {
		out.Features = append(out.Features, c.name(v))
		combo, ok := c.original(v)
		combos[i] = combo
		if !ok {
			out.Units = unitsEncoded
		}
	}
	if out.Units == unitsEncoded {
		for i, v := range vars {
			combos[i] = estimate.Column(v.group.first + v.feature)
		}
	}
	if kind == study.Cosine && out.Units == unitsOriginal {
		out.Units = ""
	}
	for i := range combos {
		for j := i; j < len(combos); j++ {
			switch {
			case i == j && kind == study.InnerProduct:
				out.Pairs = append(out.Pairs, pair(i, i, c.gram.SquaredNorm(combos[i], c.level)))
			case i == j:
			case kind == study.InnerProduct:
				out.Pairs = append(out.Pairs, pair(i, j, c.gram.InnerProduct(combos[i], combos[j], c.level)))
			case kind == study.Distance:
				out.Pairs = append(out.Pairs, pair(i, j, c.gram.SquaredDistance(combos[i], combos[j], c.level)))
			case kind == study.Cosine:
				out.Pairs = append(out.Pairs, pair(i, j, c.gram.Cosine(combos[i], combos[j], c.level)))
			}
		}
	}
}
