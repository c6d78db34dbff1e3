package report

import (
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/cancer"
	"github.com/cosketch/cosketch/testnet/outcome"
	"github.com/cosketch/cosketch/testnet/scenario"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fixed returns a run with made-up estimates around the real truth.
func fixed(t *testing.T) Run {
	t.Helper()
	table, err := cancer.Load()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	registry, err := scenario.Registry(table, 4000, rng)
	if err != nil {
		t.Fatal(err)
	}
	run := Run{
		Seed:    1,
		Made:    time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Elapsed: 48 * time.Second,
		Go:      "go1.26 linux/amd64",
	}
	run.Studies = append(run.Studies, pairs(t, scenario.Laboratories(table, rng), 0.06, rng), pairs(t, registry, 0.05, rng))
	for _, s := range scenario.Hospitals(table, rng) {
		run.Studies = append(run.Studies, clusters(t, s, table, rng))
	}
	run.Verdict = outcome.Judge(run.Studies)
	return run
}

// base is what every made-up study has.
func base(s scenario.Scenario) outcome.Study {
	out := outcome.Study{
		Scenario: s,
		RawBytes: 345_678,
		Elapsed:  4200 * time.Millisecond,
		Ledgers:  map[string][]outcome.Spent{},
		Result: analysis.Result{
			Study:    strings.Repeat("ab", 32),
			T2:       strings.Repeat("cd", 32),
			Sketches: []analysis.Sketch{{Statement: "A statement about <one> sketch & its promise."}},
		},
	}
	if s.Epsilon == 0 {
		out.Exposure = "Whoever knows R recovers about half of the variance."
	} else {
		person := 1.9
		out.Result.Sketches[0].EpsilonPerPerson = &person
	}
	for p, name := range scenario.PartyNames {
		out.Result.Parties = append(out.Result.Parties, analysis.Party{
			Name: name, Records: int64(len(s.Tables[p].IDs)), Bytes: 12_345, Release: strings.Repeat("ef", 32),
		})
		out.Ledgers[name] = []outcome.Spent{{
			Dataset: s.Dataset, Unit: string(s.Unit), Epsilon: s.Epsilon, Delta: s.Delta, Unbounded: s.Epsilon == 0, Releases: 1,
		}}
	}
	return out
}

// pairs makes up correlations with normal errors of the given size, and
// intersections 3 % off.
func pairs(t *testing.T, s scenario.Scenario, size float64, rng *rand.Rand) outcome.Study {
	t.Helper()
	out := base(s)
	for _, asked := range s.Analyses {
		answer := analysis.Analysis{Kind: asked.Kind, Level: 0.95}
		if asked.Kind == study.Intersection {
			for _, name := range scenario.PartyNames {
				answer.Features = append(answer.Features, analysis.Feature{Party: name})
			}
		} else {
			for _, c := range s.Columns {
				answer.Features = append(answer.Features, analysis.Feature{Party: scenario.PartyNames[c.Owner], Column: c.Name})
			}
		}
		for i := range answer.Features {
			for j := range i {
				zero := 0.0
				answer.Pairs = append(answer.Pairs, analysis.Pair{I: j, J: i, Number: analysis.Number{Estimate: &zero, StandardError: &zero, Low: &zero, High: &zero}})
			}
		}
		m, err := outcome.NewMatrix(s, answer)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.Pairs {
			p := &m.Pairs[i]
			sd := size * (1 - p.Truth*p.Truth)
			if m.Kind == study.Intersection {
				sd = 0.03 * p.Truth
			}
			p.Estimate = p.Truth + sd*rng.NormFloat64()
			p.Low, p.High = p.Estimate-1.96*sd, p.Estimate+1.96*sd
		}
		out.Matrices = append(out.Matrices, m)
	}
	return out
}

// clusters makes up labels: the diagnosis, wrong for a tenth of the records.
func clusters(t *testing.T, s scenario.Scenario, table cancer.Table, rng *rand.Rand) outcome.Study {
	t.Helper()
	out := base(s)
	var labels [scenario.Parties][]int
	for p, held := range s.Tables {
		for _, row := range held.Pooled {
			label := 0
			if table.Malignant[row] != (rng.Float64() < 0.1) {
				label = 1
			}
			labels[p] = append(labels[p], label)
		}
	}
	c, err := outcome.NewClusters(s, table, labels)
	if err != nil {
		t.Fatal(err)
	}
	out.Clusters = c
	return out
}

func TestTextGolden(t *testing.T) {
	var text strings.Builder
	if err := Text(&text, fixed(t)); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if n := len([]rune(line)); n > width {
			t.Errorf("%d columns wide: %s", n, line)
		}
	}
	golden(t, "run.txt", text.String())
}

