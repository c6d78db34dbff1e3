package present_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/show"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

func ptr(x float64) *float64 { return &x }

func number(estimate, half float64) analysis.Number {
	return analysis.Number{Estimate: ptr(estimate), StandardError: ptr(half / 2), Low: ptr(estimate - half), High: ptr(estimate + half)}
}

// pairs is an analysis of the columns of two parties, with names that need escaping and one
// undefined pair.
func pairs(kind study.AnalysisKind, columns int, units measure.Unit) analysis.Analysis {
	rng := rand.New(rand.NewPCG(1, uint64(columns)))
	a := analysis.Analysis{Kind: kind, Level: 0.95, Intervals: study.IntervalsEach, Units: units, Assumption: "nothing", Assumptions: premise.List{premise.AnyOverlap}}
	for i := range columns {
		a.Features = append(a.Features, analysis.Feature{Party: []string{"Saint <Mary>", "Charité"}[i%2], Column: fmt.Sprintf("a column & its number %d", i)})
	}
	for i := range columns {
		for j := i + 1; j < columns; j++ {
			a.Pairs = append(a.Pairs, analysis.Pair{I: i, J: j, Number: number(2*rng.Float64()-1, 0.3*rng.Float64())})
		}
	}
	a.Pairs[0].Number = analysis.Number{Undefined: "a variance is lost in the noise"}
	return a
}

func kmeans(clusters int) analysis.Analysis {
	rng := rand.New(rand.NewPCG(2, 2))
	k := &analysis.KMeans{Clusters: clusters, Restarts: 10, Scatter: &analysis.Scatter{Of: 9999, Variance: [2]float64{0.6, 0.2}}}
	for c := range clusters {
		k.Sizes = append(k.Sizes, 40)
		k.Centroids = append(k.Centroids, []float64{1, 2, 3})
		k.Scatter.Centres = append(k.Scatter.Centres, [2]float64{float64(c), float64(c % 3)})
		for range 500 / clusters {
			k.Scatter.Points = append(k.Scatter.Points, analysis.Dot{X: float64(c) + rng.NormFloat64()/3, Y: float64(c%3) + rng.NormFloat64()/3, Cluster: c})
		}
	}
	return analysis.Analysis{Kind: study.KMeans, Sections: analysis.Sections{KMeans: k}}
}

func page(t *testing.T, analyses ...analysis.Analysis) show.Document {
	t.Helper()
	source, err := os.ReadFile("../../protocol/study/testdata/hospitals.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := file.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	r := analysis.Result{
		Format: analysis.ResultFormat, Study: s.ID.String(), Name: s.Name, Partition: s.Partition, T2: strings.Repeat("ab", 32), Attempt: 1,
		Sketches: []analysis.Sketch{{Side: "columns", Family: "sparse", K: 256, Unit: "record", Mechanism: "gaussian", Epsilon: 1, Delta: 1e-6, EpsilonPerPerson: ptr(1.8), Statement: "A statement about <one> sketch."}},
		Analyses: analyses,
	}
	var taken []map[string]bool
	for i, p := range s.Parties {
		taken = append(taken, map[string]bool{"approved": true, "released": i > 0})
		if i > 0 {
			r.Parties = append(r.Parties, analysis.Party{Name: p.Name, ID: p.ID.String(), Records: 1234, Bytes: 5678, Release: strings.Repeat("cd", 32)})
		} else {
			r.Absent = append(r.Absent, p.Name)
		}
	}
	return show.Document{
		Result: r, Signed: &show.Signature{Aggregator: "12D3KooW", Message: "0123", Document: strings.Repeat("ef", 32)},
		Board: &show.Board{Study: s, Steps: []string{"approved", "released"}, Taken: taken}, Made: "some day by a test",
	}
}

