package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// end says how favourable the data of a forecast are. A plan is made for typical data, with the
// numbers at either end, and the verdict follows the worse one.
type end int

const (
	typical end = iota
	best
	worst
)

// ofRange is the assumed spread of a column with known bounds only, over their distance. Real
// columns, within the bounds of code books, have a fortieth to a fifth.
var ofRange = [...]float64{typical: 1. / 10, best: 1. / 5, worst: 1. / 40}

// rateOf returns the assumed rate of a binary column of unknown rate, at an end. At worst it is one
// in 100, as for rare things that people ask about nevertheless.
func (o Options) rateOf(e end) float64 {
	if e == worst {
		return 0.01
	}
	return 0.5
}

// tail is the factor on forecast errors if values are unbounded: long records are cut, or lengthen
// clips and so the noise. It grows as the noise falls, because less noise hides less of a tail.
type tail struct {
	ends            [3]float64 // by end, if the noise of a mean of typical records is at least at, in spreads
	at, power, most float64    // with less noise, at the typical and worst end: times (at/noise)^power, up to most
}

// Factors for means and correlations. told: one declared length, over nine tenths of a family of
// distributions, normal to lognormal, with spreads declared as .8 to 1.3 of the true ones. masked
// and own: under masks, and if parties choose their own lengths, for normal to Pareto values of
// index 2.2, collinear ones, and real columns.
var (
	toldMeans          = tail{ends: [...]float64{typical: 1, best: 0.8, worst: 1.45}}
	toldCorrelations   = tail{ends: [...]float64{typical: 1, best: 0.65, worst: 2.1}}
	maskedMeans        = tail{ends: [...]float64{typical: 1.75, best: 0.8, worst: 4}}
	maskedCorrelations = tail{ends: [...]float64{typical: 2.2, best: 0.9, worst: 4}}
	ownMeans           = tail{ends: [...]float64{typical: 1.4, best: 0.7, worst: 3.2}, at: 0.01, power: 0.3, most: 2.4}
	ownCorrelations    = tail{ends: [...]float64{typical: 1.9, best: 0.7, worst: 4.5}, at: 0.018, power: 0.36, most: 4}
)

// of returns the factor at an end, if a mean of typical records has the noise ν.
func (t tail) of(e end, nu float64) float64 {
	by := t.ends[e]
	if t.power > 0 && e != best && nu > 0 {
		by *= math.Min(math.Max(math.Pow(t.at/nu, t.power), 1), t.most)
	}
	return by
}

// leastEndless is the smallest part of a typical record's squared length that tails are assumed to
// affect.
const leastEndless = 0.5

// tails are the tail factors of a sketch's means, and of what is computed from its products.
type tails struct {
	ofMeans, ofProducts tail
	noise               float64 // of a mean of typical records, in spreads
	endless             float64 // share of a record's length from unbounded columns
}

// means returns the factor on the errors of means, at an end.
func (t tails) means(e end) float64 {
	by := t.ofMeans.of(e, t.noise)
	return math.Sqrt(1 - t.endless + t.endless*by*by)
}

// products returns the factor on the errors of what is computed from products.
func (t tails) products(e end) float64 { return t.ofProducts.of(e, t.noise) }

func (c *cell) tails() tails {
	return recall(c.memory.tails, recorded{c.planned(study.Everyone), c.unionRecords()}, func() tails {
		out := tails{toldMeans, toldCorrelations, 0, 1}
		if own := additiveOf(c.sketch().Side).tails; own != nil {
			out.ofMeans, out.ofProducts, out.noise = own(c)
		}
		if c.sketch().OwnClip { // bounded values do not lengthen a clip, but a few unbounded ones may lengthen it much
			out.endless = math.Max(c.Study.UnboundedShare(c.index), leastEndless)
		}
		return out
	})
}

// tailed says which answers the long tails of columns affect.
type tailed int

