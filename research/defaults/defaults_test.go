package defaults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/corpus"
)

func rehearsedRows(t *testing.T) []Row {
	t.Helper()
	sets, err := load(nil)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	rows, err := measureAll(context.Background(), short(sets), Options{Seeds: 30, Workers: 2, Tell: func(string, time.Duration) { told++ }})
	if err != nil {
		t.Fatal(err)
	}
	if told != len(short(sets)) {
		t.Errorf("%d settings are told of, of %d", told, len(short(sets)))
	}
	return rows
}

// The short form of the table: no row of any setting fails. Seeds are fixed. 30 of them detect
// coverages that are far off; the long form detects smaller errors.
func TestDraftsAnswerTrulyShortForm(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation; the short form of the long table")
	}
	rows := rehearsedRows(t)
	if len(rows) < 72 {
		t.Errorf("%d rows, want 72 or more", len(rows))
	}
	for _, r := range rows {
		if r.Outcome == Fail {
			t.Errorf("%s: %s", r.Name(), strings.Join(r.Why, "; "))
		}
	}
	var text, document bytes.Buffer
	if err := Text(&text, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Pareto(2.2)", "k-means: inertia", "Verdicts of plans", "÷ref"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text has no %q", want)
		}
	}
	if err := json.NewEncoder(&document).Encode(rows); err != nil {
		t.Fatal(err)
	}
	var back []Row
	if err := json.Unmarshal(document.Bytes(), &back); err != nil || len(back) != len(rows) || back[3].Name() != rows[3].Name() || *back[3].Coverage != *rows[3].Coverage {
		t.Errorf("the document reads back as %d rows of %d: %v", len(back), len(rows), err)
	}
	if testing.Verbose() {
		t.Log("\n" + text.String())
	}
}