func render(t *testing.T, p show.Document) string {
	t.Helper()
	var html strings.Builder
	if err := present.HTML(&html, present.Page{Title: p.Title(), Kicker: p.Kicker(), Headline: show.Headline(p.Result), Footer: show.Footer, Blocks: p.Blocks()}); err != nil {
		t.Fatal(err)
	}
	return html.String()
}

func full(t *testing.T) show.Document {
	return page(t, pairs(study.Correlation, 30, ""), pairs(study.Covariance, 6, "original"), kmeans(9),
		analysis.Analysis{Kind: study.KMeans, Undefined: "3 records are fewer than 9 clusters"})
}

func TestPageLoadsNothing(t *testing.T) {
	html := render(t, full(t))
	for _, pattern := range []string{`(?i)https?://`, `(?i)<script`, `(?i)<link`, `(?i)<img`, `(?i)@import`, `(?i)\ssrc\s*=`, `(?i)url\((?:[^#])`, "ZgotmplZ", "NaN", "Inf", "<Mary>", "<one>"} {
		if found := regexp.MustCompile(pattern).FindString(html); found != "" {
			t.Errorf("the page holds %q", found)
		}
	}
	const limit = 150_000
	if len(html) > limit {
		t.Errorf("the page has %d bytes, at most %d allowed", len(html), limit)
	}
}

// With many columns a page shows what fits its size, and says where the rest is.
func TestPageOfManyColumns(t *testing.T) {
	html := render(t, page(t, pairs(study.Correlation, 60, "")))
	if len(html) > 150_000 || !strings.Contains(html, "<pattern") {
		t.Errorf("60 columns make a page of %d bytes", len(html))
	}
	html = render(t, page(t, pairs(study.Correlation, 120, "")))
	if len(html) > 150_000 || strings.Contains(html, "<pattern") || !strings.Contains(html, "Shown are 150 of 7140 pairs, the clearest first; the result&#39;s files have all") {
		t.Errorf("120 columns make a page of %d bytes", len(html))
	}
}

func TestPageAnswersFirst(t *testing.T) {
	p := full(t)
	html := render(t, p)
	for _, want := range []string{
		"<h1>2 of 3 parties are in this result, without Saint Mary; answered: correlation, covariance, k-means; without an answer: k-means; the smallest effect",
		"<td>no", // the missing party
		"A statement about &lt;one&gt; sketch.",
		"360 records in 9 clusters",
		"<strong>No answer.</strong> 3 records are fewer than 9 clusters",
		"Verified: aggregator 12D3KooW signed this document",
		p.Result.Study, p.Result.T2, p.Signed.Document,
		"a variance is lost in the noise",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if at := strings.Index(html, "<h1>"); at > strings.Index(html, "<h2") {
		t.Error("a heading comes before the answer")
	}
	p.Signed = nil
	p.Result.Sketches[0].Mechanism = "none"
	html = render(t, p)
	for _, want := range []string{"Not signed by anybody", "<strong>No privacy guarantee.</strong>", "Nothing was promised"} {
		if !strings.Contains(html, want) {
			t.Errorf("without signature and noise the page lacks %q", want)
		}
	}
}

func TestFiguresAreDescribed(t *testing.T) {
	html := render(t, full(t))
	figures := strings.Count(html, "<svg ")
	if figures != 4 { // heat map, two interval plots, clusters
		t.Errorf("%d figures, want 4", figures)
	}
	if n := strings.Count(html, "<desc id="); n != figures {
		t.Errorf("%d descriptions for %d figures", n, figures)
	}
	ids := map[string]bool{}
	for _, id := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if ids[id[1]] {
			t.Errorf("the id %q stands twice", id[1])
		}
		ids[id[1]] = true
	}
	for _, reference := range regexp.MustCompile(`(?:aria-labelledby="|href="#|url\(#)([^")]*)`).FindAllStringSubmatch(html, -1) {
		for _, id := range strings.Fields(reference[1]) {
			if !ids[id] {
				t.Errorf("nothing has the id %q", id)
			}
		}
	}
	for _, table := range strings.Split(html, "<table>")[1:] {
		if !strings.HasPrefix(strings.TrimSpace(table), "<caption>") || !strings.Contains(table, `scope="col"`) {
			t.Error("a table has no caption or no headers")
		}
	}
}

