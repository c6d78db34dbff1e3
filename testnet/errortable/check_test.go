package errortable

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		of   Example
		kind study.AnalysisKind
		want float64
	}{
		{Example{Estimate: 0.5, Low: 0.3, High: 0.6, Truth: 0.5}, study.Correlation, 0},
		{Example{Estimate: 0.5, Low: 0.3, High: 0.6, Truth: 0.4}, study.Correlation, 0.5},
		{Example{Estimate: 0.5, Low: 0.3, High: 0.6, Truth: 0.8}, study.Correlation, 3},
		{Example{Estimate: 1, Low: 1, High: 1, Truth: 0.9}, study.Correlation, 1},
		{Example{Estimate: 1, Low: 0.8, High: 1, Truth: 0.9}, study.Correlation, 0},
		{Example{Estimate: 0.5, Low: 0.5, High: 0.5, Truth: 0.4}, study.Correlation, 1e9},
		{Example{Estimate: 90, Low: 85, High: 90, Truth: 80}, study.Intersection, 1},
		{Example{Estimate: 90, Low: 85, High: 90, Truth: 80}, study.Mean, 2},
	} {
		if got := c.of.distance(c.kind); got < c.want-1e-12 || got > c.want+1e-12 {
			t.Errorf("the distance of %s %+v is %v, want %v", c.kind, c.of, got, c.want)
		}
	}
}

// TestChecks: undefined and wrong estimates fail; kinds without a limit are not judged.
func TestChecks(t *testing.T) {
	p := played(t, "laboratories")
	features := []analysis.Feature{{Party: "north", Column: "mean radius"}, {Party: "west", Column: "worst radius"}}
	answer := func(n analysis.Number) Check {
		p.Result.Analyses = []analysis.Analysis{{Kind: study.Correlation, Features: features, Pairs: []analysis.Pair{{I: 0, J: 1, Number: n}}}}
		checks := make1(t, p).Checks("here")
		if len(checks) != 1 {
			t.Fatalf("%d checks", len(checks))
		}
		return checks[0]
	}
	if c := answer(about(0.96, 0.05)); !c.OK() || strings.Contains(c.String(), "FAILED") {
		t.Errorf("a right answer: %v", c)
	}
	if c := answer(about(0.5, 0.05)); c.OK() || !strings.Contains(c.String(), "FAILED") {
		t.Errorf("a wrong answer: %v", c)
	}
	if c := answer(analysis.Number{Undefined: "why"}); c.OK() || !strings.Contains(c.String(), "1 undefined") {
		t.Errorf("an undefined answer: %v", c)
	}
	p.Template.Limits = nil
	if checks := make1(t, p).Checks("here"); checks != nil {
		t.Errorf("without limits: %v", checks)
	}
}

// TestPage: the report has every study with its answers and figures, and makes no requests.
func TestPage(t *testing.T) {
	p := played(t, "laboratories")
	a := analysis.Analysis{
		Kind:     study.Correlation,
		Features: []analysis.Feature{{Party: "north", Column: "mean radius"}, {Party: "south", Column: "radius error"}, {Party: "west", Column: "worst radius"}},
		Pairs:    []analysis.Pair{{I: 0, J: 1, Number: about(0.6, 0.2)}, {I: 0, J: 2, Number: about(-0.5, 0.1)}, {I: 1, J: 2, Number: analysis.Number{Undefined: "too little <of it>"}}},
	}
	p.Result.Analyses = []analysis.Analysis{a}
	s := Study{Name: "laboratories", Title: "A <title>", Question: "A question?", Exposure: "Much.", Parties: []Holder{{"north", 541, 25_000}}, Table: make1(t, p)}
	s.Verdicts, s.Checks = s.Table.Verdicts(), s.Table.Checks(s.Name)
	var page bytes.Buffer
	if err := Page(&page, []Study{s}); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, want := range []string{"A &lt;title&gt;", "A question?", "No privacy guarantee", "<svg", "too little &lt;of it&gt;", "FAILED", "25 kB", "north: mean radius, west: worst radius"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	for _, never := range []string{"http:", "https:", "<script", "<link", " src="} {
		if strings.Contains(strings.ReplaceAll(text, `xmlns="http://www.w3.org/2000/svg"`, ""), never) {
			t.Errorf("%q is on the page", never)
		}
	}
}
