package plan

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

const (
	perRecordGaussian = "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"
	bothSides         = "{side: moments, clip: 1.5}, {side: cells, L: 3, q: 1, clip: 1.5}"
)

func sumsPlan(t *testing.T, records int64) Plan {
	t.Helper()
	terms := strings.Replace(horizontal(12, bothSides, perRecordGaussian), "analyses: [", "analyses: [{kind: mean}, {kind: covariance}, {kind: correlation}, ", 1)
	return planOf(t, terms, func(o *Options) { o.Records = map[string]int64{"": records} })
}

// Sums are forecast: what stands out with these records, and what would be needed.
func TestSumsAreForecast(t *testing.T) {
	many, few := sumsPlan(t, 100_000), sumsPlan(t, 60)
	for _, p := range []Plan{many, few} {
		if len(p.Sketches) != 2 || len(p.Sketches[0].Analyses) != 3 || len(p.Sketches[1].Analyses) != 1 {
			t.Fatalf("planned %+v", p.Sketches)
		}
	}
	for i, a := range many.Sketches[0].Analyses {
		if !a.Chosen.Usable || !strings.HasPrefix(a.Verdict, "usable: ") || !(a.Chosen.StandardError > 0) {
			t.Errorf("%s: %+v", a.Kind, a)
		}
		f := few.Sketches[0].Analyses[i]
		if f.Chosen.Undefined == "" && f.Chosen.StandardError < 1000*a.Chosen.StandardError {
			t.Errorf("%s errs by %g with many records, by %g with few", a.Kind, a.Chosen.StandardError, f.Chosen.StandardError)
		}
	}
	cells := few.Sketches[1].Analyses[0]
	if cells.Chosen.Usable || cells.Needs == nil || cells.Needs.Records < 100 || cells.Needs.Epsilon < 1 {
		t.Errorf("60 records in 8 cells: %+v", cells)
	}
	if s := many.Sketches[0]; s.Side != sketch.Moments || s.Bytes < 90 || s.Bytes > 90*8 {
		t.Errorf("moments: %+v", s)
	}
}

// A verdict is about clusters: many records do not help if there are fewer than two cells per
// cluster, and cells with few records each do no harm if enough can stand out.
func TestVerdictsOfCells(t *testing.T) {
	verdict := func(cells string, clusters string) string {
		terms := strings.Replace(horizontal(12, "{side: moments, clip: 1.5}, "+cells, perRecordGaussian), "clusters: 2", clusters, 1)
		p := planOf(t, terms, func(o *Options) { o.Records = map[string]int64{"": 10_000} })
		return p.Sketches[1].Analyses[0].Verdict
	}
	for _, c := range []struct{ cells, clusters, want string }{
		{"{side: cells, L: 6, q: 3, clip: 1.5, share: 3}", "clusters: 4", "usable: clusters of equal size would have 5000 records each, known to ± "},
		{"{side: cells, L: 12, q: 3, clip: 1.5, share: 3}", "clusters: 4", "usable: clusters of equal size would have 5000 records each, known to ± "},
		{"{side: cells, L: 3, q: 3, clip: 1.5, share: 3}", "clusters: 6", "not usable: at most 8 cells can have counts well above the noise"},
	} {
		if got := verdict(c.cells, c.clusters); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, %s: %q, want %q", c.cells, c.clusters, got, c.want)
		}
	}
}

// The plan says how many directions the records support, if the study is far from that.
func TestDirectionsAreRecommended(t *testing.T) {
	warned := func(p Plan) string {
		for _, w := range p.Warnings {
			if strings.Contains(w.Text, "with L = 3") {
				return strings.Join(w.Change, " ")
			}
		}
		return ""
	}
	if got := warned(sumsPlan(t, 100_000)); !strings.Contains(got, "side: cells, L: ") {
		t.Errorf("many records: %q", got)
	}
	if got := warned(sumsPlan(t, 60)); !strings.Contains(got, "L: 1") {
		t.Errorf("few records: %q", got)
	}
}

// For cells beside moments the plan says how many eigenvectors to use.
func TestSubspaceIsRecommended(t *testing.T) {
	asked := "clusters: 2"
	told := func(sketches string) string {
		for _, w := range planOf(t, strings.Replace(horizontal(12, sketches, perRecordGaussian), "clusters: 2", asked, 1)).Warnings {
			if strings.Contains(w.Text, "eigenvectors of the moments") {
				return strings.Join(w.Change, " ")
			}
		}
		return ""
	}
	if got := told(strings.Replace(bothSides, "q: 1, ", "", 1)); !strings.Contains(got, "L: 3, q: 1,") {
		t.Errorf("without q: %q", got)
	}
	if got := told(bothSides); got != "" {
		t.Errorf("with q: %q", got)
	}
	if got := told("{side: cells, L: 3, clip: 1.5}"); got != "" {
		t.Errorf("without moments: %q", got)
	}
	asked = "clusters: 4"
	if got := told(bothSides); !strings.Contains(got, "L: 3, q: 3,") {
		t.Errorf("fewer than four clusters differ in: %q", got)
	}
}

// Sums are recommended to a horizontal study under unit record that projects, but not to a vertical
// one or one under unit attribute.
func TestSumsAreRecommended(t *testing.T) {
	told := func(terms string) string {
		for _, w := range planOf(t, terms).Warnings {
			if text := strings.Join(w.Change, " "); strings.Contains(text, "side: moments") {
				return w.Text + " " + text
			}
		}
		return ""
	}
	columns := strings.Replace(horizontal(12, "{side: columns, family: sparse, k: 512, clip: 1.5}", perRecordGaussian), "k-means, clusters: 2", "correlation", 1)
	if got := told(columns); !strings.Contains(got, "correlation ") {
		t.Errorf("columns: %q", got)
	}
	for _, kind := range []string{"pca", "regression, target: c0"} {
		terms := strings.Replace(strings.Replace(columns, "clip: 1.5}", "clip: 1.5, helpers: {ones: 0.5}}", 1), "kind: correlation", "kind: "+kind, 1)
		if got := told(terms); !strings.Contains(got, "moments") {
			t.Errorf("%s: %q", kind, got)
		}
	}
	if got := told(horizontal(12, "{side: records, family: identity, clip: 1.5}", perRecordGaussian)); !strings.Contains(got, "side: cells, L: ") {
		t.Errorf("records: %q", got)
	}
	if got := told(horizontal(12, "{side: records, family: identity}", "{unit: attribute, mechanism: laplace, epsilon: 1}")); got != "" {
		t.Errorf("under unit attribute: %q", got)
	}
	// What is recommended is a study.
	terms := strings.Replace(columns, "{side: columns, family: sparse, k: 512, clip: 1.5}", "{side: moments, clip: 2.2}", 1)
	if s := parse(t, terms); s.Sketches[0].Side != sketch.Moments || s.Merge(0) != study.Add {
		t.Errorf("sketch %+v", s.Sketches[0])
	}
}