const (
	untailed tailed = iota
	tailsOfMeans
	tailsOfProducts
)

// atEnd returns the cell at another end.
func (c *cell) atEnd(e end) *cell {
	out := *c
	out.Options.end, out.kept = e, map[int]forecast.Contribution{}
	return &out
}

// spreadUnknown reports whether only the bounds or the kind of a numeric column are known.
func (o Options) spreadUnknown(column study.Column) bool {
	_, given := o.Spreads[column.Name]
	_, _, bounded := column.Scale.Bounds()
	_, rate := column.Scale.Rate()
	return column.Kind != study.Categorical && bounded && !rate && !given
}

// asks lists the columns that a question is about.
func (c *cell) asks(q question) (out []study.Column) {
	places := []place{q.x, q.y}
	if about := c.of(q.analysis.Kind).about; about != nil {
		places = about(c, q)
	}
	out = make([]study.Column, 0, len(places))
	for _, p := range places {
		if p.feature.Kind != study.Ones && p.feature.Column >= 0 {
			out = append(out, c.Study.Columns[p.feature.Column])
		}
	}
	return out
}

// hinges lists the columns of a question whose spread is unknown.
func (c *cell) hinges(q question) (out []string) {
	for _, column := range c.asks(q) {
		if c.spreadUnknown(column) && !slices.Contains(out, column.Name) {
			out = append(out, column.Name)
		}
	}
	return out
}

