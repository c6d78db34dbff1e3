package defaults

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/study"
)

// Outcome is the verdict on a row.
type Outcome string

// Outcomes. Marked: the answers carry a caution about clipped data, which excuses the row.
// Reported: the row has no limit. Untold: there were too few seeds to judge the row.
const (
	Pass     Outcome = "pass"
	Fail     Outcome = "FAIL"
	Marked   Outcome = "marked"
	Reported Outcome = "reported"
	Untold   Outcome = "untold"
)

// Row is one kind of answer of one setting.
type Row struct {
	Data      string          `json:"data"`
	Real      bool            `json:"real"`
	Partition study.Partition `json:"partition"`
	Sum       string          `json:"sum,omitempty"` // plain or masked; empty for a vertical study
	Epsilon   float64         `json:"epsilon"`
	By        string          `json:"by"` // what the draft knows of the columns: spread, bounds or rates
	What      string          `json:"what"`
	Records   int             `json:"records"` // of all parties together
	Seeds     int             `json:"seeds"`

	Intervals int      `json:"intervals"`
	Undefined int      `json:"undefined"` // numbers or whole answers without an estimate
	Marked    int      `json:"marked"`    // of Intervals: those in answers with a caution about clipped data
	Coverage  *float64 `json:"coverage,omitempty"`
	Plain     *float64 `json:"coverage_plain,omitempty"` // of the intervals of seeds in which none was widened
	Worst     *Worst   `json:"worst,omitempty"`          // of the numbers with enough intervals
	Length    *float64 `json:"length,omitempty"`         // mean length of intervals, relative to that from their standard errors
	Effective float64  `json:"effective,omitempty"`      // effective number of intervals, n*
	Power     float64  `json:"power,omitempty"`          // probability to reject the lower limit if the coverage is .85
	Limit     string   `json:"limit"`

	RMSE      *float64 `json:"rmse,omitempty"`
	Measure   string   `json:"measure,omitempty"`
	Reference *float64 `json:"reference,omitempty"` // RMSE of the reference method
	Ratio     *float64 `json:"ratio,omitempty"`     // RMSE over Reference

	Forecast *Forecast `json:"forecast,omitempty"`
	Outcome  Outcome   `json:"outcome"`
	Why      []string  `json:"why,omitempty"`
}

// Worst is the number with the lowest coverage. In a row of many numbers, the overall coverage can
// hide one whose interval always misses.
type Worst struct {
	Of        string  `json:"of"` // column, pair, value or class
	Intervals int     `json:"intervals"`
	Coverage  float64 `json:"coverage"`
}

// Name returns the unique name of the row.
func (r Row) Name() string {
	parts := []string{r.Data, string(r.Partition)}
	if r.Sum != "" {
		parts = append(parts, r.Sum)
	}
	return strings.Join(append(parts, fmt.Sprintf("ε %g", r.Epsilon), r.By, r.What), "/")
}

// Forecast is the plan's forecast.
type Forecast struct {
	Easiest  float64  `json:"easiest"` // standard errors of the most and the least accurate answer
	Hardest  float64  `json:"hardest"`
	Typical  float64  `json:"typical"`
	Best     float64  `json:"best"`               // most accurate answer, most favourable data
	Worst    float64  `json:"worst"`              // least accurate answer, least favourable data; 0: no answer
	Realised *float64 `json:"realised,omitempty"` // RMSE over Typical
	Usable   bool     `json:"usable"`
	Verdict  string   `json:"verdict"`
	Right    *bool    `json:"right,omitempty"` // whether the verdict was right; null if the outcome does not tell
}

// Values of Row.What that other code uses.
const (
	rowMeans        = "means"
	rowCorrelations = "correlations"
	rowAcross       = "correlations across parties"
	rowShared       = "shared records"
)

// limits are the limits of a row; 0 is no limit.
type limits struct {
	low, high float64 // coverage; high applies to seeds without widened intervals
	ratio     float64 // largest RMSE over the reference's
	rmse      float64 // largest RMSE
	undefined float64 // largest share of undefined answers
	none      bool    // nothing may be undefined
	excused   bool    // cautions excuse the row
}

func (l limits) String() string {
	var out []string
	switch {
	case l.low > 0 && l.high > 0:
		out = append(out, fmt.Sprintf("%.2f–%.2f", l.low, l.high))
	case l.low > 0:
		out = append(out, fmt.Sprintf("≥ %.2f", l.low))
	}
	if l.ratio > 0 {
		out = append(out, fmt.Sprintf("≤ %.2f ×", l.ratio))
	}
	if l.rmse > 0 {
		out = append(out, fmt.Sprintf("RMSE ≤ %g", l.rmse))
	}
	if l.none {
		out = append(out, "all defined")
	}
	if l.undefined > 0 {
		out = append(out, fmt.Sprintf("≥ %.0f %% defined", 100*(1-l.undefined)))
	}
	return strings.Join(out, ", ")
}

