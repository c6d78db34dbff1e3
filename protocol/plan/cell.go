package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// cell is one sketch of a study, or of a copy of it with another choice. It forecasts analyses.
type cell struct {
	Options
	index  int
	rows   []forecaster
	kept   map[int]forecast.Contribution // by party: what clipping leaves, which does not depend on the projection
	method forecast.Method
	common bool           // bits of unknown rate around those of a question are common
	memory *memory        // shared by this cell and its copies
	each   estimate.Level // level of intervals if another kind of analysis sets it; else 0
}

// newCell returns the cell of the study's own sketch at index.
func newCell(o Options, index int) *cell {
	p := o.Study.Sketches[index].Projection
	return &cell{
		Options: o, index: index, rows: forecasters(), kept: map[int]forecast.Contribution{}, memory: newMemory(),
		method: forecast.Method{Mechanism: o.Study.Privacy.Mechanism, Family: p.Family, S: p.S},
	}
}

// plan returns a party's part of the sketch. It is cached, because a forecast asks for it many
// times.
func (c *cell) plan(party int) (release.Plan, error) {
	key := c.planned(party)
	if p, known := c.memory.plans[key]; known {
		return p, nil
	}
	p, err := release.For(c.Study, party, c.index)
	if err == nil {
		c.memory.plans[key] = p
	}
	return p, err
}

// looked is the key of a look at data of an end, with a number of records.
type looked struct {
	planned
	end     end
	common  bool
	records float64
}

// expected is a party's part of a sketch of columns after it has looked at its own columns, if
// these are as forecast.
type expected struct {
	plan    release.Plan
	at      map[study.Feature]int // index of each value
	columns []forecast.Column     // by value, as it is sketched
	centres []float64             // by value
	scales  []float64             // by value
	keep    forecast.Contribution
	keeps   []forecast.Contribution // by value, for its squares
	own     []estimate.PublishedMoments
}

// look returns the expected part of a party; nil if the party does not look at its data.
func (c *cell) look(party int) (*expected, error) {
	p, err := c.plan(party)
	if err != nil || p.Own == nil {
		return nil, err
	}
	key := looked{c.planned(party), c.Options.end, c.common, c.records(party)}
	if e, known := c.memory.looks[key]; known {
		return &e, nil
	}
	out := expected{at: map[study.Feature]int{}}
	around := c
	if c.common {
		around = c.atEnd(typical)
	}
	var means, spreads []float64
	least := p.LeastSpread(int64(c.records(party)), 1)
	for _, f := range p.Features[:p.Values] {
		e := around.encoded(f)
		means, spreads = append(means, e.Mean), append(spreads, math.Max(e.Spread, least))
	}
	if out.plan, err = p.Looking(means, spreads); err != nil {
		return nil, err
	}
	out.centres, out.scales = out.plan.Centres(), out.plan.Scales()
	var others []forecast.Column
	var variances []float64
	for i, f := range p.Features[:p.Values] {
		out.at[f] = i
		as := func(e forecast.Column) forecast.Column {
			e.Mean, e.Spread = (e.Mean-out.centres[i])/out.scales[i], e.Spread/out.scales[i]
			return e
		}
		out.columns, others = append(out.columns, as(c.encoded(f))), append(others, as(around.encoded(f)))
	}
	left := c.left(clipped{party, c.Options.end, c.common, c.real(out.plan.Clip), out.plan.OnesWeight()}, out.columns, others)
	out.keep = left.keep
	for i, left := range left.each {
		of := out.keep
		if e := out.columns[i]; e.Mean != 0 || e.Spread != 0 {
			of.Square = left.Square / (e.Mean*e.Mean + e.Spread*e.Spread)
		}
		out.keeps = append(out.keeps, of)
		means[i] = left.Mean
		variances = append(variances, left.Square-left.Mean*left.Mean)
	}
	out.own = out.plan.OwnExpected(means, variances, int64(c.records(party)))
	c.memory.looks[key] = out
	return &out, nil
}

// clipped is the key of what clipping does to records of a party at an end.
type clipped struct {
	party      int
	end        end
	common     bool
	clip, ones float64
}

// left is what clipping leaves of columns.
type left struct {
	of, around []forecast.Column

	keep forecast.Contribution
	each []forecast.ClippedMoments
}