// A seed gives the same rows, however many settings are measured at once.
func TestRowsFollowFromTheirSeeds(t *testing.T) {
	sets, err := load(nil)
	if err != nil {
		t.Fatal(err)
	}
	all := short(sets)
	of := func(o Options) string {
		rows, err := measureAll(context.Background(), all, o)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(rows[:len(rows)-2]) // without the rows about all
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	alone, together := of(Options{Seeds: 2, Only: "three classes"}), of(Options{Seeds: 2, Only: "c", Workers: 3})
	if len(alone) < 100 || !strings.Contains(together, strings.Trim(alone, "[]")) {
		t.Errorf("alone %s", alone)
	}
	if _, err := measureAll(context.Background(), all, Options{Only: "no such"}); err == nil {
		t.Error("a name that nothing has is taken")
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := measureAll(ctx, all, Options{Seeds: 2}); err == nil {
		t.Error("it went on when told to stop")
	}
	if _, err := Measure(context.Background(), nil, Options{}); err == nil {
		t.Error("it measures without the data")
	}
}

// The share of forecasts that come true has a limit for the whole table, and is only reported for a
// part.
func TestForecastsAreJudgedTogether(t *testing.T) {
	off := 10.
	rows := []Row{{Forecast: &Forecast{Realised: &off}}, {By: string(byBounds), Partition: study.Horizontal, RMSE: &off, Forecast: &Forecast{Realised: &off, Best: 11}}}
	for _, r := range together(rows, true) {
		if r.Outcome != Fail || r.Limit == "" {
			t.Errorf("of the whole table: %+v", r)
		}
	}
	part := together(rows, false)
	for _, r := range part {
		if r.Outcome != Reported || r.Limit != "" || *r.Coverage != 0 || r.Intervals != 1 {
			t.Errorf("of a part: %+v", r)
		}
	}
	if Failed(part) {
		t.Error("a part fails for the whole table's limit")
	}
	sets, err := load(nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err = measureAll(context.Background(), short(sets), Options{Seeds: 2, Only: "three classes"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[len(rows)-2:] {
		if r.Outcome != Reported {
			t.Errorf("of what was measured: %+v", r)
		}
	}
}

// Rows are judged by coverage, widening, undefined numbers, ratios, cautions and verdicts.
func TestJudgement(t *testing.T) {
	counted := func(n, covered int) *tally {
		out := &tally{}
		for range 150 {
			for i := range n {
				low, high, se := -1.96, 1.96, 1.
				estimate := 0.
				if i >= covered {
					low, high, estimate = 10, 13.92, 11.96
				}
				out.number("x", analysisNumber(estimate, se, low, high), 0, 1, false)
			}
			out.close()
		}
		return out
	}
	usable := []Forecast{{Easiest: 1, Hardest: 1, Typical: 1, Usable: true}}
	useless := []Forecast{{Easiest: 1, Hardest: 1, Typical: 1}}
	with := func(l *tally, f []Forecast, change func(*tally)) *tally {
		l.forecasts = f
		if change != nil {
			change(l)
		}
		return l
	}
	s := setting{data: &data{name: "made up"}}
	for _, c := range []struct {
		what    string
		tally   *tally
		limits  limits
		outcome Outcome
		why     string
	}{
		{"good", counted(20, 19), limits{low: 0.93, high: 0.98}, Pass, ""},
		{"no limit", counted(20, 1), limits{}, Reported, ""},
		{"low", counted(20, 16), limits{low: 0.93}, Fail, "coverage is below"},
		{"wide", counted(20, 20), limits{low: 0.93, high: 0.97}, Fail, "not widened is above"},
		{"few", counted(6, 6), limits{low: 0.93}, Fail, "900 intervals"},
		{"far off", counted(20, 19), limits{rmse: 0.1}, Fail, "RMSE is above"},
		{"beside the reference", with(counted(20, 19), nil, func(t *tally) { t.references = []float64{1} }), limits{ratio: 1.4}, Fail, "times the reference"},
		{"undefined", with(counted(20, 19), usable, func(t *tally) { t.undefined = 1 }), limits{none: true}, Fail, "1 are undefined"},
		{"often undefined", with(counted(20, 19), usable, func(t *tally) { t.undefined = 1000 }), limits{low: 0.93}, Fail, "the plan says usable"},
		{"foretold", with(counted(5, 5), useless, func(t *tally) { t.undefined = 1000 }), limits{low: 0.93}, Pass, ""},
		{"low, foretold", with(counted(5, 4), useless, func(t *tally) { t.undefined = 1000 }), limits{low: 0.93}, Fail, "coverage is below"},
		{"marked", with(counted(20, 10), usable, func(t *tally) { t.unmarked, t.marked = coverage{}, 3000 }), limits{low: 0.93, excused: true}, Marked, ""},
		{"marked, no excuse", with(counted(20, 10), nil, func(t *tally) { t.unmarked, t.marked = coverage{}, 3000 }), limits{low: 0.93}, Fail, "coverage is below"},
	} {
		r := c.tally.row(s, asked{what: c.what, limits: c.limits}, 150, leastIntervals)
		if why := strings.Join(r.Why, "; "); r.Outcome != c.outcome || !strings.Contains(why, c.why) || c.why == "" && why != "" {
			t.Errorf("%s: %s: %s", c.what, r.Outcome, why)
		}
	}
	hidden := counted(50, 50)
	for i := range 150 {
		hidden.number("a", analysisNumber(0, 1, -1.96, 1.96), 0, 1, false)
		hidden.number("b", analysisNumber(float64(i%3*5), 1, float64(i%3*5)-1.96, float64(i%3*5)+1.96), 0, 1, false)
		hidden.number(fmt.Sprint("c", i), analysisNumber(9, 1, 7, 11), 0, 1, false) // too few intervals of each number
	}
	if w := hidden.row(s, asked{}, 150, 0).Worst; w == nil || w.Of != "b" || w.Intervals != 150 || w.Coverage != 50./150 {
		t.Errorf("the worst number is %+v", w)
	}
	long := analysisNumber(0, 1, -3, 3)
	if !widened(long) || widened(analysisNumber(0, 1, -1.96, 1.96)) || widened(analysisNumber(0.9, 1, -1.06, 1)) {
		t.Error("what is widened is not told")
	}
}

// The data sets, if available, are what the table says.
func TestDataSets(t *testing.T) {
	folder, err := corpus.Open("", os.Getenv)
	if err != nil {
		t.Skip(err)
	}
	sets, err := load(&folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*data{sets.adult, sets.diabetes, sets.heart, sets.retail, sets.baskets, sets.cancer} {
		inside(t, d)
	}
	owned := make([]int, 3)
	for _, c := range sets.baskets.columns {
		owned[c.owner]++
	}
	if !slices.Equal(owned, []int{8, 8, 7}) || len(sets.heart.parties) != 4 || len(sets.baskets.rows) != 40_000 {
		t.Errorf("baskets are owned as %v, heart's hospitals are %d", owned, len(sets.heart.parties))
	}
}

// Nearly all generated values are within the bounds of their code book, and the rows have a truth.
func TestGenerated(t *testing.T) {
	for _, g := range append(generated(), classes(5_000), answers("answers", 5_000, 0.01, 0.5), credit(), diabetics(), clinic(), mixture("mixture", 5_000, 5, 3, 1)) {
		g.n = min(g.n, 20_000)
		inside(t, g.fixed())
	}
	d := answers("answers, rates .2–.8", 40_000, 0.2, 0.8).fixed()
	least, most := 1., 0.
	for _, m := range d.truth().means {
		least, most = min(least, m), max(most, m)
	}
	if least < 0.18 || least > 0.25 || most > 0.83 || most < 0.75 {
		t.Errorf("rates from %.3f to %.3f", least, most)
	}
}

func analysisNumber(estimate, se, low, high float64) analysis.Number {
	return analysis.Number{Estimate: &estimate, StandardError: &se, Low: &low, High: &high}
}

func inside(t *testing.T, d *data) {
	t.Helper()
	out := 0
	for _, row := range d.rows {
		for j, c := range d.columns {
			if len(c.values) == 0 && (row[j] < c.lo || row[j] > c.hi) {
				out++
			}
		}
	}
	if out*1000 > len(d.rows)*len(d.columns) {
		t.Errorf("%s: %d values are outside the bounds", d.name, out)
	}
	truth := d.truth()
	for i, sd := range truth.sds {
		if !(sd > 0) || len(truth.covariances[i]) != len(truth.means) {
			t.Errorf("%s: feature %d has the spread %v", d.name, i, sd)
		}
	}
}
