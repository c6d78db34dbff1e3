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

// end is how kind the data are that a forecast is about. A plan is made for typical ones, with
// what it would be at either end, and judges by the worse one.
type end int

const (
	typical end = iota
	best
	worst
)

// ofRange is the spread of a column of which bounds alone are told, over their distance: real
// columns in bounds as code books have them have from a fortieth to a fifth.
var ofRange = [...]float64{typical: 1. / 10, best: 1. / 5, worst: 1. / 40}

// rateOf is the rate of a binary column of which none is told, at an end. At worst it is one in 100, as of what is
// rare and asked for all the same.
func (o Options) rateOf(e end) float64 {
	if e == worst {
		return 0.01
	}
	return 0.5
}

// tail is by how much answers err beside what is forecast where values have no end: long records are cut, or
// make clips, and so the noise, longer. It grows with less noise, in which less of a tail is lost.
type tail struct {
	ends            [3]float64 // by end, where the noise of a mean of typical records is at, in spreads, or more
	at, power, most float64    // with less noise, typically and at worst, as its power, up to most times
}

// By how much means and correlations err: over nine tenths of a family of distributions, normal to
// lognormal, with spreads told as .8 to 1.3 of the true ones, where one length is told; under masks, and where
// parties take lengths of their own, for normal to Pareto values of index 2.2, collinear ones, and real columns.
var (
	toldMeans          = tail{ends: [...]float64{typical: 1, best: 0.8, worst: 1.45}}
	toldCorrelations   = tail{ends: [...]float64{typical: 1, best: 0.65, worst: 2.1}}
	maskedMeans        = tail{ends: [...]float64{typical: 1.75, best: 0.8, worst: 4}}
	maskedCorrelations = tail{ends: [...]float64{typical: 2.2, best: 0.9, worst: 4}}
	ownMeans           = tail{ends: [...]float64{typical: 1.4, best: 0.7, worst: 3.2}, at: 0.01, power: 0.3, most: 2.4}
	ownCorrelations    = tail{ends: [...]float64{typical: 1.9, best: 0.7, worst: 4.5}, at: 0.018, power: 0.36, most: 4}
)

// of is the factor at an end, where a mean of typical records has the noise ν.
func (t tail) of(e end, nu float64) float64 {
	by := t.ends[e]
	if t.power > 0 && e != best && nu > 0 {
		by *= math.Min(math.Max(math.Pow(t.at/nu, t.power), 1), t.most)
	}
	return by
}

// leastEndless is the part of a typical record's squared length that tails are taken to act on, at least.
const leastEndless = 0.5

// tails are those of a sketch's means, and of what is computed of its products.
type tails struct {
	ofMeans, ofProducts tail
	noise               float64 // of a mean of typical records, in spreads
	endless             float64 // the share of a record's length that no bounds end
}

// means is by how much means err beside what is forecast, at an end.
func (t tails) means(e end) float64 {
	by := t.ofMeans.of(e, t.noise)
	return math.Sqrt(1 - t.endless + t.endless*by*by)
}

// products is the same of what is computed of products.
func (t tails) products(e end) float64 { return t.ofProducts.of(e, t.noise) }

func (c *cell) tails() tails {
	return recall(c.memory.tails, recorded{c.planned(study.Everyone), c.unionRecords()}, func() tails {
		out := tails{toldMeans, toldCorrelations, 0, 1}
		if own := additiveOf(c.sketch().Side).tails; own != nil {
			out.ofMeans, out.ofProducts, out.noise = own(c)
		}
		if c.sketch().OwnClip { // what has bounds makes no clip longer; but few endless values may make it much longer
			out.endless = math.Max(c.Study.EndlessShare(c.index), leastEndless)
		}
		return out
	})
}

// tailed is how far the long tails of columns reach in answers.
type tailed int

const (
	untailed tailed = iota
	tailsOfMeans
	tailsOfProducts
)

// at is the cell at another end.
func (c *cell) atEnd(e end) *cell {
	out := *c
	out.Options.end, out.kept = e, map[int]forecast.Contribution{}
	return &out
}

