package analysis

import (
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

func between(estimate, low, high float64) Number {
	return Number{Estimate: &estimate, StandardError: ptr((high - low) / 4), Low: &low, High: &high}
}

func forPeople(n Number, low, high float64) Number {
	n.PopulationLow, n.PopulationHigh = &low, &high
	return n
}

// Pairs are sorted by whether they clearly differ from 0 for people in general, if that is known,
// and never by how noise changed an estimate. A pair whose interval covers everything is last.
func TestClearestFirst(t *testing.T) {
	numbers := []Number{
		0: between(-1, -1, 1),
		1: {Undefined: "lost"},
		2: between(.9, -.5, 1),
		3: forPeople(between(.5, .4, .6), -.1, 1), // clear for these records only
		4: forPeople(between(.3, .25, .35), .2, .4),
		5: between(-.6, -.65, -.55),
		6: {Estimate: ptr(3)}, // a document from elsewhere
		7: between(0, -.2, .2),
	}
	var pairs []Pair
	for i, n := range numbers {
		pairs = append(pairs, Pair{0, i, n})
	}
	var order []int
	a := Analysis{Kind: study.Correlation}
	for _, p := range a.Clearest(pairs) {
		order = append(order, p.J)
	}
	if want := []int{5, 4, 3, 2, 7, 0, 1, 6}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	for i, n := range numbers {
		if got, want := a.Unanswered(n), i == 0; got != want {
			t.Errorf("number %d: no answer %v, want %v", i, got, want)
		}
	}
	if a.Kind = study.Covariance; a.Unanswered(numbers[0]) {
		t.Error("a covariance of [-1, 1] is taken for one without an answer")
	}
}

// A result says that nothing stands out exactly if nothing does.
func TestNothing(t *testing.T) {
	two := []Feature{{Party: "a", Column: "x"}, {Party: "a", Column: "y"}, {Party: "b", Column: "z"}}
	lost, clear := between(.1, -.5, .7), between(.5, .4, .6)
	correlation := func(own, across Number) Analysis {
		return Analysis{Kind: study.Correlation, Features: two, Pairs: []Pair{{0, 0, between(1, 1, 1)}, {0, 1, own}, {0, 2, across}, {1, 2, between(1, -1, 1)}}}
	}
	regression := func(coefficient, squared Number) Analysis {
		return Analysis{Kind: study.Regression, Sections: Sections{Regression: &Regression{Coefficients: []Number{coefficient}, Intercept: clear, RSquared: squared}}}
	}
	for name, c := range map[string]struct {
		a    Analysis
		want string
	}{
		"nothing":          {correlation(lost, lost), "Nothing here stands out of the noise: 0 of 2 pairs across parties clearly differ from 0."},
		"own columns":      {correlation(clear, lost), "Nothing across parties stands out of the noise: 0 of 2 pairs across parties clearly differ from 0."},
		"across":           {correlation(lost, clear), ""},
		"for these alone":  {correlation(lost, forPeople(clear, -.1, 1)), "Nothing here stands out of the noise: 0 of 2 pairs across parties clearly differ from 0."},
		"undefined":        {Analysis{Kind: study.Correlation, Undefined: "too few"}, ""},
		"means":            {Analysis{Kind: study.Mean, Sections: Sections{Means: Means{lost}}}, ""},
		"shifts":           {Analysis{Kind: study.GroupDistance, Features: two, Pairs: []Pair{{0, 2, lost}}, Shifts: []Pair{{0, 2, clear}}}, ""},
		"no coefficient":   {regression(lost, between(.1, 0, .3)), "Nothing here stands out of the noise: 0 of 1 coefficients clearly differ from 0."},
		"explained":        {regression(lost, between(.3, .1, .5)), ""},
		"a coefficient":    {regression(clear, between(.1, 0, .3)), ""},
		"components":       {Analysis{Kind: study.PCA, Sections: Sections{PCA: &PCA{Components: []Component{{LoadingIntervals: []Number{{Undefined: "close"}}}}}}}, "Nothing here stands out of the noise: 0 of 1 components can be told from their neighbours."},
		"a component":      {Analysis{Kind: study.PCA, Sections: Sections{PCA: &PCA{Components: []Component{{LoadingIntervals: []Number{clear}}}}}}, ""},
		"steps":            {Analysis{Kind: study.Clustering, Sections: Sections{Hierarchy: &Hierarchy{Merges: []Merge{{Close: true}, {Close: true}}}}}, "Nothing here stands out of the noise: 0 of 2 merges are settled."},
		"a step":           {Analysis{Kind: study.Clustering, Sections: Sections{Hierarchy: &Hierarchy{Merges: []Merge{{Close: true}, {}}}}}, ""},
		"classes":          {Analysis{Kind: study.LDA, Sections: Sections{LDA: &LDA{Apart: []ClassApart{{Distance: lost}}}}}, "Nothing here stands out of the noise: the two classes cannot be told apart."},
		"guesses":          {Analysis{Kind: study.SVM, Sections: Sections{Classifier: &Classifier{Majority: "no", Accuracy: between(.8, .7, .9), Baseline: between(.75, .7, .8)}}}, "Nothing here stands out of the noise: predictions are not for certain better than always no."},
		"better":           {Analysis{Kind: study.SVM, Sections: Sections{Classifier: &Classifier{Majority: "no", Accuracy: between(.9, .85, .95), Baseline: between(.75, .7, .8)}}}, ""},
		"a large table":    {Analysis{Kind: study.Correlation, Features: two, Dense: &Dense{Gist: Gist{Compared: 2}}}, "Nothing across parties stands out of the noise: 0 of 2 pairs of different parties' columns clearly differ from 0."},
		"one pair":         {Analysis{Kind: study.Covariance, Features: two, Pairs: []Pair{{0, 2, lost}}}, "Nothing here stands out of the noise: the one pair across parties does not clearly differ from 0."},
		"one in the table": {Analysis{Kind: study.Correlation, Features: two, Dense: &Dense{Gist: Gist{Compared: 2, Clear: 1}}}, ""},
	} {
		if got := c.a.Nothing(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	empty, found, undefined := correlation(lost, lost), correlation(lost, clear), Analysis{Kind: study.PCA, Undefined: "too few"}
	for _, c := range []struct {
		of   []Analysis
		want string
	}{
		{nil, ""},
		{[]Analysis{empty, found}, ""},
		{[]Analysis{empty, {Kind: study.Mean, Sections: Sections{Means: Means{clear}}}}, ""},
		{[]Analysis{empty, undefined}, "Nothing here stands out of the noise. correlation: 0 of 2 pairs across parties clearly differ from 0; pca: no answer."},
		{[]Analysis{empty, correlation(clear, lost)}, "Nothing across parties stands out of the noise. correlation: 0 of 2 pairs across parties clearly differ from 0; correlation: 0 of 2 pairs across parties clearly differ from 0."},
	} {
		if got := (Result{Analyses: c.of}).Nothing(); got != c.want {
			t.Errorf("%d analyses: %q, want %q", len(c.of), got, c.want)
		}
	}
}

// Cautions and counts of cut records are in the tables of every export.
func TestTablesHaveTheCaution(t *testing.T) {
	r := Result{Analyses: []Analysis{{Kind: study.Mean}, {
		Kind: study.Mean, Caution: "about 7 % of the records were longer than the clip", Features: []Feature{{Column: "x"}}, Sections: Sections{Means: Means{between(1, 0, 2)}},
		Cut: &Cut{Records: between(70, 60, 80), Of: 1000, Noticeable: .01, Shortened: true},
	}}}
	want := map[string]map[string]any{
		"analyses": {"caution": "about 7 % of the records were longer than the clip"},
		"cut":      {"analysis": int64(1), "records": 70., "records_low": 60., "records_high": 80., "of": int64(1000), "sensible": .01, "shortened": true},
	}
	for _, table := range r.Tables() {
		for column, value := range want[table.Name] {
			at := slices.IndexFunc(table.Columns, func(c Column) bool { return c.Name == column })
			if at < 0 || table.Rows[len(table.Rows)-1][at] != value {
				t.Errorf("table %s has no column %s with %v: %v %v", table.Name, column, value, table.Columns, table.Rows)
			}
		}
		delete(want, table.Name)
	}
	if len(want) > 0 {
		t.Errorf("there is no table for %v", want)
	}
}

// Assumptions are worded from their codes, in the words of this version. A document without codes
// has the usual assumptions of its kind, or else its own text, which is not interpreted.
func TestAssumesGoesByCodes(t *testing.T) {
	usual := premise.Usual(study.Correlation, study.E2).String()
	for _, c := range []struct {
		a    Analysis
		want string
	}{
		{Analysis{}, ""},
		{Analysis{Assumption: "as it was worded then", Assumptions: premise.List{premise.Limited, premise.EntriesOfUnion}},
			"It assumes that a value more than three spreads from its centre counts as three spreads away; each entry is over all records of the union."},
		{Analysis{Kind: study.Correlation, Assumption: usual, Estimator: study.E2},
			"Estimator E2 assumes that the records that two parties share are a random part of each party's records."},
		{Analysis{Assumption: "that x; over all records"}, "It assumes: that x; over all records."},
		{Analysis{Assumption: "nothing: it is new", Assumptions: premise.List{premise.Limited, "of a later version"}}, "It assumes: nothing: it is new."},
	} {
		if got := c.a.Assumes(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.a.Assumptions, got, c.want)
		}
	}
	a := Analysis{Kind: study.Correlation, Estimator: study.E2, Assumptions: premise.Usual(study.Correlation, study.E2)}
	if a.word(); a.Assumption != usual || a.Assumptions != nil {
		t.Errorf("%q, %v", a.Assumption, a.Assumptions)
	}
	a.Assumptions = premise.List{premise.MissingIsCentre, premise.RandomPairs}
	if a.word(); a.Assumption != a.Assumptions.String() || len(a.Assumptions) != 2 {
		t.Errorf("%q, %v", a.Assumption, a.Assumptions)
	}
}

// An answer from shortened data never claims to assume nothing.
func TestWhatMomentsAssume(t *testing.T) {
	if got := (Analysis{Caution: "about 7 % were cut"}).Warned(); got != "About 7 % were cut." {
		t.Error(got)
	}
	few := moments{axes: axes{plan: release.Plan{Study: &study.Study{}}}, cut: &Cut{}}
	if got := few.rests(study.Mean).String(); !strings.HasPrefix(got, "that lengths of records fall off beyond the clip as they do up to it; means") {
		t.Error(got)
	}
	many := moments{axes: few.axes, cut: &Cut{Shortened: true, Of: 100}}
	if got := many.rests(study.Mean).String(); got != few.rests(study.Mean).String() || strings.Contains(many.cut.caution(study.Mean), "of the shortened data") {
		t.Error(got)
	}
	for cut, want := range map[*Cut]string{
		nil:                "nothing: means and covariances are over all records of the union",
		{Shortened: false}: "that the few records that were cut to the clip do not matter beside the noise; means and covariances are over all records of the union",
		{Shortened: true}:  "that the question is about shortened records, as intervals may miss what whole records would give; means and covariances are over all records of the union; each record is cut to the clip first",
	} {
		m := moments{axes: axes{plan: release.Plan{Study: &study.Study{}}}, cut: cut}
		if got := m.rests(study.Correlation).String(); got != want {
			t.Errorf("%+v: %q", cut, got)
		}
		if got := m.rests(study.LDA, premise.Normal).String(); !strings.HasPrefix(got, "that values are normal") {
			t.Errorf("%+v: %q", cut, got)
		}
	}
}

// A single pair is not counted.
func TestStandingOfOnePair(t *testing.T) {
	one, whole := []Feature{{Column: "x"}, {Column: "y"}}, func(low, high float64) Number {
		x := (low + high) / 2
		return Number{Estimate: &x, Low: &low, High: &high}
	}
	for want, n := range map[string]Number{
		"the one pair clearly differs from 0 for these records":         whole(.4, .6),
		"the one pair does not clearly differ from 0 for these records": whole(-.4, .6),
		"the one pair has no answer":                                    whole(-1, 1),
		"the one pair is undefined":                                     {Undefined: "no shared records"},
	} {
		a := Analysis{Kind: study.Correlation, Features: one, Pairs: []Pair{{0, 1, n}}}
		if got := a.SignificantPairs(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
