package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// Under much noise variances and covariances stay within what bounds allow: heights between 100 and
// 220 have variance at most 60², and bits ¼.
func TestCovariancesArePossible(t *testing.T) {
	most := map[string]float64{"height": 60 * 60, "smoker": .25, "blood": .25}
	cut := 0
	check := func(a analysis.Analysis) {
		t.Helper()
		if len(a.Pairs) == 0 {
			t.Fatal(a.Undefined)
		}
		for _, p := range a.Pairs {
			x, y := a.Features[p.I], a.Features[p.J]
			if p.Estimate == nil || most[x.Column] == 0 || most[y.Column] == 0 {
				continue
			}
			limit := most[x.Column] * most[y.Column] * (1 + 1e-9)
			for _, v := range []float64{*p.Estimate, *p.Low, *p.High} {
				if p.I == p.J && v < 0 || v*v > limit {
					t.Errorf("%s, %v and %v: %v [%v, %v] cannot be", a.Kind, x, y, *p.Estimate, *p.Low, *p.High)
				}
			}
			if v := *p.High; v*v > limit*(1-1e-6) {
				cut++
			}
		}
	}
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: sparse, k: 64}", "{unit: attribute, mechanism: gaussian, epsilon: 4, delta: 1e-6}", "{kind: covariance}"))
	result, _ := ship(t, s, 1, people(rand.New(rand.NewPCG(3, 3)), 300, 0)).run(t)
	check(result.Analyses[0])
	if cut == 0 {
		t.Error("nothing had to be cut: no power")
	}
}

// The headline of components says of which columns they are if some were left out.
func TestComponentsSayOfWhat(t *testing.T) {
	features := func(n int) (out []analysis.Feature) {
		for i := range n {
			out = append(out, analysis.Feature{Column: fmt.Sprint("c", i)})
		}
		return out
	}
	for _, c := range []struct {
		p    analysis.PCA
		kept int
		want string
	}{
		{analysis.PCA{Scaled: true, Centred: true}, 3, "correlations"},
		{analysis.PCA{Centred: true}, 3, "covariances"},
		{analysis.PCA{Scaled: true, Centred: true, LeftOut: features(20)}, 2, "correlations of 2 of 22 columns, c0, c1"},
		{analysis.PCA{Scaled: true, Centred: true, LeftOut: features(2)}, 8, "correlations of 8 of 10 columns, c0, c1, c2, c3, c4, c5 and 2 others"},
	} {
		if got := c.p.Of(features(c.kept)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
