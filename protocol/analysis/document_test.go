package analysis_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares a document with testdata. Everything except numbers must be equal byte for byte,
// including the order of keys. Numbers may differ in their last digits, which depend on the
// machine.
func golden(t *testing.T, name string, document any) {
	t.Helper()
	got, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gotTokens, wantTokens := tokens(t, got), tokens(t, want)
	if len(gotTokens) != len(wantTokens) {
		t.Fatalf("%s: %d tokens, want %d", path, len(gotTokens), len(wantTokens))
	}
	for i, w := range wantTokens {
		g := gotTokens[i]
		x, gotNumber := g.(float64)
		y, wantNumber := w.(float64)
		if same := gotNumber && wantNumber && math.Abs(x-y) <= 1e-9*max(1, math.Abs(y)); !same && g != w {
			t.Fatalf("%s: token %d is %v, want %v", path, i, g, w)
		}
	}
}

func tokens(t *testing.T, document []byte) (out []any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(document)))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, token)
	}
}

// TestGoldenVertical pins a partial result: every question of the columns side, with
// one party absent, under gaussian noise that protects whole records.
func TestGoldenVertical(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: sparse, k: 32, helpers: {ones: 0.3, squares: true}, clip: 1.2}",
		"{unit: record, mechanism: gaussian, epsilon: 8, delta: 1e-6}",
		everything))
	data := people(rand.New(rand.NewPCG(4, 1)), 400, 0.05)
	delete(data, "west")
	result, labels := ship(t, s, 7, data).run(t)
	golden(t, "vertical.json", result)
	if labels != nil {
		t.Errorf("%d documents of labels where no records were asked about", len(labels))
	}
}

// TestGoldenHorizontal pins a full result of both sides, with laplace noise on single values, and
// one party's labels.
func TestGoldenHorizontal(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal,
		"  - {side: records, family: identity, share: 3}\n  - {side: columns, family: rademacher, k: 16}\n",
		"{unit: attribute, mechanism: laplace, epsilon: 100}", "{kind: k-means, clusters: 3, restarts: 4}, {kind: correlation}, {kind: inner-product}, {kind: covariance}, {kind: group-distance, intervals: all}, {kind: neighbors, neighbors: 2}, {kind: outliers, neighbors: 3, top: 4}, {kind: outliers, neighbors: 24}"))
	data, _ := corners(rand.New(rand.NewPCG(4, 2)), map[string][]int{"north": {4, 3, 0}, "south": {0, 5, 4}, "west": {2, 0, 6}})
	result, labels := ship(t, s, 7, data).run(t)
	golden(t, "horizontal.json", result)
	golden(t, "labels.json", labels[0])
}

// TestGoldenWithoutPromise pins how a result without noise says so.
func TestGoldenWithoutPromise(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: rademacher, k: 16}", noPromise, "{kind: intersection}"))
	result, _ := ship(t, s, 7, people(rand.New(rand.NewPCG(4, 3)), 50, 0.1)).run(t)
	golden(t, "none.json", result)
	d := result.Sketches[0]
	if d.EpsilonPerPerson != nil || d.Mechanism != "none" || d.Epsilon != 0 {
		t.Errorf("a sketch without noise promises %+v", d)
	}
}

// TestDescribesWhatWasPromised checks the privacy of the document by hand: three quarters of ε = 8
// for the first sketch; ε = 8 for each of a person's two columns.
func TestDescribesWhatWasPromised(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal,
		"  - {side: records, family: identity, share: 3}\n  - {side: columns, family: sparse, k: 16, helpers: {ones: 0}}\n",
		"{unit: attribute, mechanism: laplace, epsilon: 8}", "{kind: k-means, clusters: 2}"))
	result, _ := ship(t, s, 1, wards(rand.New(rand.NewPCG(4, 4)), 5, 5, 5)).run(t)
	for i, epsilon := range []float64{6, 2} {
		d := result.Sketches[i]
		closeTo(t, "ε of the sketch", d.Epsilon, epsilon)
		closeTo(t, "ε of the party", d.EpsilonPerParty, 8)
		closeTo(t, "ε of the person", *d.EpsilonPerPerson, 16)
		if d.Unit != "attribute" || d.Mechanism != "laplace" || d.Delta != 0 || d.Statement == "" {
			t.Errorf("sketch %d: %+v", i, d)
		}
	}
}

