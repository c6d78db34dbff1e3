package analysis_test

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
)

func TestModels(t *testing.T) {
	s := parse(t, strings.NewReplacer("%s", "").Replace(strings.Replace(strings.Replace(strings.Replace(horizontal,
		"%s", "  - {side: records, family: identity}", 1), "%s", noPromise, 1), "%s", "{kind: k-means, clusters: 3}, {kind: group-distance}", 1)))
	found := func() *analysis.KMeans {
		return &analysis.KMeans{Clusters: 3, Sizes: []int{4, 0, 2}, Centroids: [][]float64{{0, 0}, {1, 0.2}, {1, 1}}}
	}
	r := analysis.Result{Analyses: []analysis.Analysis{{Kind: "group-distance"}, {Kind: "k-means", Sections: analysis.Sections{KMeans: found()}}, {Kind: "k-means", Undefined: "no records"}}}
	models, err := r.Models(s)
	if err != nil || len(models) != 1 || models[0].Analysis != 1 || models[0].Name != "cluster" {
		t.Fatalf("%+v, %v", models, err)
	}
	for want, points := range map[string][][]float64{"0": {{0.1, 0.2}, {-5, 0}}, "2": {{0.9, 0.8}, {1.1, 0.2}}} {
		for _, p := range points { // the second cluster is empty, and nothing is assigned to it
			if got := models[0].Say(p); got != want {
				t.Errorf("%v is in cluster %s, want %s", p, got, want)
			}
		}
	}
	for what, change := range map[string]func(*analysis.Analysis){
		"another space":       func(a *analysis.Analysis) { a.KMeans.Centroids[2] = []float64{1} },
		"a centroid too few":  func(a *analysis.Analysis) { a.KMeans.Centroids = a.KMeans.Centroids[:2] },
		"no such sketch":      func(a *analysis.Analysis) { a.Sketch = 1 },
		"no sketch of a kind": func(a *analysis.Analysis) { a.Sketch = -1 },
	} {
		bad := analysis.Analysis{Sections: analysis.Sections{KMeans: found()}}
		change(&bad)
		if _, err := (analysis.Result{Analyses: []analysis.Analysis{bad}}).Models(s); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}