// untold reports whether nothing but bounds or its kind is known of a column of numbers.
func (o Options) untold(column study.Column) bool {
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

// hinges names the columns of a question whose spread nobody told.
func (c *cell) hinges(q question) (out []string) {
	for _, column := range c.asks(q) {
		if c.untold(column) && !slices.Contains(out, column.Name) {
			out = append(out, column.Name)
		}
	}
	return out
}

// supposed is what the worse end takes of the columns of an answer that is divided by their spreads, which
// nobody told.
func (c *cell) supposed(a study.Analysis) (out []Supposed) {
	if !c.of(a.Kind).divided {
		return nil
	}
	asked := map[int]bool{}
	for _, p := range c.explaining(a) {
		asked[p.feature.Column] = true
	}
	rates, ranges := Supposed{Rate: c.rateOf(worst)}, Supposed{OfRange: ofRange[worst]}
	for i, column := range c.Study.Columns {
		into := &ranges
		if column.Kind == study.Binary {
			into = &rates
		}
		if asked[i] && c.untold(column) {
			into.Columns = append(into.Columns, column.Name)
		}
	}
	for _, s := range []Supposed{rates, ranges} {
		if len(s.Columns) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// supposing says on what a verdict rests; "" where all spreads are told.
func supposing(all []Supposed) string {
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

// factor is by how much answers of a question err beside what is forecast, at this end.
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

// shortenedTo is the part of its variance that a column is left with at worst, of which bounds alone are told
// and whose party cuts records to its own clip: amounts between bounds may have their variance in few records.
const shortenedTo = 0.5

// lumpy reports whether a question is of such a column.
func (c *cell) lumpy(q question) bool {
	return c.Options.end == worst && c.sketch().OwnClip && c.sketch().Standardise && slices.ContainsFunc(c.asks(q), func(column study.Column) bool {
		return column.Kind == study.Numeric && c.untold(column)
	})
}

// judged is a question's forecast, at either end too.
type judged struct {
	typical, best, worst forecast.Error
	cut                  *cutting // more than the noise bears
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
	// Of what is projected without noise, or relative to squares, the worse end may be the other.
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

// amongCommon is the cell where bits around those of a question are common: then its party does not scale
// them, and rare ones drown sooner than where all are rare. It is false where no rate matters that nobody told.
func (c *cell) amongCommon(q question) (*cell, bool) {
	if sk := c.sketch(); sk.Side != sketch.Columns || !sk.Standardise {
		return nil, false
	}
	out := *c
	out.common = true
	return &out, slices.ContainsFunc(c.asks(q), func(column study.Column) bool { return column.Kind == study.Binary && c.untold(column) })
}

// good reports whether a question is usable as a cell has it.
func (c *cell) good(q question) bool {
	j, err := c.judge(q)
	return err == nil && j.cut == nil && c.of(q.analysis.Kind).good(j.worst)
}

// cutting is what a clip that is too short does.
type cutting struct {
	share, bearable float64 // of the records
	least           float64 // clip
	own             bool    // the sketch may take clip: own
}

func (c cutting) String() string {
	text := fmt.Sprintf("about %.2g %% of the records would be cut, and up to %.2g %% would not show beside the noise. Take clip: ", 100*c.share, 100*c.bearable)
	if c.own {
		text += "own, or "
	}
	return text + fmt.Sprintf("%v or more", c.least)
}

// cuts is what a clip does beyond what the noise bears.
func (c *cell) cuts() (*cutting, error) {
	if cuts := additiveOf(c.sketch().Side).cuts; cuts != nil {
		return cuts(c)
	}
	return nil, nil
}

// tell asks for the spreads of columns.
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

// standardised is the spread that a column between bounds has, a third being 1 declared spread,
// after its party moved and scaled it by its own noisy moments, or all did by those of a look together. These are about right where its
// variance is four standard errors of their noise or more, and the spread is smaller where not.
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
