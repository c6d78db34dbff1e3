package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// Each analysis says what records cannot answer, and the others are answered: more clusters than
// records, as many neighbours as records, labels of one class.
func TestRecordsThatCannotAnswer(t *testing.T) {
	const asked = "{kind: k-means, clusters: 40}, {kind: k-means, clusters: 2}, {kind: neighbors, neighbors: 24}, {kind: neighbors, neighbors: 23}," +
		" {kind: outliers, neighbors: 30}, {kind: outliers, neighbors: 5}, {kind: svm}, {kind: ridge-classification}"
	s := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: identity, labels: plain}", noPromise, asked))
	rng := rand.New(rand.NewPCG(2, 8))
	data := files{}
	for _, name := range []string{"north", "south", "west"} {
		var f file
		for i := range 8 {
			f.add(fmt.Sprintf("%s %d", name, i), 100+120*rng.Float64(), 60+20*rng.Float64(), 1)
		}
		data[name] = f
	}
	result, _ := ship(t, s, 3, data).run(t)
	for i, want := range []string{
		"24 records are fewer than 40 clusters", "",
		"24 neighbours are asked for, and each of 24 records has only 23 others", "",
		"30 neighbours are asked for, and each of 24 records has only 23 others", "",
		"all records have the same label", "all records have the same label",
	} {
		a := result.Analyses[i]
		if (want == "") != (a.Undefined == "") || !strings.Contains(a.Undefined, want) {
			t.Errorf("%s: %q, want %q", a.Kind, a.Undefined, want)
		}
	}
}

// Each pair says what columns cannot answer, and others are answered: a column that is the same in
// all records, parties without a common record.
func TestColumnsThatCannotAnswer(t *testing.T) {
	const asked = "{kind: correlation}, {kind: covariance}, {kind: intersection}, {kind: sums}, {kind: pca}," +
		" {kind: regression, target: pulse, on: [height, weight]}, {kind: regression, target: height, on: [weight]}, {kind: clustering}, {kind: inner-product}"
	run := func(change func(data files)) []analysis.Analysis {
		s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: rademacher, k: 256, helpers: {ones: 1}}", noPromise, asked))
		data := people(rand.New(rand.NewPCG(3, 3)), 300, 0)
		change(data)
		result, _ := ship(t, s, 1, data).run(t)
		return result.Analyses
	}
	says := func(what string, a analysis.Analysis, of func(i, j analysis.Feature) bool, want string) {
		t.Helper()
		for _, p := range a.Pairs {
			i, j := a.Features[p.I], a.Features[p.J]
			if undefined := of(i, j); undefined != (p.Undefined != "") || undefined && !strings.Contains(p.Undefined, want) {
				t.Errorf("%s, %s of %v and %v: %q", what, a.Kind, i, j, p.Undefined)
			}
		}
	}
	constant := run(func(data files) {
		for _, r := range data["north"].values {
			r[1] = 80
		}
	})
	says("constant", constant[0], func(i, j analysis.Feature) bool { return i.Column == "weight" || j.Column == "weight" }, "the variance of a column does not stand out")
	says("constant", constant[1], func(_, _ analysis.Feature) bool { return false }, "")
	if left := constant[4].PCA.LeftOut; len(left) != 1 || left[0].Column != "weight" {
		t.Errorf("constant: left out of pca: %v", left)
	}
	if r := constant[5]; r.Regression == nil || len(r.Regression.LeftOut) != 1 || r.Regression.LeftOut[0].Column != "weight" || len(r.Features) != 1 || len(r.Regression.Coefficients) != 1 {
		t.Errorf("constant: a regression on it and another column is %+v %s", r.Regression, r.Undefined)
	}
	if why := constant[6].Undefined; !strings.Contains(why, "weight") || !strings.Contains(why, "does not stand out of its error") {
		t.Errorf("constant: regression says %q", why)
	}
	apart := run(func(data files) {
		f := data["west"]
		for i := range f.ids {
			f.ids[i] = "other " + f.ids[i]
		}
	})
	across := func(i, j analysis.Feature) bool { return (i.Party == "west") != (j.Party == "west") }
	says("no common record", apart[0], across, "no shared records stand out of the error")
	says("no common record", apart[1], across, "no shared records stand out of the error")
	for _, p := range apart[2].Pairs {
		if i, j := apart[2].Features[p.I], apart[2].Features[p.J]; p.Undefined != "" || across(i, j) && *p.Low > 0 || !across(i, j) && *p.Estimate < 299 {
			t.Errorf("no common record: %v and %v share %+v", i, j, p.Number)
		}
	}
	for _, r := range apart[3].Sums.Rows {
		if across(apart[3].Features[r.Feature], analysis.Feature{Party: r.Over}) != (r.Mean.Undefined != "") {
			t.Errorf("no common record: the mean of %v over %s: %q", apart[3].Features[r.Feature], r.Over, r.Mean.Undefined)
		}
	}
	for i, want := range map[int]string{4: "no shared records", 5: "no shared records", 6: "", 8: ""} {
		if why := apart[i].Undefined; (want == "") != (why == "") || !strings.Contains(why, want) {
			t.Errorf("no common record: %s says %q, want %q", apart[i].Kind, why, want)
		}
	}
}
