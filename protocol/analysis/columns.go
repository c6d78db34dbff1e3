package analysis

import (
	"context"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// columns is a merged columns-side sketch: all parties' columns beside each
// other (stack), or one set of columns of the union (add).
type columns struct {
	study  *study.Study
	rows   estimate.Integers
	noise  []estimate.Noise // of each column of rows
	gram   *estimate.Gram   // products of the columns; if all are too many, of those that reach was called for
	groups []group
	cut    *Cut           // nil if nobody counted
	level  estimate.Level // of each interval
	tell   func(done, total int)
	keep   PartStore // of dense tables; nil: none are written
}

// group is the set of columns of one party, or of the union.
type group struct {
	party     string // empty for the union
	records   int64
	plan      release.Plan
	centres   []float64                   // subtracted from each value, in encoded units
	scales    []float64                   // by which each value is then divided
	own       []estimate.PublishedMoments // of each value, if the party published them; else nil
	shortened *estimate.Noisy             // how many records are not sketched unchanged; nil if nobody counted
	first     int                         // index in the Gram of the group's first column
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
	var plans []release.Plan
	for _, contribution := range r.Contributions {
		plan, err := r.planned(contribution.Party, index)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	add := r.Study.Merge(index) == study.Add
	merged, heads, err := r.mergedColumns(plans[0], index, add)
	if err != nil {
		return nil, &brokenInput{err}
	}
	merged, counts := splitCounts(plans[0], merged)
	var noise []estimate.Noise
	for n, contribution := range r.Contributions {
		plan := plans[n]
		var own []estimate.PublishedMoments
		var shortened *estimate.Noisy
		if plan.Head() > 0 {
			if plan, err = plan.Owned(heads[n]); err != nil {
				return nil, &brokenInput{err}
			}
			own = plan.OwnMoments(heads[n], contribution.Records)
			count := plan.Shortened(heads[n])
			shortened = &count
		}
		if add && n > 0 {
			c.groups[0].records += contribution.Records
			continue
		}
		if plan.CountRows() > 0 {
			parties := 1
			if add {
				parties = len(r.Contributions)
			}
			count := plan.CutCount(counts[len(noise)], parties)
			shortened = &count
		}
		g := group{party: r.Study.Parties[contribution.Party].Name, records: contribution.Records, plan: plan, centres: plan.Centres(), scales: plan.Scales(), own: own, shortened: shortened, first: len(noise)}
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
	c.rows, c.noise = estimate.Integers{K: merged.Rows, N: merged.Cols, Data: merged.Data, Unit: c.groups[0].plan.Unit()}, noise
	c.cut = c.cutFromColumns()
	if merged.Cols <= mostWhole {
		c.gram, err = estimate.FromIntegers(ctx, c.rows, noise)
	}
	return c, err
}

// splitCounts separates a merged sketch from the row of counts behind it.
func splitCounts(plan release.Plan, merged sketch.Sketch) (sketch.Sketch, []int64) {
	at := (merged.Rows - plan.CountRows()) * merged.Cols
	counts := merged.Data[at:]
	merged.Rows, merged.Data = merged.Rows-plan.CountRows(), merged.Data[:at]
	return merged, counts
}

// mostWhole is the largest number of columns whose products are computed all at once, for all
// analyses. For more columns, an analysis computes only the products it needs.
const mostWhole = 500

// atOnce is the number of columns whose products are computed at once if all are too many and only
// those with columns of ones are needed.
const atOnce = 512

// reach computes the products of some variables and of all columns of ones, unless all products are
// there.
func (c *columns) reach(ctx context.Context, vars []variable) (err error) {
	if c.gram == nil {
		c.gram, err = estimate.FromColumns(ctx, c.rows, c.noise, c.places(c.located(vars)))
	}
	return err
}

// places returns the columns that numbers of some variables need: the variables, their squares and
// all columns of ones.
func (c *columns) places(of []estimate.Variable) (out []int) {
	for _, g := range c.groups {
		if ones, ok := c.ones(g); ok {
			out = append(out, ones.Column)
		}
	}
	for _, v := range of {
		out = append(out, v.Value)
		if v.SquaresWeight > 0 {
			out = append(out, v.Squares)
		}
	}
	return out
}

// variable is a value feature of a group.
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
	return Feature{Party: v.group.party, Column: c.study.Columns[f.Column].Title(), Value: f.Value, Date: c.study.Columns[f.Column].Date}
}

// ones locates a group's column of ones; ok is false if it has none.
func (c *columns) ones(g group) (estimate.Ones, bool) {
	if g.plan.Sketch().Helpers.Ones == 0 {
		return estimate.Ones{}, false
	}
	return estimate.Ones{Column: g.first + len(g.plan.Features) - 1, Weight: g.plan.OnesWeight(), Records: int(g.records)}, true
}

// original returns a variable in the column's original units if the column of ones can supply the
// offset; otherwise the encoded variable, and false.
func (c *columns) original(v variable) (estimate.Combination, bool) {
	unit, origin := c.unit(v), c.origin(v)
	at := v.group.first + v.feature
	ones, ok := c.ones(v.group)
	switch {
	case origin == 0:
		return estimate.Combination{{Column: at, Weight: unit}}, true
	case ok:
		return estimate.Combination{{Column: at, Weight: unit}, {Column: ones.Column, Weight: origin / ones.Weight}}, true
	}
	return estimate.Column(at), false
}

func (c *columns) correlation(ctx context.Context, a study.Analysis, out *Analysis) (err error) {
	out.Estimator = a.Estimator()
	out.Assumptions = premise.Usual(a.Kind, out.Estimator)
	of := (*estimate.Gram).CorrelationE2
	if a.Estimator() == study.E1 {
		of = (*estimate.Gram).CorrelationE1
	}
	located := c.locate(a, out)
	drawn, err := c.draw(ctx, c.variables(), located)
	if err != nil {
		return err
	}
	second := drawn.correlationE2
	if a.Estimator() == study.E1 {
		second = drawn.correlation
	}
	return c.pairs(ctx, out, shape{people: true}, located, func(g *estimate.Gram, i, j int) estimate.Estimate {
		return second(of(g, located[i], located[j], c.level), i, j)
	})
}

// locate names the value features and returns their positions in the Gram.
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

// located returns the positions of variables in the Gram.
func (c *columns) located(vars []variable) []estimate.Variable {
	out := make([]estimate.Variable, len(vars))
	for i, v := range vars {
		ones, _ := c.ones(v.group)
		out[i] = estimate.Variable{Value: v.group.first + v.feature, Ones: ones, Kurtosis: c.column(v).Kurtosis}
		if v.group.own != nil {
			out[i].Own = &v.group.own[v.feature]
		}
	}
	return out
}

func (c *columns) column(v variable) study.Column {
	return c.study.Columns[v.group.plan.Features[v.feature].Column]
}

// unit returns one unit of the sketch in the column's original units.
func (c *columns) unit(v variable) float64 { return c.encoded(v) * v.group.scales[v.feature] }

// encoded returns one encoded unit in the column's original units.
func (c *columns) encoded(v variable) float64 {
	return c.column(v).Scale.Step(c.study.Bits) * float64(c.study.Bits.One())
}

// origin returns the original value that is zero in the sketch.
func (c *columns) origin(v variable) float64 {
	return c.column(v).Scale.Origin() + v.group.centres[v.feature]*c.encoded(v)
}

func (c *columns) intersection(ctx context.Context, _ study.Analysis, out *Analysis) error {
	if err := c.reach(ctx, nil); err != nil {
		return err
	}
	for i, g := range c.groups {
		out.Features = append(out.Features, Feature{Party: g.party})
		for j := i + 1; j < len(c.groups); j++ {
			a, _ := c.ones(g)
			b, _ := c.ones(c.groups[j])
			out.Pairs = append(out.Pairs, pair(i, j, c.gram.Intersection(a, b, c.level)))
		}
	}
	return nil
}

// comparison describes a number of two columns.
type comparison struct {
	of         func(g *estimate.Gram, x, y estimate.Combination, level estimate.Level) estimate.Estimate
	themselves bool // also for each column with itself: its squared norm
	bare       bool // without a unit if the values are in original units
}

// products answers inner products, distances or cosines of all pairs. They are
// in original units if those of every column can be restored.
func (c *columns) products(ctx context.Context, out *Analysis, by comparison) error {
	vars := c.variables()
	combos := make([]estimate.Combination, len(vars))
	out.Units = measure.Original
	for i, v := range vars {
		out.Features = append(out.Features, c.name(v))
		combo, ok := c.original(v)
		combos[i] = combo
		if !ok {
			out.Units = measure.NoOffset
		}
	}
	if out.Units == measure.NoOffset {
		for i, v := range vars {
			combos[i] = estimate.Column(v.group.first + v.feature)
		}
	}
	if by.bare && out.Units == measure.Original {
		out.Units = ""
	}
	return c.pairs(ctx, out, shape{themselves: by.themselves}, c.located(vars), func(g *estimate.Gram, i, j int) estimate.Estimate {
		if i == j {
			return g.SquaredNorm(combos[i], c.level)
		}
		return by.of(g, combos[i], combos[j], c.level)
	})
}

func ofInnerProduct() kind {
	out := ofProducts(study.InnerProduct, comparison{of: (*estimate.Gram).InnerProduct, themselves: true})
	out.intervals, out.size = withThemselves, pairsSize(true)
	return out
}

func ofDistance() kind {
	return ofProducts(study.Distance, comparison{of: (*estimate.Gram).SquaredDistance})
}

func ofCosine() kind {
	return ofProducts(study.Cosine, comparison{of: (*estimate.Gram).Cosine, bare: true})
}

// ofProducts returns the kind that compares columns by their products.
func ofProducts(name study.AnalysisKind, by comparison) kind {
	return kind{
		name: name, size: pairsSize(false), most: pairsAtMost, refuse: tooManyPairs(name),
		ways: []way{onColumns(func(c *columns, ctx context.Context, _ study.Analysis, out *Analysis) error {
			return c.products(ctx, out, by)
		})},
	}
}

func ofCorrelation() kind {
	return kind{
		name: study.Correlation,
		ways: []way{onMoments((*moments).correlation), onColumns(func(c *columns, ctx context.Context, a study.Analysis, out *Analysis) error {
			if err := c.correlation(ctx, a, out); err != nil {
				return err
			}
			return c.repairCorrelation(ctx, out)
		})},
		size: pairsSize(false), most: pairsAtMost, refuse: tooManyPairs(study.Correlation),
	}
}

func ofIntersection() kind {
	return kind{
		name: study.Intersection, ways: []way{onColumns((*columns).intersection)}, uncut: true, // ones are neither missing nor cut
		intervals: func(_, parties int) int { return parties * (parties - 1) / 2 },
		most:      pairsAtMost,
	}
}

// withThemselves counts the pairs of values, including each value with itself.
func withThemselves(values, _ int) int { return values * (values + 1) / 2 }