// Results of every kind have suitable figures, each followed by a table, and none of their parts is
// shown only under its name in the document.
func TestKindsHaveTheirFigures(t *testing.T) {
	for name, want := range map[string][]string{
		"whole.json":      {"a0-scree", "a0-loadings", "a1-scree", "a3-coefficients", "a6-dendrogram", "a6-heat", "a8-means", "a9-heat"},
		"classifier.json": {"a0-folds", "a0-confusion", "a1-folds"},
		"horizontal.json": {"a0-scatter", "a0-suggested", "a1-heat", "a4-shift", "a5-distances", "a6-scores"},
	} {
		source, err := os.ReadFile("../../protocol/analysis/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		var r analysis.Result
		if err := json.Unmarshal(source, &r); err != nil {
			t.Fatal(err)
		}
		drawn := map[string]bool{}
		for i, a := range r.Analyses {
			blocks := show.Analysis(fmt.Sprintf("a%d", i), a, r.Analyses)
			figures, tables := 0, 0
			for _, b := range blocks {
				switch b := b.(type) {
				case block.Figure:
					figures++
					drawn[b.ID] = true
				case block.Table:
					tables++
				}
			}
			if figures > 0 && tables == 0 {
				t.Errorf("%s: %s has figures and no table", name, a.Kind)
			}
			html, err := present.Main(blocks)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(html), "NaN") || !strings.Contains(string(html), "<section") {
				t.Errorf("%s: %s: %.80s", name, a.Kind, html)
			}
		}
		for _, id := range want {
			if !drawn[id] {
				t.Errorf("%s: there is no figure %s", name, id)
			}
		}
	}
}