// asked is one row of a setting: how its numbers are taken from answers, and its limits.
type asked struct {
	what    string
	measure string
	kind    study.AnalysisKind // analysis whose forecast applies; empty: none
	limits  limits
	numbers func(p *played, l *tally) error
	// reference returns the mean squared error of the method that RMSE is compared with, in the
	// row's measure. It runs for the first seeds. Nil: no comparison.
	reference func(p *played) (float64, error)
}

// tally accumulates one row.
type tally struct {
	all, unmarked, plain coverage
	squares, length      float64
	defined              int // numbers summed in squares
	lengths              int // intervals summed in length
	answered             int // answers counted as a whole
	undefined, marked    int
	references           []float64
	forecasts            []Forecast
	each                 map[string]hits // by name of the number
	seed                 counted
}

// hits counts intervals, and those that hold the truth.
type hits struct{ n, covered int }

// counted counts the intervals of one seed.
type counted struct {
	n, covered, unmarked, coveredUnmarked int
	widened                               bool // at least one is
}

// slack is the relative rounding error allowed in the truth, which is summed in another order.
const slack = 1e-9

// number compares the interval of a named number with the truth. Errors are divided by scale.
func (t *tally) number(of string, n analysis.Number, truth, scale float64, marked bool) {
	if n.Estimate == nil {
		t.undefined++
		return
	}
	off := (*n.Estimate - truth) / scale
	t.squares, t.defined = t.squares+off*off, t.defined+1
	margin := slack * math.Abs(truth)
	covers := 0
	if *n.Low-margin <= truth && truth <= *n.High+margin {
		covers = 1
	}
	t.seed.n, t.seed.covered = t.seed.n+1, t.seed.covered+covers
	if t.each == nil {
		t.each = map[string]hits{}
	}
	h := t.each[of]
	t.each[of] = hits{h.n + 1, h.covered + covers}
	if marked {
		t.marked++
	} else {
		t.seed.unmarked, t.seed.coveredUnmarked = t.seed.unmarked+1, t.seed.coveredUnmarked+covers
	}
	if own := 2 * 1.96 * *n.StandardError; own > 0 {
		t.length, t.lengths = t.length+(*n.High-*n.Low)/own, t.lengths+1
	}
	t.seed.widened = t.seed.widened || widened(n)
}

// widened reports whether an interval is longer than its standard error implies.
func widened(n analysis.Number) bool {
	const more = 1.05
	return *n.High-*n.Low > more*2*1.96**n.StandardError
}

// close ends a seed.
func (t *tally) close() {
	s := &t.seed
	t.all.add(s.n, s.covered)
	t.unmarked.add(s.unmarked, s.coveredUnmarked)
	if !s.widened { // how much an interval is widened may depend on the estimate
		t.plain.add(s.n, s.covered)
	}
	*s = counted{}
}

// leastOfEach is how many intervals a number needs for a coverage of its own.
const leastOfEach = 20

// worst returns the number with the lowest coverage, the first by name among equals; nil if none
// has enough intervals.
func (t *tally) worst() *Worst {
	var out *Worst
	for _, of := range slices.Sorted(maps.Keys(t.each)) {
		h := t.each[of]
		if share := float64(h.covered) / float64(h.n); h.n >= leastOfEach && (out == nil || share < out.Coverage) {
			out = &Worst{of, h.n, share}
		}
	}
	return out
}

// marked reports whether an answer carries a caution about clipped data.
func marked(a analysis.Analysis) bool { return a.Caution != "" }

// foretold returns the plan's forecast for a kind of analysis.
func foretold(p plan.Plan, kind study.AnalysisKind) (Forecast, bool) {
	for _, s := range p.Sketches {
		for _, a := range s.Analyses {
			if a.Kind != kind {
				continue
			}
			f := Forecast{Easiest: a.Best, Hardest: a.Chosen.StandardError, Best: math.Min(a.Best, a.Chosen.AtBest.StandardError), Worst: a.Chosen.AtWorst.StandardError, Usable: a.Chosen.Usable, Verdict: a.Verdict}
			f.Typical = math.Sqrt(f.Easiest * f.Hardest)
			return f, true
		}
	}
	return Forecast{}, false
}

// mean averages the forecasts of several seeds: geometric means, and the first verdict. The mean is
// usable if any forecast is.
func mean(all []Forecast) *Forecast {
	if len(all) == 0 {
		return nil
	}
	out, n := all[0], float64(len(all))
	var easiest, hardest, typical, best, worst float64
	for _, f := range all {
		easiest, hardest, typical = easiest+math.Log(f.Easiest)/n, hardest+math.Log(f.Hardest)/n, typical+math.Log(f.Typical)/n
		best, worst = best+math.Log(f.Best)/n, worst+math.Log(f.Worst)/n
		out.Usable = out.Usable || f.Usable
	}
	out.Easiest, out.Hardest, out.Typical = math.Exp(easiest), math.Exp(hardest), math.Exp(typical)
	out.Best, out.Worst = math.Exp(best), math.Exp(worst)
	for _, x := range []*float64{&out.Easiest, &out.Hardest, &out.Typical, &out.Best, &out.Worst} {
		if math.IsInf(*x, 0) || math.IsNaN(*x) {
			*x = 0 // the plan has no number
		}
	}
	return &out
}

