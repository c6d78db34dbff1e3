package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

// Far more columns than coordinates leave a matrix of low rank: what is asked of all of them is answered all
// the same.
func TestMoreColumnsThanCoordinates(t *testing.T) {
	const d, n = 150, 500
	rng := rand.New(rand.NewPCG(15, 64))
	var columns strings.Builder
	data := files{}
	for _, party := range []string{"north", "south"} {
		var f file
		for i := range n {
			row := make([]float64, d)
			for j := range row {
				row[j] = rng.NormFloat64()
			}
			f.ids, f.values = append(f.ids, fmt.Sprint(i)), append(f.values, row)
		}
		data[party] = f
		for j := range d {
			fmt.Fprintf(&columns, "  - {name: %s%d, kind: numeric, centre: 0, spread: 1, owner: %s}\n", party, j, party)
		}
	}
	s := parse(t, "partition: vertical\nrecords: {id: [patient]}\ncolumns:\n"+columns.String()+"  - {name: west, kind: binary, owner: west}\n"+
		"sketches: [{side: columns, family: sparse, k: 64, s: 1, helpers: {ones: 1}}]\nprivacy: {mechanism: none}\nanalyses: [{kind: correlation}, {kind: covariance}, {kind: pca}]\n")
	result, _ := ship(t, s, 3, data).run(t)
	for _, a := range result.Analyses {
		told := 0
		for _, p := range a.Pairs {
			if p.Estimate != nil {
				told++
			}
		}
		switch {
		case a.Undefined != "":
			t.Errorf("%s: %s", a.Kind, a.Undefined)
		case a.Kind == study.PCA && (a.PCA == nil || len(a.PCA.Components) == 0):
			t.Errorf("%s has no component", a.Kind)
		case a.Kind != study.PCA && told < 2*d*(2*d-1)/2:
			t.Errorf("%s: %d of %d pairs have an answer", a.Kind, told, len(a.Pairs))
		}
	}
}
