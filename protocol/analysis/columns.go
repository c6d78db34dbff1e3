package analysis

import (
	"context"
	"slices"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// columns is a merged columns-side sketch: all parties' columns beside each
// other (stack), or one set of columns of the union (add).
type columns struct {
	study  *study.Study
	gram   *estimate.Gram
	rows   estimate.Integers // of which gram holds the products
	groups []group
	level  estimate.Level // of each interval
	tell   func(done, total int)
}

// group is the columns that came from one party, or from the union.
type group struct {
	party   string // empty for the union
	records int64
	plan    release.Plan
	first   int // index in the Gram of the group's first column
}

// columns merges the parties' sketches of one index into a Gram matrix, once for all
// analyses that ask for it.
func (r *run) columns(ctx context.Context, index int) (columns, error) {
	if c, ok := r.merged[index]; ok {
		return c, nil
	}
	c, err := r.merge(ctx, index)
	if err != nil {
		return columns{}, err
	}
	if r.merged == nil {
		r.merged = map[int]columns{}
	}
	r.merged[index] = *c
	return *c, nil
}

func (r *run) merge(ctx context.Context, index int) (*columns, error) {
	c := &columns{study: r.Study}
	var noise []estimate.Noise
	add := r.Study.Merge(index) == study.Add
	for n, contribution := range r.Contributions {
		plan, err := r.planned(contribution.Party, index)
		if err != nil {
			return nil, err
		}
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
	if add {
		for i := range noise {
			noise[i] = c.groups[0].plan.NoiseOf(i, len(r.Contributions), c.groups[0].records)
		}
	}
	merged, err := r.mergedColumns(c.groups[0].plan, index, add)
	if err != nil {
		return nil, err
	}
	integers := estimate.Integers{K: merged.Rows, N: merged.Cols, Data: merged.Data, Unit: c.groups[0].plan.Unit()}
	c.rows = integers
	c.gram, err = estimate.FromIntegers(ctx, integers, noise)
	return c, err
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

func (c *columns) correlation(ctx context.Context, a study.Analysis, out *Analysis) (err error) {
	out.Estimator, out.Assumption = a.Estimator(), assumesE2
	of := c.gram.CorrelationE2
	if a.Estimator() == study.E1 {
		out.Assumption, of = assumesE1, c.gram.CorrelationE1
	}
	located := c.locate(a, out)
	out.Pairs, err = everyPair(ctx, len(located), false, func(i, j int) estimate.Estimate {
		return of(located[i], located[j], c.level)
	})
	return err
}

// everyPair answers all pairs of n features, with themselves or without, on all
// processors.
func everyPair(ctx context.Context, n int, themselves bool, of func(i, j int) estimate.Estimate) ([]Pair, error) {
	rows := make([][]Pair, n)
	parallel.For(n, func(i int) {
		rows[i] = make([]Pair, 0, n-i)
		for j := i; j < n && ctx.Err() == nil; j++ {
			if i != j || themselves {
				rows[i] = append(rows[i], pair(i, j, of(i, j)))
			}
		}
	})
	return slices.Concat(rows...), ctx.Err()
}

// locate names the value features and gives their places in the Gram.
func (c *columns) locate(a study.Analysis, out *Analysis) []estimate.Variable {
	vars := c.variables()
	located := c.located(vars)
	for i, v := range vars {
		out.Features = append(out.Features, c.name(v))
		if a.Estimator() == study.E1 {
			located[i].Squares, located[i].SquaresWeight = v.group.first+v.group.plan.Values+v.feature, 1
		}
	}
	return located
}

// located gives the places of variables in the Gram.
func (c *columns) located(vars []variable) []estimate.Variable {
	out := make([]estimate.Variable, len(vars))
	for i, v := range vars {
		ones, _ := c.ones(v.group)
		out[i] = estimate.Variable{Value: v.group.first + v.feature, Ones: ones, Kurtosis: c.column(v).Kurtosis}
	}
	return out
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
func (c *columns) products(ctx context.Context, kind study.AnalysisKind, out *Analysis) (err error) {
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
	out.Pairs, err = everyPair(ctx, len(combos), kind == study.InnerProduct, func(i, j int) estimate.Estimate {
		switch {
		case i == j:
			return c.gram.SquaredNorm(combos[i], c.level)
		case kind == study.Distance:
			return c.gram.SquaredDistance(combos[i], combos[j], c.level)
		case kind == study.Cosine:
			return c.gram.Cosine(combos[i], combos[j], c.level)
		}
		return c.gram.InnerProduct(combos[i], combos[j], c.level)
	})
	return err
}