func TestJSONGolden(t *testing.T) {
	var text strings.Builder
	if err := JSON(&text, fixed(t)); err != nil {
		t.Fatal(err)
	}
	var decoded struct {
		Studies []map[string]any `json:"studies"`
	}
	if err := json.Unmarshal([]byte(text.String()), &decoded); err != nil {
		t.Fatal(err)
	}
	if len(decoded.Studies) != 7 {
		t.Errorf("%d rows, want 7: one for each study and analysis", len(decoded.Studies))
	}
	golden(t, "run.json", text.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from what is written (run with -update to accept):\n%s", path, got)
	}
}

func render(t *testing.T, run Run) string {
	t.Helper()
	var html strings.Builder
	if err := HTML(&html, run); err != nil {
		t.Fatal(err)
	}
	return html.String()
}

func TestHTMLLoadsNothing(t *testing.T) {
	html := render(t, fixed(t))
	for _, pattern := range []string{`(?i)https?://`, `(?i)<script`, `(?i)<link`, `(?i)<img`, `(?i)@import`, `(?i)\ssrc\s*=`, `(?i)url\((?:[^#])`} {
		if found := regexp.MustCompile(pattern).FindString(html); found != "" {
			t.Errorf("the report holds %q", found)
		}
	}
	const limit = 150_000
	if len(html) > limit {
		t.Errorf("the report has %d bytes, at most %d allowed", len(html), limit)
	}
	if strings.Contains(html, "ZgotmplZ") || strings.Contains(html, "NaN") || strings.Contains(html, "Inf") {
		t.Error("a value did not make it into the page")
	}
}

func TestHTMLFiguresAreDescribed(t *testing.T) {
	html := render(t, fixed(t))
	figures := strings.Count(html, "<svg ")
	if figures != 2+3+3 { // heat maps, truth plots, clusters
		t.Errorf("%d figures, want 8", figures)
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
}

func TestHTMLSaysWhatFailed(t *testing.T) {
	run := fixed(t)
	for i, p := range run.Studies[0].Matrices[0].Pairs {
		p.Estimate, p.Low, p.High = -p.Estimate, -p.High, -p.Low
		run.Studies[0].Matrices[0].Pairs[i] = p
	}
	run.Verdict = outcome.Judge(run.Studies)
	if run.Verdict.OK() {
		t.Fatal("reversed signs pass")
	}
	if html := render(t, run); !strings.Contains(html, "further from the truth than their intervals allow") || !strings.Contains(html, "FAILED") {
		t.Error("the report does not say that the run failed")
	}
}

func TestUndefinedPairs(t *testing.T) {
	run := fixed(t)
	p := &run.Studies[1].Matrices[0].Pairs[3]
	p.Estimate, p.Low, p.High, p.Undefined = math.NaN(), math.NaN(), math.NaN(), "the variance does not stand out"
	run.Verdict = outcome.Judge(run.Studies)
	if html := render(t, run); strings.Contains(html, "NaN") || !strings.Contains(html, p.Undefined) {
		t.Error("the report does not show an undefined pair as such")
	}
	var text strings.Builder
	if err := Text(&text, run); err != nil || strings.Contains(text.String(), "NaN") {
		t.Errorf("the text shows NaN (%v)", err)
	}
}
