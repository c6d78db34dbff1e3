package analysis_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// A sketch with fewer rows than the parties have columns has matrices of low rank, and answers all
// questions about them.
func TestMoreColumnsThanRowsOfASketch(t *testing.T) {
	const each, records = 50, 400
	var columns strings.Builder
	data := files{}
	rng := rand.New(rand.NewPCG(7, 1))
	common := make([]float64, records)
	for i := range common {
		common[i] = rng.NormFloat64()
	}
	for _, party := range []string{"north", "south"} {
		for c := range each {
			fmt.Fprintf(&columns, "  - {name: %s%d, kind: numeric, centre: 0, spread: 1, owner: %s}\n", party, c, party)
		}
		var f file
		for i := range records {
			var row []float64
			for range each {
				row = append(row, 0.6*common[i]+0.8*rng.NormFloat64())
			}
			f.add(fmt.Sprint(i), row...)
		}
		data[party] = f
	}
	columns.WriteString("  - {name: last, kind: numeric, centre: 0, spread: 1, owner: west}\n")
	s := parse(t, fmt.Sprintf("partition: vertical\nrecords: {id: [patient]}\ncolumns:\n%ssketches:\n  - {side: columns, family: rademacher, k: 64, helpers: {ones: 0.5}}\nprivacy: {mechanism: none}\nanalyses: [{kind: correlation}, {kind: covariance}, {kind: pca, components: 1}]\n", columns.String()))
	result, _ := ship(t, s, 1, data).run(t)
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := analysis.Decode(raw, s.ID); err != nil {
		t.Error(err)
	}
	for _, a := range result.Analyses {
		if a.Undefined != "" {
			t.Errorf("%s is undefined: %s", a.Kind, a.Undefined)
		}
	}
	const n = 2 * each
	a := result.Analyses
	if len(a[0].Pairs) != n*(n-1)/2 || len(a[1].Pairs) != n*(n+1)/2 {
		t.Errorf("%d correlations and %d covariances", len(a[0].Pairs), len(a[1].Pairs))
	}
	for _, a := range a[:2] {
		if slices.ContainsFunc(a.Pairs, func(p analysis.Pair) bool { return p.Estimate == nil }) {
			t.Errorf("%s lacks answers", a.Kind)
		}
		if a.Repaired == nil || a.Repaired.Undefined != "" || len(a.Repaired.Matrix) != n {
			t.Errorf("%s is not repaired", a.Kind)
		}
	}
	if p := a[2].PCA; p == nil || len(p.Components) != n {
		t.Fatalf("%+v", a[2])
	}
	// One value is about 0.36·n, and all others are below what 64 rows leave of a flat spectrum.
	if p := a[2].PCA.Components; p[0].Eigenvalue < 0.25*n || p[1].Eigenvalue > 0.1*n {
		t.Errorf("the first values are %g and %g", p[0].Eigenvalue, p[1].Eigenvalue)
	}
}

// panicking stands for numerics that panic during an analysis.
type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("private detail") }

// An analysis that fails is undefined, gives nobody labels and is logged. The others are answered
// as without it.
func TestOneAnalysisThatFails(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise, "{kind: k-means, clusters: 2}, {kind: neighbors}, {kind: group-distance}"))
	whole := ship(t, s, 1, wards(rand.New(rand.NewPCG(7, 2)), 30, 20, 10))
	want, _ := whole.run(t)
	for name, test := range map[string]struct {
		fail  func(o *analysis.Options)
		kind  study.AnalysisKind
		says  string
		stack bool
	}{
		"panic": {func(o *analysis.Options) {
			o.Entropy = panicking{}
		}, study.Neighbors, "the analysis failed: internal error; the aggregator's log says more", true},
		"error": {func(o *analysis.Options) {
			o.Analyses = append([]study.Analysis{}, s.Analyses...)
			o.Analyses[0].Options = nil
		}, study.KMeans, "the analysis failed: ", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := whole.options
			o.Entropy = source(3)
			var failed []analysis.Failure
			o.Failed = func(f analysis.Failure) { failed = append(failed, f) }
			test.fail(&o)
			result, labels, err := analysis.Run(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range result.Analyses {
				if a.Kind != test.kind {
					if a.Undefined != "" || fmt.Sprint(a.Features) != fmt.Sprint(want.Analyses[i].Features) {
						t.Errorf("%s: %+v", a.Kind, a)
					}
					continue
				}
				if !strings.HasPrefix(a.Undefined, test.says) || strings.Contains(a.Undefined, "private") {
					t.Errorf("%s: %q", a.Kind, a.Undefined)
				}
				for _, l := range labels {
					for _, c := range l.Columns {
						if c.Analysis == i {
							t.Errorf("labels %q of an analysis that failed", c.Name)
						}
					}
				}
			}
			if len(failed) != 1 || failed[0].Kind != test.kind || (failed[0].Stack != "") != test.stack || failed[0].Err == nil {
				t.Errorf("failures %+v", failed)
			}
			raw, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := analysis.Decode(raw, s.ID); err != nil {
				t.Error(err)
			}
		})
	}
}

// Unreadable or inconsistent contributions, and entropy that fails, end the run: no answer would be
// right.
func TestWhatEndsARun(t *testing.T) {
	broken := errors.New("the disk is gone")
	columns := ship(t, parse(t, fmt.Sprintf(horizontal, "  - {side: columns, family: sparse, k: 16}", noPromise, "{kind: correlation}")), 1, wards(rand.New(rand.NewPCG(7, 3)), 5, 5, 5)).options
	records := ship(t, parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise, "{kind: neighbors}")), 1, wards(rand.New(rand.NewPCG(7, 4)), 5, 5, 5)).options
	for name, test := range map[string]struct {
		of     analysis.Options
		change func(o *analysis.Options)
		want   string
	}{
		"reading": {columns, func(o *analysis.Options) {
			c := &o.Contributions[1]
			c.Sketches[0].Data = nil
			c.Scan = func(int, func([]int64)) error { return broken }
		}, "the disk is gone"},
		"shape": {columns, func(o *analysis.Options) {
			o.Contributions[1].Sketches = []sketch.Sketch{{Side: sketch.Columns, Rows: 3, Cols: 2, Data: make([]int64, 6)}}
		}, "merging sketches"},
		"entropy": {records, func(o *analysis.Options) { o.Entropy = nil }, "no entropy"},
	} {
		o := test.of
		o.Contributions = append([]analysis.Contribution{}, o.Contributions...)
		test.change(&o)
		if result, _, err := analysis.Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), test.want) || result.Format != "" {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
