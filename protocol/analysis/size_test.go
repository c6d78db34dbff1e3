package analysis_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// The forecast size of a result is close to its actual size; for tables it is exact.
func TestSizeOfResults(t *testing.T) {
	const all = "{kind: covariance}, {kind: correlation}, {kind: inner-product}, {kind: distance}, {kind: pca}, {kind: sums}, {kind: clustering}"
	for each, analyses := range map[int]string{30: all, 202: "{kind: inner-product}, {kind: correlation}"} {
		s, data := wideStudy(t, each, "{ones: 1}", analyses)
		run := ship(t, s, 3, data)
		run.options.Keep = shelf{}
		result, _ := run.run(t)
		for _, a := range result.Analyses {
			if _, err := json.Marshal(a); err != nil {
				t.Errorf("%s: %v", a.Kind, err)
			}
		}
		raw, err := json.MarshalIndent(result, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		tables := int64(0)
		for _, a := range result.Analyses {
			if a.Dense != nil {
				tables += a.Dense.Bytes()
			}
		}
		// The third party, with one column, is in no result here.
		if got := analysis.SizeOf(s); got.Tables < tables || float64(got.Tables) > 1.4*float64(tables) || got.Document < int64(len(raw))/3 || got.Document > 4*int64(len(raw)) {
			t.Errorf("%d columns: forecast %+v, the result has %d bytes and tables of %d", 2*each, got, len(raw), tables)
		}
	}
}

// A study is refused if an analysis has no answer, or if its result cannot be fetched. The error
// says what it would cost.
func TestDeliverable(t *testing.T) {
	for _, test := range []struct {
		columns  int
		analyses string
		want     string // "": accepted
	}{
		{2000, "{kind: pca}", ""},
		{2001, "{kind: pca}", "analyses[0]: pca of 2001 columns is refused: at most 2000 are decomposed. The work grows with their cube and the memory with their square: here about 10 seconds of all processors, and 256 MB"},
		{10_000, "{kind: covariance}, {kind: correlation}, {kind: sums}, {kind: regression, target: c0, on: [c1, c9]}", ""},
		{10_000, "{kind: covariance}, {kind: pca}", "analyses[1]: pca of 10000 columns is refused: at most 2000 are decomposed. The work grows with their cube and the memory with their square: here about 21 minutes of all processors, and 6.4 GB"},
		{3000, "{kind: regression, target: c0}", "regression of 3000 columns is refused"},
		{3000, "{kind: clustering}", "clustering of 3000 columns is refused"},
		{400, "{kind: covariance}, {kind: covariance, intervals: all}, {kind: correlation}, {kind: correlation, intervals: all}, {kind: distance}, {kind: distance, intervals: all}, {kind: cosine}", "the result document would have about 1"},
	} {
		s := ofColumns(t, test.columns, test.analyses)
		err := analysis.Deliverable(s)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%d columns, %.60s: error %v, want %q", test.columns, test.analyses, err, test.want)
		}
	}
	// Values of categorical columns are features, and there can be more of them than columns.
	var values []string
	for i := range 60 {
		values = append(values, fmt.Sprintf("v%d", i))
	}
	var columns strings.Builder
	for i := range 200 {
		fmt.Fprintf(&columns, "  - {name: c%d, kind: categorical, values: [%s], owner: north}\n", i, strings.Join(values, ", "))
	}
	s := parse(t, terms(columns.String(), "{kind: correlation}"))
	if err := analysis.Deliverable(s); err == nil || !strings.Contains(err.Error(), "correlation of 12002 columns is refused: at most 10000 are possible") {
		t.Errorf("12002 features: error %v", err)
	}
}

func ofColumns(t *testing.T, n int, analyses string) *study.Study {
	var columns strings.Builder
	for i := range n - 2 {
		fmt.Fprintf(&columns, "  - {name: c%d, kind: numeric, bounds: [0, 1], owner: north}\n", i)
	}
	return parse(t, terms(columns.String(), analyses))
}

func terms(columns, analyses string) string {
	return "partition: vertical\nrecords: {id: [patient]}\ncolumns:\n" + columns + "  - {name: last, kind: binary, owner: south}\n  - {name: far, kind: binary, owner: west}\n" +
		"sketches:\n  - {side: columns, family: sparse, k: 64, s: 1, helpers: {ones: 1}}\nprivacy: {unit: attribute, mechanism: laplace, epsilon: 1}\nanalyses: [" + analyses + "]\n"
}