// A difference from 0 in these records need not hold for the population: the second interval
// decides, and the text says so.
func TestSecondIntervalsDecide(t *testing.T) {
	p := func(x float64) *float64 { return &x }
	number := func(low, high, peopleLow, peopleHigh float64) analysis.Number {
		return analysis.Number{Estimate: p((low + high) / 2), StandardError: p(.01), Low: p(low), High: p(high), PopulationLow: p(peopleLow), PopulationHigh: p(peopleHigh)}
	}
	a := analysis.Analysis{
		Kind: study.Correlation, Level: .95, Features: []analysis.Feature{{Column: "a"}, {Column: "b"}, {Column: "c"}},
		Pairs: []analysis.Pair{{I: 0, J: 1, Number: number(.01, .03, -.02, .06)}, {I: 0, J: 2, Number: number(.3, .4, .2, .5)}, {I: 1, J: 2, Number: number(-.1, .1, -.2, .2)}},
	}
	if got := a.SignificantPairs(); got != "1 of 3 pairs clearly differ from 0 for people like these" {
		t.Error(got)
	}
	if got := show.Headline(analysis.Result{Analyses: []analysis.Analysis{a}}); !strings.Contains(got, "0.20 (for people like these)") {
		t.Error(got)
	}
	html, err := present.Main(show.Analysis("a0", a, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Those for people like these also cover", "a, b: 0.020 [0.010, 0.030] for these records, [−0.020, 0.060] for people like these", `<th scope="col" class="n">for these records<th scope="col" class="n">for people like these`,
		"Intervals in the map are for people like these.",
	} {
		if !strings.Contains(string(html), want) {
			t.Errorf("the section lacks %q", want)
		}
	}
	for i := range a.Pairs {
		a.Pairs[i].PopulationLow, a.Pairs[i].PopulationHigh = nil, nil
	}
	if got := a.SignificantPairs(); got != "2 of 3 pairs clearly differ from 0 for these records" {
		t.Error(got)
	}
	if html, err := present.Main(show.Analysis("a0", a, nil)); err != nil || strings.Contains(string(html), "people") {
		t.Errorf("numbers without second intervals are said to be about people: %v", err)
	}
}

// Of a dense table a page shows the clearest pairs, and counts the others.
func TestPageOfADenseTable(t *testing.T) {
	a := pairs(study.Covariance, 30, "original")
	a.Dense = &analysis.Dense{Pairs: 465, Diagonal: true, Fields: []string{"estimate", "standard_error", "low", "high"},
		Gist: analysis.Gist{Compared: 25_000_000, Clear: 1234, Undefined: 17, Clearest: a.Pairs[1:20]}}
	a.Dense.Parts = []analysis.Part{{SHA256: strings.Repeat("0a", 32), Bytes: a.Dense.Bytes()}}
	a.Pairs = nil
	html := render(t, page(t, a))
	for _, want := range []string{"1234 of 25000000 pairs of different parties", "17 are undefined", "All 465 pairs are in 15.3 kB beside the document", "of the clearest pairs"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(html, strings.Repeat("0a", 32)) || len(html) > 100_000 {
		t.Errorf("the page has %d bytes, or the parts of the table", len(html))
	}
}

// A caution is read before the numbers, in the section, in every caption, and in a copied table.
// What is no answer is named as such and comes last. A result without a finding begins with a line
// that says so.
func TestCautionComesFirst(t *testing.T) {
	a := pairs(study.Correlation, 4, "")
	for i := range a.Pairs {
		a.Pairs[i].Number = number(0.01*float64(i), 0.5)
	}
	a.Pairs[0].Number = analysis.Number{Estimate: ptr(1), StandardError: ptr(9), Low: ptr(-1), High: ptr(1)}
	a.Caution = "about 7 % of the records were longer than the clip"
	a.Cut = &analysis.Cut{Records: number(70, 10), Of: 1000, Noticeable: .01, Shortened: true}
	const said = "About 7 % of the records were longer than the clip."
	figures, tables := 0, 0
	for _, b := range show.Analysis("a0", a, nil) {
		switch b := b.(type) {
		case block.Figure:
			if figures++; !strings.HasPrefix(b.Caption, said) {
				t.Errorf("the caption of %s begins %q", b.ID, b.Caption)
			}
		case block.Table:
			if tables++; b.Caution != said {
				t.Errorf("table %q has the caution %q", b.Caption, b.Caution)
			}
			if last := b.Rows[len(b.Rows)-1]; last[2].Text != "no answer" || last[3].Text != "[-1.0, 1.0]" {
				t.Errorf("the last row is %v", last)
			}
		}
	}
	if figures != 2 || tables != 1 {
		t.Fatalf("%d figures, %d tables", figures, tables)
	}
	html := render(t, page(t, a))
	at := 0
	for _, next := range []string{
		"<h1>Nothing here stands out of the noise. correlation: 0 of 4 pairs across parties clearly differ from 0. 2 of 3 parties are in this result, without ",
		`<p class="warn"><strong>Caution.</strong> ` + said, `<p class="warn">Nothing here stands out of the noise: 0 of 4 pairs`, `class="soft"`, "<figure",
		"<figcaption id=\"a0-heat-c\">" + said, "no answer [−1.0, 1.0]", "Of 1000 records, about 70 [60, 80] were longer than the clip, by a noisy count. Intervals of means and covariances allow for it. From 10 records on, this is",
	} {
		found := strings.Index(html[at:], next)
		if found < 0 {
			t.Fatalf("%q is not where it should be", next)
		}
		at += found
	}
	a.Pairs[1].Number, a.Caution = number(0.5, 0.1), ""
	if html = render(t, page(t, a)); strings.Contains(html, "Nothing here") || strings.Contains(html, "Caution") {
		t.Error("a finding is denied, or a caution given without a reason")
	}
}
