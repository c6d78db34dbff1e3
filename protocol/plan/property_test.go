package plan

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// randomTerms returns the terms of a random study of one side, with any mechanism, family, k and
// columns, whether they fit together or not.
func randomTerms(rng *rand.Rand) string {
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	partition, side := one("vertical", "horizontal"), one("columns", "records", "moments", "cells", "counts")
	if side == "moments" || side == "cells" || side == "counts" {
		partition = "horizontal"
	}
	var columns []string
	for i := range 2 + rng.IntN(20) {
		kind := one("binary", "binary, centre: 0.02", "numeric, bounds: [0, 1000]", "numeric, centre: 3, spread: 0.1", "categorical, values: [a, b, c]")
		owner := ""
		if partition == "vertical" {
			owner = ", owner: " + []string{"north", "south"}[i%2]
		}
		columns = append(columns, fmt.Sprintf("{name: c%d, kind: %s%s}", i, kind, owner))
	}
	unit := one("record", "attribute")
	privacy := one("{mechanism: none}", fmt.Sprintf("{unit: %s, mechanism: gaussian, epsilon: %v, delta: 1e-6}", unit, []float64{0.1, 1, 8}[rng.IntN(3)]),
		fmt.Sprintf("{unit: %s, mechanism: laplace, epsilon: %v}", unit, []float64{0.1, 1, 8}[rng.IntN(3)]), "{unit: attribute, mechanism: randomised-response, epsilon: 2}")
	clip := ""
	if strings.Contains(privacy, "unit: record") {
		clip = ", clip: " + one("0.4", "1.5", "6")
		if side == "moments" {
			clip = one(clip, ", clip: own", "")
		}
	}
	family := one("family: identity", "family: hadamard, k: 16", "family: hadamard, k: 8", "family: sparse, k: 1", "family: sparse, k: 400", "family: rademacher, k: 30")
	sketch := fmt.Sprintf("{side: %s, %s%s}", side, family, clip)
	switch side {
	case "counts":
		privacy, clip = one(privacy, "{unit: record, mechanism: laplace, epsilon: 1}"), ""
	case "moments", "cells":
		privacy = one("{mechanism: none}", "{unit: record, mechanism: gaussian, epsilon: 0.1, delta: 1e-6}", "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}")
		if strings.Contains(privacy, "none") {
			clip = ""
		} else if clip == "" {
			clip = ", clip: 1.5"
		}
	}
	switch side {
	case "columns":
		sketch = fmt.Sprintf("{side: columns, %s, helpers: {ones: %s}%s}", family, one("0.2", "1"), clip)
	case "moments":
		sketch = "{side: moments" + clip + one("", ", standardise: own", ", products: false") + "}"
		if !strings.Contains(strings.Join(columns, ""), "bounds") {
			sketch = strings.Replace(sketch, ", standardise: own", "", 1)
		}
	case "cells":
		sketch = fmt.Sprintf("{side: cells, L: %d%s}", 1+rng.IntN(6), clip)
	case "counts":
		columns = append(columns, "{name: n, kind: numeric, bounds: [0, 10]}", "{name: m, kind: numeric, centre: 0, spread: 1}")
		sketch = "{side: counts, tables: [{of: [{column: n}], depth: " + one("1", "6", "10") + "}, {of: [{column: m, bins: " + one("2", "30") + "}]}, {of: [{column: c0" + bins(columns[0]) + "}, {column: n, edges: [3, 4]}]}]}"
	}
	kinds := map[string][]string{
		"columns": {"correlation", "covariance", "pca", "distance", "cosine", "inner-product", "sums", "clustering", "regression, target: c0", "intersection"},
		"records": {"k-means, clusters: 3", "neighbors", "outliers", "group-distance"},
		"moments": {"correlation", "covariance", "mean", "pca", "regression, target: c0", "regression, target: c0, ridge: auto"},
		"cells":   {"k-means, clusters: 3"},
		"counts":  {"table", "quantile", "table, tables: [[c0, n]]", "quantile, columns: [m], at: [0.001, 0.9]", "quantile, intervals: all"},
	}[side]
	if partition == "horizontal" && side == "columns" {
		kinds = kinds[:len(kinds)-1]
	}
	var asked []string
	for _, k := range kinds {
		if rng.IntN(3) == 0 {
			asked = append(asked, "{kind: "+k+"}")
		}
	}
	if len(asked) == 0 {
		asked = []string{"{kind: " + kinds[0] + "}"}
	}
	return fmt.Sprintf("partition: %s\nrecords: {id: [patient], missing: %s}\ncolumns: [%s]\nsketches: [%s]\nprivacy: %s\nanalyses: [%s]\n",
		partition, map[bool]string{true: one("count", "refuse"), false: one("centre", "refuse")}[side == "counts"], strings.Join(columns, ", "), sketch, privacy, strings.Join(asked, ", "))
}