// TestPartialResultsNameTheAbsent: the result names who is in it and who is not, and has only pairs
// of those who are.
func TestPartialResultsNameTheAbsent(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: sparse, k: 32}", noPromise, "{kind: correlation}, {kind: intersection}"))
	data := people(rand.New(rand.NewPCG(4, 5)), 60, 0.1)
	full, _ := ship(t, s, 1, data).run(t)
	if full.Completeness != analysis.Full || len(full.Absent) != 0 || full.Absent == nil || len(full.Parties) != 3 {
		t.Errorf("full result: %s, absent %v, %d parties", full.Completeness, full.Absent, len(full.Parties))
	}
	for _, absent := range []string{"north", "south", "west"} {
		present := files{}
		for name, f := range data {
			if name != absent {
				present[name] = f
			}
		}
		result, _ := ship(t, s, 1, present).run(t)
		if result.Completeness != analysis.Partial || !reflect.DeepEqual(result.Absent, []string{absent}) {
			t.Errorf("without %s: %s, absent %v", absent, result.Completeness, result.Absent)
		}
		for _, p := range result.Parties {
			if p.Records != int64(len(present[p.Name].ids)) || p.Bytes == 0 {
				t.Errorf("without %s: %s with %d records and %d bytes", absent, p.Name, p.Records, p.Bytes)
			}
		}
		// The numbers of two parties do not depend on the third one.
		for a := range result.Analyses {
			partial, whole := answer{t, result.Analyses[a]}, answer{t, full.Analyses[a]}
			for _, p := range partial.Pairs {
				x, y := partial.Features[p.I], partial.Features[p.J]
				if x.Party == absent || y.Party == absent {
					t.Fatalf("without %s: a pair of %v and %v", absent, x, y)
				}
				if x.Value != "" || y.Value != "" {
					continue // found by party and column
				}
				left, right := strings.Trim(x.Party+"/"+x.Column, "/"), strings.Trim(y.Party+"/"+y.Column, "/")
				if want := whole.find(left, right); !reflect.DeepEqual(p.Estimate, want.Estimate) || !reflect.DeepEqual(p.High, want.High) {
					t.Errorf("without %s: %s of %s and %s changed", absent, partial.Kind, left, right)
				}
			}
		}
	}
}

// checkDocument checks what every consumer relies on: the document is JSON, and a pair has three
// finite numbers in order, or nulls and a reason.
func checkDocument(t interface{ Fatalf(string, ...any) }, result analysis.Result) (undefined int) {
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatalf("a result that is not JSON: %v", err)
	}
	var document struct {
		Analyses []struct {
			Kind   string
			Pairs  []map[string]any
			Shifts []map[string]any
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatalf("%v", err)
	}
	for _, a := range document.Analyses {
		for _, p := range append(a.Pairs, a.Shifts...) {
			if reason, ok := p["undefined"]; ok {
				undefined++
				for _, key := range []string{"estimate", "low", "high"} {
					if v, ok := p[key]; !ok || v != nil || reason == "" {
						t.Fatalf("%s: undefined (%v) with %s %v", a.Kind, reason, key, v)
					}
				}
				continue
			}
			low, ok1 := p["low"].(float64)
			high, ok2 := p["high"].(float64)
			if _, ok := p["estimate"].(float64); !ok || !ok1 || !ok2 || low > high {
				t.Fatalf("%s: %v without a reason", a.Kind, p)
			}
		}
	}
	return undefined
}

// everything asks all questions of the columns side.
const everything = "{kind: inner-product}, {kind: distance}, {kind: cosine}, {kind: covariance}, {kind: covariance, intervals: all}, {kind: correlation}, {kind: correlation, estimator: E1}, {kind: intersection}"