// left is cached. It depends on neither the projection nor the noise, except for numbers that look
// spread because of noise.
func (c *cell) left(by clipped, of, around []forecast.Column) left {
	if known, ok := c.memory.lefts[by]; ok && slices.Equal(known.of, of) && slices.Equal(known.around, around) {
		return known
	}
	out := left{of, around, forecast.Clipped(by.clip, by.ones, false, around), forecast.ClippedMomentsOf(by.clip, by.ones, of, around)}
	c.memory.lefts[by] = out
	return out
}

// real returns an integer bound in encoded units.
func (c *cell) real(bound int64) float64 { return float64(bound) / float64(c.Study.Bits.One()) }

func (c *cell) sketch() study.Sketch { return c.Study.Sketches[c.index] }

func (c *cell) records(party int) float64 { return float64(c.Options.records(party)) }

// with returns the cell of a copy of the study with another method, k and δ.
func (c *cell) with(m forecast.Method, k int, delta dp.Delta) *cell {
	s := *c.Study
	s.Sketches = append([]study.Sketch(nil), s.Sketches...)
	s.Sketches[c.index].Projection = m.Spec(k)
	s.Privacy.Mechanism = m.Mechanism
	s.Privacy.Delta = delta
	out := *c
	out.Study, out.method = &s, m
	return &out
}

// at returns the cell of a copy of the study with another ε.
func (c *cell) at(epsilon dp.Epsilon) *cell {
	s := *c.Study
	s.Privacy.Epsilon = epsilon
	out := *c
	out.Study, out.kept = &s, map[int]forecast.Contribution{}
	return &out
}

// times returns the cell with all record counts multiplied by a factor.
func (c *cell) times(factor float64) *cell {
	out := *c
	out.Options, out.kept = c.scaled(factor), map[int]forecast.Contribution{}
	return &out
}

// columns returns the expected distributions of a party's value features.
func (c *cell) columns(party int) []forecast.Column {
	if e, err := c.look(party); err == nil && e != nil {
		return e.columns
	}
	var out []forecast.Column
	for _, f := range c.Study.Features(party, c.index) {
		if f.Kind == study.Value || f.Kind == study.OneHot {
			out = append(out, c.central(place{party, f}))
		}
	}
	return out
}

// centre returns what the sketch subtracts from a feature, in encoded units.
func (c *cell) centre(f study.Feature) float64 {
	if !c.Study.Centred(c.index) {
		return 0
	}
	one := c.Study.Bits.One()
	return float64(c.Study.CentreOf(f, one)) / float64(one)
}

// central returns the expected distribution of a feature around its centre.
func (c *cell) central(p place) forecast.Column {
	if e, err := c.look(p.party); err == nil && e != nil {
		if i, ok := e.at[p.feature]; ok {
			return e.columns[i]
		}
	}
	return c.moved(p.feature)
}

// moved returns the expected distribution of a feature around its public centre or, in moments,
// after the party has standardised it.
func (c *cell) moved(f study.Feature) forecast.Column {
	out, column := c.encoded(f), c.Study.Columns[f.Column]
	if _, _, bounded := column.Scale.Bounds(); bounded && column.Kind == study.Numeric && c.sketch().Standardise {
		if e, err := c.standardised(f); err == nil {
			return e // centred and scaled by its own moments
		}
	}
	out.Mean -= c.centre(f)
	return out
}

// keep returns what clipping leaves of a party's records.
func (c *cell) keep(party int) forecast.Contribution {
	sk := c.sketch()
	if sk.Clip == 0 || sk.Whole || c.Study.Privacy.Mechanism == dp.None {
		return forecast.Whole()
	}
	if e, err := c.look(party); err == nil && e != nil {
		return e.keep
	}
	k, known := c.kept[party]
	if !known {
		p, err := c.plan(party)
		if sk.Side == sketch.Columns && err == nil && p.Clip < c.Study.IntegerClip(c.index) {
			return forecast.Whole() // no record is as long as the clip
		}
		if sk.OwnClip && err == nil { // the clip expected of a party that looks at its records
			sk.Clip = float64(p.Moments.Clips[p.Expected(c.unionRecords())]) / float64(c.Study.Bits.One())
		}
		k = c.remaining(party, sk.Clip, c.columns(party))
		c.kept[party] = k
	}
	return k
}

