package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

// Ratios are not unbiased. A cosine r is too small by r(1 − r²)/2k without noise, as every
// correlation of k pairs is. Noise adds terms of second order. E1, whose denominator has the
// largest error, has the largest bias: at RMSE .12 an eighth of that. Beyond five standard errors
// of the mean (false rejection 6e-7) a sixth of the RMSE is allowed for E1, a twentieth for the
// others. The power check: with the noise left in the norms, E2 is rejected. Estimates at an end of
// their range, as the intersection of equal record sets, are clamped and so left out.
func TestRatiosAreNearlyUnbiased(t *testing.T) {
	full.Statistical(t)
	const k, share = 100, 0.05
	shares := map[string]float64{"E1": 1. / 6, "E2": share, "intersection": share}
	rng := rand.New(rand.NewPCG(61, 1))
	equal, partial := population(rng, 400, 0, false), population(rng, 3000, 0.1, false)
	for _, test := range []struct {
		name    string
		parties []party
		k       int
		noise   float64 // variance
	}{{"equal record sets", equal, k, 0}, {"equal record sets and noise", equal, 4 * k, 0.02}, {"other record sets", partial, k, 0}} {
		columns, vs := stack(test.parties, true), variables(test.parties, true)
		rho, shared := truth(test.parties[0], test.parties[1], 0, 0)
		noise := Noise{Variance: test.noise}
		tallies := map[string]*tally{"E1": {}, "E2": {}, "intersection": {}}
		biased, root := &tally{}, rootOf(columns)
		for range full.Or(600, 20_000) {
			sketch := sketchOf(rng, test.k, root)
			g := mustGram(t, sketch, addGaussian(rng, sketch, noise))
			tallies["E1"].add(g.CorrelationE1(vs[0][0], vs[1][0], 0), rho)
			tallies["E2"].add(g.CorrelationE2(vs[0][0], vs[1][0], 0), rho)
			tallies["intersection"].add(g.Intersection(vs[0][0].Ones, vs[1][0].Ones, 0).over(shared), 1)
			if test.noise > 0 {
				biased.add(mustGram(t, sketch, make([]Noise, len(sketch))).CorrelationE2(vs[0][0], vs[1][0], 0), rho)
			}
		}
		for name, c := range tallies {
			want := map[string]float64{"E1": rho, "E2": rho, "intersection": 1}[name]
			if (name == "intersection") != (test.name == "other record sets") && name != "E1" {
				continue // for other record sets the error of E2 depends on how these differ from a party's own, whatever the sketch
			}
			bias, se := c.mean()-want, c.rmse()/math.Sqrt(float64(c.n))
			t.Logf("%s, %s: bias %.4f ± %.4f, RMSE %.4f, coverage %.3f", test.name, name, bias, se, c.rmse(), c.coverage())
			if math.Abs(bias) > 5*se+shares[name]*c.rmse() {
				t.Errorf("%s, %s: off by %.4f ± %.4f with RMSE %.4f", test.name, name, bias, se, c.rmse())
			}
		}
		if test.noise == 0 {
			continue
		}
		if bias := math.Abs(biased.mean() - rho); bias < 5*biased.rmse()/math.Sqrt(float64(biased.n))+share*biased.rmse() {
			t.Errorf("%s: no power: with the noise in the norms the bias is %.4f", test.name, bias)
		}
	}
}