// TestUndefinedPairsAreNull: a column without variance has no correlation, and one at its centre no
// cosine; noise hides small data.
func TestUndefinedPairsAreNull(t *testing.T) {
	const sketch = "{side: columns, family: sparse, k: 16, helpers: {ones: 0.5, squares: true}}"
	constant := files{}
	for name, values := range map[string][]float64{"north": {100, 75}, "south": {1, 0}, "west": {70}} {
		var f file
		for i := range 20 {
			f.add(fmt.Sprint(i), values...)
		}
		constant[name] = f
	}
	for _, test := range []struct {
		what, privacy string
		data          files
	}{
		{"constants", noPromise, constant},
		{"data lost in noise", "{unit: attribute, mechanism: laplace, epsilon: 0.01}", people(rand.New(rand.NewPCG(5, 1)), 20, 0.1)},
	} {
		s := parse(t, fmt.Sprintf(vertical, sketch, test.privacy, everything))
		result, _ := ship(t, s, 1, test.data).run(t)
		if checkDocument(t, result) == 0 {
			t.Errorf("%s: every pair is defined", test.what)
		}
	}
	s := parse(t, fmt.Sprintf(vertical, sketch, noPromise, everything))
	result, _ := ship(t, s, 1, constant).run(t)
	for i, kind := range []study.AnalysisKind{study.Correlation, study.Correlation} {
		a := answer{t, result.Analyses[5+i]}
		if p := a.find("north/weight", "west/pulse"); a.Kind != kind || p.Estimate != nil || p.Undefined == "" {
			t.Errorf("%s by %s of constants: %+v", a.Kind, a.Estimator, p)
		}
	}
}

// TestAnyReleaseGivesADocument sends sketches of the right shape with anything a party may put in:
// zeros, extremes, repetitions. The result is a document with numbers or reasons, never a panic or
// an error that would end the study.
func TestAnyReleaseGivesADocument(t *testing.T) {
	const extreme = 1<<56 - 1 // the largest entry that release.Decode accepts
	entries := []func(rng *rand.Rand) int64{
		func(*rand.Rand) int64 { return 0 },
		func(*rand.Rand) int64 { return extreme },
		func(rng *rand.Rand) int64 { return extreme * (1 - 2*rng.Int64N(2)) },
		func(rng *rand.Rand) int64 { return rng.Int64N(3) - 1 },
		func(rng *rand.Rand) int64 { return rng.Int64N(2*extreme+1) - extreme },
	}
	var studies []*study.Study
	for _, privacy := range []string{noPromise, "{unit: attribute, mechanism: laplace, epsilon: 1}", "{unit: attribute, mechanism: gaussian, epsilon: 0.001, delta: 1e-9}"} {
		for _, k := range []int{1, 3, 24} {
			columns := fmt.Sprintf("{side: columns, family: rademacher, k: %d, helpers: {ones: 0.01, squares: true}}", k)
			records := fmt.Sprintf("  - %s\n  - {side: records, family: sparse, k: %d}\n", columns, k)
			studies = append(studies,
				parse(t, fmt.Sprintf(vertical, columns, privacy, everything)),
				parse(t, fmt.Sprintf(horizontal, records, privacy, strings.TrimSuffix(everything, ", {kind: intersection}")+", {kind: k-means, clusters: 2}, {kind: group-distance}")))
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := studies[rapid.IntRange(0, len(studies)-1).Draw(rt, "study")]
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "entries"), 1))
		records := rapid.SampledFrom([]int64{1, 2, 40, 1 << 31}).Draw(rt, "records")
		o := ship(t, s, 1, tiny(s)).options
		for p := range o.Contributions {
			c := &o.Contributions[p]
			c.Records = records
			entry := entries[rapid.IntRange(0, len(entries)-1).Draw(rt, "kind")]
			for i, sk := range c.Sketches {
				data := make([]int64, len(sk.Data))
				for j := range data {
					data[j] = entry(rng)
				}
				c.Sketches[i] = sketch.Sketch{Side: sk.Side, Rows: sk.Rows, Cols: sk.Cols, Data: data}
			}
		}
		result, _ := shipped{options: o}.run(t)
		checkDocument(rt, result)
	})
}

// tiny returns a record or two for every party.
func tiny(s *study.Study) files {
	if s.Partition == study.Horizontal {
		return wards(rand.New(rand.NewPCG(5, 2)), 2, 1, 2)
	}
	return people(rand.New(rand.NewPCG(5, 3)), 2, 0)
}
