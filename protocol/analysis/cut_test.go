package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// TestColumnsCountWhatTheyCut: parties of a vertical study that standardise release a noisy count
// of records that are not sketched unchanged. If these are many, answers begin with that, except
// intersections.
func TestColumnsCountWhatTheyCut(t *testing.T) {
	const terms = `partition: vertical
records: {id: [patient]}
columns:
  - {name: height, kind: numeric, centre: 170, spread: %v, owner: north}
  - {name: cost, kind: numeric, bounds: [0, 1000], owner: north}
  - {name: weight, kind: numeric, centre: 75, spread: 15, owner: south}
  - {name: smoker, kind: binary, owner: south}
  - {name: absent, kind: binary, owner: west}
sketches:
  - {side: columns, family: sparse, k: 1000, s: 1, helpers: {ones: 0.7}, clip: %v%s}
privacy: {unit: record, mechanism: gaussian, epsilon: 8, delta: 1e-6}
analyses: [{kind: correlation}, {kind: covariance}, {kind: inner-product}, {kind: regression, target: weight}, {kind: intersection}]
`
	const n = 20_000
	rng := rand.New(rand.NewPCG(15, 4))
	data := files{"north": {}, "south": {}}
	for i := range n {
		id := fmt.Sprint(i)
		height := 170 + 10*rng.NormFloat64()
		cost := 20 * math.Exp(rng.NormFloat64()) // one in fifty exceeds three spreads
		for name, row := range map[string][]float64{"north": {height, cost}, "south": {75 + .7*(height-170) + 12*rng.NormFloat64(), float64(rng.IntN(2))}} {
			f := data[name]
			f.ids, f.values = append(f.ids, id), append(f.values, row)
			data[name] = f
		}
	}
	answers := func(spread, clip float64, more string) []analysis.Analysis {
		s := parse(t, fmt.Sprintf(terms, spread, clip, more))
		result, _ := ship(t, s, 3, data).run(t)
		return result.Analyses
	}
	for _, c := range []struct {
		name         string
		spread, clip float64
		least, most  float64 // as a share of all records
		marked       bool
	}{
		{"long clip", 10, 3, .005, .03, false},
		{"short clip", 10, .8, .2, .7, true},
		{"spread too small", 2, 3, .2, .7, true},
	} {
		for _, a := range answers(c.spread, c.clip, ", standardise: own") {
			if a.Kind == "intersection" {
				if a.Cut != nil || a.Caution != "" || strings.Contains(a.Assumption, "clip") {
					t.Errorf("%s: %s counts all records: %+v", c.name, a.Kind, a)
				}
				continue
			}
			if a.Cut == nil || !a.Cut.Beyond || a.Cut.Of != 2*n {
				t.Fatalf("%s: %s: %+v", c.name, a.Kind, a.Cut)
			}
			share := *a.Cut.Records.Estimate / (2 * n)
			if share < c.least || share > c.most || *a.Cut.Records.StandardError > 100 {
				t.Errorf("%s: %s: a share of %g was cut, of %g records ± %g", c.name, a.Kind, share, *a.Cut.Records.Estimate, *a.Cut.Records.StandardError)
			}
			if a.Cut.Shortened != c.marked || strings.Contains(a.Caution, "shortened data") != c.marked {
				t.Errorf("%s: %s: of %g from %g on, %q", c.name, a.Kind, share, a.Cut.Noticeable, a.Caution)
			}
			if a.Assumption != "" && strings.Contains(a.Assumption, "shortened records") != c.marked {
				t.Errorf("%s: %s assumes %s", c.name, a.Kind, a.Assumption)
			}
		}
	}
	// Parties that do not look at their own values count only records longer than the clip.
	for _, c := range []struct {
		name        string
		clip        float64
		least, most float64
		marked      bool
	}{{"clip of all but a few", 1.3, 0, .01, false}, {"a third of them", .9, .2, .6, true}} {
		for _, a := range answers(10, c.clip, "") {
			if a.Kind == "intersection" {
				continue
			}
			if a.Cut == nil || a.Cut.Beyond || a.Cut.Of != 2*n {
				t.Fatalf("%s: %s: %+v", c.name, a.Kind, a.Cut)
			}
			share := *a.Cut.Records.Estimate / (2 * n)
			if share < c.least || share > c.most || *a.Cut.Records.StandardError > 100 || a.Cut.Shortened != c.marked || strings.Contains(a.Caution, "longer than the clip:") != c.marked {
				t.Errorf("%s: %s: a share of %g was cut (± %g records), which counts from %g on: %q", c.name, a.Kind, share, *a.Cut.Records.StandardError, a.Cut.Noticeable, a.Caution)
			}
			if a.Assumption != "" && (strings.Contains(a.Assumption, "shortened records") != c.marked || !strings.Contains(a.Assumption, "three spreads")) {
				t.Errorf("%s: %s assumes %s", c.name, a.Kind, a.Assumption)
			}
		}
	}
	for _, a := range answers(10, 10, "") {
		if a.Cut != nil || strings.Contains(a.Assumption, "clip") {
			t.Errorf("%s of records that cannot be cut: %+v, %s", a.Kind, a.Cut, a.Assumption)
		}
	}
}