// supposed returns what the worse end assumes of columns of unknown spread, for an answer that is
// divided by spreads.
func (c *cell) supposed(a study.Analysis) (out []SpreadAssumption) {
	if !c.of(a.Kind).divided {
		return nil
	}
	asked := map[int]bool{}
	for _, p := range c.explaining(a) {
		asked[p.feature.Column] = true
	}
	rates, ranges := SpreadAssumption{Rate: c.rateOf(worst)}, SpreadAssumption{OfRange: ofRange[worst]}
	for i, column := range c.Study.Columns {
		into := &ranges
		if column.Kind == study.Binary {
			into = &rates
		}
		if asked[i] && c.spreadUnknown(column) {
			into.Columns = append(into.Columns, column.Name)
		}
	}
	for _, s := range []SpreadAssumption{rates, ranges} {
		if len(s.Columns) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// supposing says what a verdict assumes; "" if all spreads are known.
func supposing(all []SpreadAssumption) string {
	var out []string
	for _, s := range all {
		if s.Rate > 0 {
			out = append(out, fmt.Sprintf("no value of %s is rarer than %g %%", names(s.Columns), 100*s.Rate))
		} else {
			out = append(out, fmt.Sprintf("spreads of %s are %g %% of the range or more", names(s.Columns), 100*s.OfRange))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ", if " + strings.Join(out, " and ")
}

// factor returns the factor of the cell's end on the forecast errors of a question.
func (c *cell) factor(q question) float64 {
	if !c.sketch().OwnClip && !slices.ContainsFunc(c.asks(q), func(column study.Column) bool {
		_, _, centred := column.Scale.CentreSpread()
		return centred
	}) {
		return 1
	}
	switch c.of(q.analysis.Kind).tail {
	case tailsOfMeans:
		return c.tails().means(c.Options.end)
	case tailsOfProducts:
		return c.tails().products(c.Options.end)
	}
	return 1
}

// shortenedTo is the part of its variance that a column keeps at worst, if only its bounds are
// known and its party cuts records to its own clip: amounts between bounds may have their variance
// in few records.
const shortenedTo = 0.5

// clipMayHideVariance reports whether a question is about such a column.
func (c *cell) clipMayHideVariance(q question) bool {
	return c.Options.end == worst && c.sketch().OwnClip && c.sketch().Standardise && slices.ContainsFunc(c.asks(q), func(column study.Column) bool {
		return column.Kind == study.Numeric && c.spreadUnknown(column)
	})
}

// judged is a question's forecast, typical and at either end.
type judged struct {
	typical, best, worst forecast.Error
	cut                  *cutting // if more is cut than the noise can hide
}

// judge forecasts a question at every end.
func (c *cell) judge(q question) (out judged, err error) {
	for _, at := range []struct {
		end  end
		into *forecast.Error
	}{{typical, &out.typical}, {best, &out.best}, {worst, &out.worst}} {
		if *at.into, err = c.atEnd(at.end).forecast(q); err != nil {
			return out, err
		}
	}
	ends := []forecast.Error{out.typical, out.best, out.worst}
	if among, ok := c.atEnd(worst).amongCommon(q); ok {
		e, err := among.forecast(q)
		if err != nil {
			return out, err
		}
		ends = append(ends, e)
	}
	of := c.of(q.analysis.Kind)
	// If a projection has no noise, or errors are relative to squares, the ends may be swapped.
	for _, e := range ends {
		if of.off(e) < of.off(out.best) {
			out.best = e
		}
		if of.off(e) > of.off(out.worst) {
			out.worst = e
		}
	}
	out.cut, err = c.cuts()
	return out, err
}

// amongCommon returns the cell in which bits around those of a question are common. Then their
// party does not scale them, and noise hides rare ones sooner than if all are rare. It returns
// false if no unknown rate matters.
func (c *cell) amongCommon(q question) (*cell, bool) {
	if sk := c.sketch(); sk.Side != sketch.Columns || !sk.Standardise {
		return nil, false
	}
	out := *c
	out.common = true
	return &out, slices.ContainsFunc(c.asks(q), func(column study.Column) bool { return column.Kind == study.Binary && c.spreadUnknown(column) })
}

// good reports whether a question is usable in this cell.
func (c *cell) good(q question) bool {
	j, err := c.judge(q)
	return err == nil && j.cut == nil && c.of(q.analysis.Kind).good(j.worst)
}

// cutting is the effect of a clip that is too short.
type cutting struct {
	share, bearable float64 // of the records
	least           float64 // smallest clip that is long enough
	own             bool    // the sketch may take clip: own
}

func (c cutting) String() string {
	text := fmt.Sprintf("about %.2g %% of the records would be cut; up to %.2g %% would not be noticeable beside the noise. Take clip: ", 100*c.share, 100*c.bearable)
	if c.own {
		text += "own, or "
	}
	return text + fmt.Sprintf("%v or more", c.least)
}

// cuts returns the effect of a clip if the noise cannot hide it; nil otherwise.
func (c *cell) cuts() (*cutting, error) {
	if cuts := additiveOf(c.sketch().Side).cuts; cuts != nil {
		return cuts(c)
	}
	return nil, nil
}

// tell returns the flag by which people give the spreads of columns.
func tell(columns []string) string {
	shown := columns
	if len(shown) > 2 {
		shown = shown[:2]
	}
	var flags []string
	for _, name := range shown {
		flags = append(flags, name+"=SD")
	}
	text := "--spread " + strings.Join(flags, ",")
	if len(shown) < len(columns) {
		text += ",…"
	}
	return text
}

// standardised returns the spread of a column between bounds after its party centred and scaled it
// by its own noisy moments, or all parties did by those of a joint look. A third is 1 declared
// spread. The spread is about right if the variance is at least four standard errors of the
// moments' noise, and smaller otherwise.
func (c *cell) standardised(f study.Feature) (forecast.Column, error) {
	records, parties := c.records(c.viewer()), 1
	of := *c
	if at, looks := c.Study.Look(); looks {
		of.index, records, parties = at, c.unionRecords(), len(c.Study.Parties)
	}
	plan, err := of.plan(c.viewer())
	if err != nil {
		return forecast.Column{}, err
	}
	spread := c.encoded(f).Spread
	least := plan.LeastSpread(int64(records), parties)
	return forecast.Normal(0, spread/math.Max(spread, least)/3), nil
}