// remains is what clipping leaves of columns.
type remains struct {
	of      []forecast.Column
	squares bool
	keep    forecast.Contribution
}

// remaining is cached. It depends on neither the projection nor ε nor the number of records, except
// through the columns.
func (c *cell) remaining(party int, clip float64, of []forecast.Column) forecast.Contribution {
	by := clipped{party, c.Options.end, c.common, clip, c.ones()}
	squares := c.sketch().Helpers.Squares
	if known, ok := c.memory.remain[by]; ok && known.squares == squares && slices.Equal(known.of, of) {
		return known.keep
	}
	out := remains{of, squares, forecast.Clipped(clip, by.ones, squares, of)}
	c.memory.remain[by] = out
	return out.keep
}

// ones returns the weight of the column of ones as it is stored.
func (c *cell) ones() float64 {
	one := float64(c.Study.Bits.One())
	return math.Round(c.sketch().Helpers.Ones*one) / one
}

// place is a value feature of a party, or of the union.
type place struct {
	party   int
	feature study.Feature
}

// member returns a place as input of a pair's forecast.
func (c *cell) member(p place) (forecast.Member, error) {
	plan, err := c.plan(p.party)
	if err != nil {
		return forecast.Member{}, err
	}
	e, err := c.look(p.party)
	if err != nil {
		return forecast.Member{}, err
	}
	centre, scale, keep := c.centre(p.feature), 1., c.keep(p.party)
	var own *estimate.PublishedMoments
	if e != nil {
		if plan = e.plan; p.feature.Kind != study.Ones {
			at := e.at[p.feature]
			centre, scale, keep, own = e.centres[at], e.scales[at], e.keeps[at], &e.own[at]
		}
	}
	m := forecast.Member{
		Column: forecast.Normal(0, 1), Ones: plan.OnesWeight(), Keep: keep, Unit: 1,
		Records: c.records(p.party),
	}
	parties := 1
	if p.feature.Kind != study.Ones {
		column := c.Study.Columns[p.feature.Column]
		m.Column, m.Unit, m.Own = c.central(p), unitOf(c.Study, column)*scale, own
		if m.Ones > 0 {
			m.Origin = column.Scale.Origin()/m.Unit + centre/scale
		}
	}
	if c.union() {
		m.Records = 0
		for q := range c.Study.Parties {
			m.Records += c.records(q)
		}
		parties = len(c.Study.Parties)
	}
	m.Noise = plan.NoiseOf(0, parties, int64(m.Records))
	m.OnesNoise = plan.NoiseOf(len(plan.Features)-1, parties, int64(m.Records))
	return m, nil
}

func (c *cell) union() bool { return c.Study.Merge(c.index) == study.Add }

// projects reports whether there is a projection to choose. Sums over records have none.
func (c *cell) projects() bool { return !c.sketch().Side.Sums() }

// unionRecords returns the number of records of all parties.
func (c *cell) unionRecords() (n float64) {
	for party := range c.Study.Parties {
		n += c.records(party)
	}
	return n
}

// places returns all value features, of every party or of the union.
func (c *cell) places() []place {
	return recall(c.memory.places, c.planned(study.Everyone), func() (out []place) {
		for party := range c.apart() {
			for _, f := range c.Study.Features(party, c.index) {
				if f.Kind == study.Value || f.Kind == study.OneHot {
					out = append(out, place{party, f})
				}
			}
		}
		return out
	})
}

// taking returns the cell of a copy of the study with another sketch in place of this one.
func (c *cell) taking(sk study.Sketch) *cell {
	out := *c
	out.Study, out.kept = c.Study.WithSketch(c.index, sk), map[int]forecast.Contribution{}
	return &out
}

// pair returns two places as input of a joint forecast.
func (c *cell) pair(x, y place) (forecast.Pair, error) {
	a, err := c.member(x)
	if err != nil {
		return forecast.Pair{}, err
	}
	b, err := c.member(y)
	if err != nil {
		return forecast.Pair{}, err
	}
	p := forecast.Pair{
		K: c.sketch().Projection.K, X: a, Y: b, Union: c.union(), Squares: c.sketch().Helpers.Squares,
		Shared: c.overlap() * math.Min(a.Records, b.Records),
	}
	if p.Union = p.Union || x.party == y.party; p.Union { // within one party all records are shared
		p.Shared = a.Records
	}
	return p, nil
}