// row judges the tally. enough is the number of intervals that a row needs.
func (t *tally) row(s setting, a asked, seeds, enough int) Row {
	r := Row{
		Data: s.data.name, Real: s.data.real, Partition: s.partition, Sum: s.sum(), Epsilon: s.epsilon, By: string(s.by), What: a.what,
		Records: s.records(), Seeds: seeds, Undefined: t.undefined, Marked: t.marked, Limit: a.limits.String(), Measure: a.measure, Outcome: Pass,
	}
	judged := t.all
	if a.limits.excused {
		judged = t.unmarked
	}
	r.Intervals, _ = t.all.total()
	if r.Intervals > 0 {
		r.Coverage = number(t.all.share())
	}
	if n, _ := t.plain.total(); n > 0 {
		r.Plain = number(t.plain.share())
	}
	r.Worst = t.worst()
	if t.lengths > 0 {
		r.Length = number(t.length / float64(t.lengths))
	}
	r.Effective = judged.effective(Rejection)
	if a.limits.low > 0 && r.Effective > 0 {
		r.Power = judged.power(a.limits.low, wrongCoverage, Rejection)
	}
	if t.defined > 0 {
		r.RMSE = number(math.Sqrt(t.squares / float64(t.defined)))
	}
	if len(t.references) > 0 && r.RMSE != nil {
		var sum float64
		for _, x := range t.references {
			sum += x / float64(len(t.references))
		}
		r.Reference = number(math.Sqrt(sum))
		r.Ratio = number(*r.RMSE / *r.Reference)
	}
	r.Forecast = mean(t.forecasts)
	t.judge(&r, a.limits, judged, enough)
	return r
}

// leastPower is the required probability to detect a coverage of .85.
const leastPower = 0.9

// foretoldRows are the rows whose errors are in the plan's measure and so are compared with it.
var foretoldRows = []string{rowMeans, rowCorrelations, rowAcross, rowShared}

// judge compares a row with its limits.
func (t *tally) judge(r *Row, l limits, judged coverage, enough int) {
	fail := func(format string, args ...any) { r.Outcome, r.Why = Fail, append(r.Why, fmt.Sprintf(format, args...)) }
	if l == (limits{}) {
		r.Outcome = Reported
	}
	undefined := float64(t.undefined) / math.Max(1, float64(t.undefined+t.defined+t.answered))
	f := r.Forecast
	n, _ := judged.total()
	if l.excused && t.marked > 0 && n < max(enough, 1) {
		r.Outcome, l = Marked, limits{}
	}
	if l.low > 0 {
		said := f != nil && !f.Usable && t.undefined+n >= enough // the plan forecast few defined numbers
		switch {
		case judged.below(l.low, Rejection):
			fail("coverage is below %.2f", l.low)
		case said:
		case n < enough:
			fail("%d intervals: %d are needed", n, enough)
		case r.Power < leastPower && enough > 0:
			fail("the power to detect a coverage of %.2f is only %.2f", wrongCoverage, r.Power)
		case r.Power < leastPower:
			r.Outcome = Untold
		}
	}
	if l.high > 0 && t.plain.above(l.high, Rejection) {
		fail("the coverage of intervals that were not widened is above %.2f", l.high)
	}
	if l.ratio > 0 && r.Ratio != nil && *r.Ratio > l.ratio {
		if enough > 0 {
			fail("RMSE is %.2f times the reference's", *r.Ratio)
		} else if r.Outcome != Fail { // with few seeds the ratio itself is inaccurate
			r.Outcome, r.Why = Untold, append(r.Why, fmt.Sprintf("RMSE is %.2f times the reference's, with few seeds", *r.Ratio))
		}
	}
	if l.rmse > 0 && (r.RMSE == nil || *r.RMSE > l.rmse) {
		fail("RMSE is above %g", l.rmse)
	}
	switch {
	case l.none && t.undefined > 0:
		fail("%d are undefined", t.undefined)
	case l.undefined > 0 && undefined > l.undefined:
		fail("%.0f %% are undefined", 100*undefined)
	}
	if f == nil {
		return
	}
	if r.RMSE != nil && f.Typical > 0 && slices.Contains(foretoldRows, r.What) {
		f.Realised = number(*r.RMSE / f.Typical)
	}
	// A verdict of usable is wrong if the answer is often undefined or does not cover.
	wrong := undefined > 0.05 || r.Coverage != nil && *r.Coverage < wrongCoverage && r.Outcome != Marked
	if right := !wrong; f.Usable {
		f.Right = &right
		if wrong {
			fail("the plan says usable: %.0f %% undefined, coverage %s", 100*undefined, part(r.Coverage))
		}
	} else if wrong {
		yes := true
		f.Right = &yes
	}
}

func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