// bins returns the bins of a column if it is numeric.
func bins(column string) string {
	if strings.Contains(column, "numeric") {
		return ", bins: 7"
	}
	return ""
}

// No number of a plan is NaN or infinite, and no text says so. Forecasts are in order: the ends are
// on either side of the typical one, and nothing usable is undefined at worst, or likely to be.
func TestNoPlanIsNaN(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and a plan is made in one goroutine")
	}
	head, err := os.ReadFile("../study/testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(head), "partition:")
	var lines []string
	for line := range strings.Lines(before) {
		if !strings.Contains(line, "name: west") {
			lines = append(lines, line)
		}
	}
	before = strings.Join(lines, "") + "expires: 2026-12-01T17:00:00Z\ndeadline: 2026-12-15T17:00:00Z\n"
	rng := rand.New(rand.NewPCG(15, 5))
	planned, usable := map[string]int{}, 0
	for range 1000 {
		terms := randomTerms(rng)
		s, err := file.Parse([]byte(before + terms))
		if err != nil {
			continue // not every combination is a study
		}
		if planned[string(s.Sketches[0].Side)]++; planned[string(s.Sketches[0].Side)] > 12 {
			continue
		}
		records := []int64{2, 50, 5000, 1_000_000}[rng.IntN(4)]
		p, err := Make(Options{Study: s, Party: study.Everyone, Records: map[string]int64{"": records}, Overlap: []float64{0, 0.001, 1}[rng.IntN(3)]})
		if err != nil {
			t.Errorf("%v\n%s", err, terms)
			continue
		}
		document, err := json.Marshal(p)
		if err != nil {
			t.Errorf("%v\n%s%+v", err, terms, p)
		}
		for _, word := range []string{"NaN", "Inf ", "Inf%", "+Inf", "-Inf"} {
			if strings.Contains(string(document), word) {
				t.Errorf("%s in the plan of %d records\n%s\n%s", word, records, terms, document)
			}
		}
		for _, sk := range p.Sketches {
			for _, a := range sk.Analyses {
				for _, c := range append([]Choice{a.Chosen}, a.Options...) {
					if c.Usable {
						usable++
					}
					if c.Usable && (c.AtWorst.Undefined != "" || c.Lost > oftenLostAll || c.Cut != "") {
						t.Errorf("%s: %+v is usable\n%s", a.Kind, c, terms)
					}
				}
				if (a.Outcome == Usable) != a.Chosen.Usable || a.Outcome.Forecast() != (a.Chosen.Method != "") {
					t.Errorf("%s comes to %q: %+v\n%s", a.Kind, a.Outcome, a.Chosen, terms)
				}
				if c := a.Chosen; a.Kind != study.GroupDistance && c.Undefined == "" && c.AtBest.Undefined == "" && c.AtWorst.Undefined == "" &&
					(c.AtBest.StandardError > c.StandardError*(1+1e-9) || c.StandardError > c.AtWorst.StandardError*(1+1e-9)) {
					t.Errorf("%s: %g, %g at best and %g at worst\n%s", a.Kind, c.StandardError, c.AtBest.StandardError, c.AtWorst.StandardError, terms)
				}
			}
		}
	}
	t.Log(planned, usable)
	for _, side := range []string{"columns", "records", "moments", "cells", "counts"} {
		if planned[side] < 10 {
			t.Errorf("%d studies of side %s are too few", planned[side], side)
		}
	}
	if usable < 50 {
		t.Errorf("%d usable analyses are too few to judge", usable)
	}
}

