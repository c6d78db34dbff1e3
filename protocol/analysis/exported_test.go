package analysis_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// exported fails unless every number and word of the document is in its tables, at least as often.
// Positions of features in pairs count like others.
func exported(t *testing.T, what string, r analysis.Result) {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	have, want := map[any]int{}, map[any]int{}
	for _, table := range r.Tables() {
		var heads []string
		for _, c := range table.Columns {
			heads = append(heads, c.Name)
		}
		if slices.Sort(heads); len(slices.Compact(heads)) != len(table.Columns) {
			t.Errorf("%s: two columns of table %s have one name", what, table.Name)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) {
				t.Errorf("%s: a row of %d values in table %s of %d columns", what, len(row), table.Name, len(table.Columns))
			}
			for _, value := range row {
				if n, ok := value.(int64); ok {
					value = float64(n)
				}
				have[value]++
			}
		}
	}
	countValues(document, want)
	for x, n := range want {
		if have[x] < n {
			t.Errorf("%s: %v stands %d times in the document, %d times in the tables", what, x, n, have[x])
		}
	}
	if len(want) < 10 {
		t.Errorf("%s: only %d values", what, len(want))
	}
}

func countValues(v any, out map[any]int) {
	switch x := v.(type) {
	case float64, string:
		out[x]++
	case []any:
		for _, item := range x {
			countValues(item, out)
		}
	case map[string]any:
		for _, item := range x {
			countValues(item, out)
		}
	}
}

func TestTablesLeaveNothingOutOfStoredResults(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r analysis.Result
		if json.Unmarshal(raw, &r) == nil && r.Format == analysis.ResultFormat {
			exported(t, file, r)
			checked++
		}
	}
	if checked < 5 {
		t.Errorf("only %d results", checked)
	}
}

// Every kind of analysis is answered, from every side that answers it, and all that it says is in
// the tables.
func TestTablesLeaveNoKindOut(t *testing.T) {
	answered := map[study.AnalysisKind]bool{}
	check := func(what string, s *study.Study, data files) shipped {
		t.Helper()
		sent := ship(t, s, 5, data)
		result, _ := sent.run(t)
		for _, a := range result.Analyses {
			if a.Undefined != "" {
				t.Errorf("%s: %s is undefined: %s", what, a.Kind, a.Undefined)
			}
			answered[a.Kind] = true
		}
		exported(t, what, result)
		raw, err := json.Marshal(result)
		var apart analysis.Result // shares no list with the study
		if err == nil {
			err = json.Unmarshal(raw, &apart)
		}
		if err != nil {
			t.Fatal(err)
		}
		renamed(t, what, &apart, func() error { return apart.CheckNames(s) })
		return sent
	}
	const noisy = "{unit: attribute, mechanism: laplace, epsilon: 1000}"
	check("columns", parse(t, fmt.Sprintf(vertical, "{side: columns, family: rademacher, k: 1024, helpers: {ones: 0.3, squares: true}}", noisy, everything+", "+strings.TrimSuffix(wholeMatrix, ", {kind: correlation}"))),
		people(rand.New(rand.NewPCG(4, 1)), 2000, 0.1))
	moments := questions + ", {kind: mean}, {kind: covariance}, {kind: correlation}"
	check("moments", parse(t, fmt.Sprintf(labelled, categoricalLabel, "", noPromise, moments)), sick(rand.New(rand.NewPCG(4, 2)), 400, 250, 600))
	check("counts", parse(t, fmt.Sprintf(counted, countedPromise, "{kind: table}, {kind: quantile}")), patients(rand.New(rand.NewPCG(4, 6)), 2000, 2500, 1500))
	check("cells", parse(t, fmt.Sprintf(horizontal, fmt.Sprintf(bothSums, "", ""), noPromise, "{kind: k-means, clusters: 2}")),
		wards(rand.New(rand.NewPCG(4, 3)), 400, 250, 600))
	records := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: identity, labels: randomised}", noisy,
		allClassifiers+", {kind: k-means, clusters: 3}, {kind: k-means, clusters: 3, restarts: 2}, {kind: group-distance}, {kind: neighbors, neighbors: 2}, {kind: outliers, neighbors: 3}, {kind: outliers, score: distance}"))
	sent := check("records", records, diagnoses(rand.New(rand.NewPCG(4, 4)), mostlyMixed(2)))
	chosen := sent.chosen(t, "of=south/4,north/7", "to=parties")
	answered[chosen.Kind] = true
	result, _ := sent.run(t)
	result.Analyses = []analysis.Analysis{chosen}
	exported(t, "a further answer", result)
	rng, together := rand.New(rand.NewPCG(4, 5)), files{}
	for name, columns := range map[string]int{"north": 2, "south": 1, "west": 1} {
		var f file
		for i := range 60 {
			f.add(fmt.Sprint(i), []float64{rng.Float64(), 10 * rng.Float64()}[:columns]...)
		}
		together[name] = f
	}
	check("joined records", parse(t, fmt.Sprintf(joined, "any", "  - {side: records, family: identity}", noPromise, "{kind: k-means, clusters: 2}")), together)
	for _, kind := range study.Kinds() {
		if !answered[kind] {
			t.Errorf("no result here answers %s: add a study that does", kind)
		}
	}
}