// question is one analysis about one pair: of columns, or of parties whose records are compared. A
// pair of equal members asks for a variance, or about a party's own records.
type question struct {
	analysis study.Analysis
	x, y     place
}

// forecast returns the error of a question's answer, at the cell's end.
func (c *cell) forecast(q question) (forecast.Error, error) {
	e, err := c.bare(q)
	if by := c.factor(q); err == nil && by != 1 {
		e = e.WithNoise(by)
	}
	if err == nil && c.clipMayHideVariance(q) {
		e = e.WithVariance(shortenedTo)
	}
	return e, err
}

// bare returns that error for data whose centres and spreads are as declared.
func (c *cell) bare(q question) (forecast.Error, error) {
	of := c.of(q.analysis.Kind)
	errs := of.by(c.sketch().Side)
	if errs == nil {
		return forecast.Error{}, fmt.Errorf("forecasting %s: this version does not plan it", q.analysis.Kind)
	}
	e, err := errs(c, q)
	if err == nil && of.cut != nil {
		e = of.cut(c, q, e)
	}
	return e, err
}

// level returns the level of each interval of an analysis, as in package analysis.
func (c *cell) level(a study.Analysis) estimate.Level {
	if c.each != 0 {
		return c.each
	}
	if a.Intervals != study.IntervalsAll {
		return estimate.DefaultLevel
	}
	return estimate.DefaultLevel.Bonferroni(c.intervals(a))
}

// intervals returns the number of intervals of an analysis.
func (c *cell) intervals(a study.Analysis) int {
	if intervals := c.of(a.Kind).intervals; intervals != nil {
		return intervals(c, a)
	}
	return analysis.Intervals(a.Kind, len(c.places()), len(c.Study.Parties))
}

// distance returns the relative error of the squared distance of two typical records. Clipping
// shrinks records, and with them the distance to measure.
func (c *cell) distance() (forecast.Error, error) {
	law, z, err := c.law()
	if err != nil {
		return forecast.Error{}, err
	}
	return forecast.Relative(law.Distance(z), z.Squared), nil
}

// law returns the error model of records-side sketches, and the typical difference of two records.
func (c *cell) law() (forecast.Law, forecast.Difference, error) {
	noise, err := c.recordNoise()
	if err != nil {
		return forecast.Law{}, forecast.Difference{}, err
	}
	flips, err := c.Study.Flips(c.index)
	if err != nil {
		return forecast.Law{}, forecast.Difference{}, err
	}
	columns := c.recordColumns()
	z, kept := forecast.Typical(columns), c.keep(0).Square
	z.Squared *= kept
	z.Fourth *= kept * kept
	return forecast.Law{
		Projection: c.sketch().Projection, Features: len(columns), Noise: noise, Bits: !flips.Zero(),
	}, z, nil
}

// holders returns the parties that hold a part of one record: all if sketches are joined, otherwise
// one, since all are alike.
func (c *cell) holders() []int {
	out := []int{0}
	if c.Study.Merge(c.index) == study.Join {
		for party := 1; party < len(c.Study.Parties); party++ {
			out = append(out, party)
		}
	}
	return out
}

// recordColumns returns the expected distributions of a record's values, whoever holds them.
func (c *cell) recordColumns() (out []forecast.Column) {
	for _, party := range c.holders() {
		out = append(out, c.columns(party)...)
	}
	return out
}

// recordNoise returns the noise on a coordinate of a record that all holders have.
func (c *cell) recordNoise() (sum estimate.Noise, err error) {
	var parts []estimate.Times
	for _, party := range c.holders() {
		plan, err := c.plan(party)
		if err != nil {
			return sum, err
		}
		noise := plan.NoiseOf(0, 1, 1)
		parts, sum = append(parts, estimate.Times{Coordinates: len(plan.Coordinates()), Noise: noise}), sum.Plus(noise)
	}
	if c.sketch().Projection.Family == projection.Identity {
		sum = estimate.Beside(c.sketch().Projection.K, parts)
	}
	return sum, nil
}