// A plan does not warn of what a draft has chosen, for random column lists, records and questions.
func TestDraftsAreNotWarnedOf(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and a plan is made in one goroutine")
	}
	base := parseOf(t, horizontal(12, bothSides, perRecordGaussian), "")
	rng := rand.New(rand.NewPCG(15, 4))
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	drafts := 10
	if os.Getenv("COSKETCH_FULL") == "1" {
		drafts = 24
	}
	for n := range drafts {
		d := file.Draft{Name: "draft", Nonce: [16]byte{1}, Expires: 1_900_000_000, Deadline: 1_900_086_400, Records: []string{"id"},
			Partition:  study.Partition(one("vertical", "horizontal")),
			Epsilon:    one("", "0.5", "1", "4"),
			Aggregator: file.DraftAggregator{ID: base.Aggregator.ID, HPKE: base64.StdEncoding.EncodeToString(base.Aggregator.HPKE), Addrs: base.Aggregator.Addrs}}
		d.Analyses = []string{"mean", "correlation"}
		if d.Partition == study.Vertical {
			d.Analyses = []string{"correlation", "intersection"}
		}
		switch rng.IntN(3) {
		case 0:
			d.Analyses = append(d.Analyses, "covariance", "pca")
		case 1:
			if d.Partition == study.Horizontal {
				d.Analyses = append(d.Analyses, "{kind: k-means, clusters: "+one("2", "3", "6")+"}")
			}
		}
		described := one("centre", "bounds", "binary", "mixed")
		count := 2 + rng.IntN(15)
		column := func(name string) file.DraftColumn {
			how := described
			if how == "mixed" {
				how = one("centre", "bounds", "binary")
			}
			switch how {
			case "centre":
				return file.DraftColumn{Name: name, Kind: study.Numeric, Terms: []file.DraftTerm{{Key: "centre", Value: "12"}, {Key: "spread", Value: "4"}}, Source: "code book"}
			case "bounds":
				return file.DraftColumn{Name: name, Kind: study.Numeric, Terms: []file.DraftTerm{{Key: "bounds", Value: "[0, 120]"}}, Source: "code book"}
			}
			return file.DraftColumn{Name: name, Kind: study.Binary}
		}
		var shared []file.DraftColumn
		for i := range count {
			shared = append(shared, column(fmt.Sprintf("c%d", i)))
		}
		records := map[string]int64{}
		for i, p := range base.Parties[:2+rng.IntN(len(base.Parties)-1)] {
			own := shared
			if d.Partition == study.Vertical {
				own = nil
				for j := range 2 + rng.IntN(8) {
					own = append(own, column(fmt.Sprintf("p%dc%d", i, j)))
				}
			}
			records[p.Name] = []int64{600, 5000, 40_000}[rng.IntN(3)]
			d.Parties = append(d.Parties, file.DraftParty{Name: p.Name, ID: p.ID, Columns: own, Records: records[p.Name]})
		}
		text, open, err := d.Text()
		if err != nil || len(open) > 0 {
			t.Fatalf("draft %d: %v %q", n, err, open)
		}
		s, err := file.Parse([]byte(text))
		if err != nil {
			t.Fatalf("draft %d: %v\n%s", n, err, text)
		}
		p, err := Make(Options{Study: s, Party: study.Everyone, Records: records})
		if err != nil {
			t.Fatalf("draft %d: %v\n%s", n, err, text)
		}
		for _, w := range p.Warnings {
			_, sketches, _ := strings.Cut(text, "sketches:")
			t.Errorf("draft %d, %s, %s, %v: %s %q\n%s", n, d.Partition, described, records, w.Text, w.Change, sketches)
		}
	}
}
