package estimate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/full"
)

// TestCorrelationOfOwnMoments: with published means and variances, intervals cover and errors are
// no larger than from the sketch alone. Even if that loses norms in noise, none is undefined.
func TestCorrelationOfOwnMoments(t *testing.T) {
	full.Statistical(t)
	const records, k, sigma = 12_000, 400, 3.0
	const ofMean, ofVariance = 0.002, 0.002 // standard errors of the published numbers
	var own, within, sketched tally
	for seed := range uint64(full.Or(60, 600)) {
		rng := rand.New(rand.NewPCG(seed, 16))
		parties := population(rng, records, 0.1, false)
		columns := stack(parties, false)
		sketch := countSketch(rng, k, columns)
		g := mustGram(t, sketch, addGaussian(rng, sketch, Noise{Variance: sigma * sigma}))
		vs := variables(parties, false)
		for p, one := range parties {
			for i, column := range one.values {
				var held []float64
				for r, x := range column {
					if one.held[r] {
						held = append(held, x)
					}
				}
				mean, variance := stat.PopMeanVariance(held, nil)
				vs[p][i].Own = &PublishedMoments{Sketched: mean + ofMean*rng.NormFloat64(), Variance: variance + ofVariance*rng.NormFloat64(), VarianceVariance: ofVariance * ofVariance}
			}
		}
		crossPairs(parties, vs, func(x, y Variable, a, b party, i, j int) {
			rho, _ := truth(a, b, i, j)
			own.add(g.CorrelationE2(x, y, 0), rho)
			x.Own, y.Own = nil, nil
			sketched.add(g.CorrelationE2(x, y, 0), rho)
		})
		for p := range parties {
			rho, _ := truth(parties[p], parties[p], 0, 1)
			within.add(g.CorrelationE2(vs[p][0], vs[p][1], 0), rho)
		}
		for _, c := range []*tally{&own, &within, &sketched} {
			c.seed()
		}
	}
	own.check(t, "own moments", 0.93, 0.98)
	within.check(t, "own moments, columns of one party", 0.93, 0.98)
	t.Logf("from the sketch: coverage %.3f, RMSE %.4f, undefined %d of %d", sketched.coverage(), sketched.rmse(), sketched.undefined, sketched.n)
	if own.undefined > 0 || within.undefined > 0 || sketched.undefined < sketched.n/2 {
		t.Errorf("undefined: %d and %d, from the sketch alone %d", own.undefined, within.undefined, sketched.undefined)
	}
}

// A variance that does not stand out of its noise is no divisor.
func TestOwnVarianceHasToStand(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 1))
	ones := make([]float64, 100)
	for i := range ones {
		ones[i] = 1
	}
	g := mustGram(t, rademacher(rng, 32, [][]float64{ones, ones, ones}), make([]Noise, 3))
	at := func(variance, err float64) Estimate {
		o := PublishedMoments{Variance: variance, VarianceVariance: err * err}
		x := Variable{Value: 1, Ones: Ones{0, 1, 100}, Own: &o}
		y := Variable{Value: 2, Ones: Ones{0, 1, 100}, Own: &o}
		return g.CorrelationE2(x, y, 0)
	}
	for _, bad := range [][2]float64{{0, 0}, {-1, 0.1}, {1, 1}, {math.NaN(), 1}} {
		if e := at(bad[0], bad[1]); !strings.Contains(e.Undefined, "variance") {
			t.Errorf("variance %g ± %g: %v", bad[0], bad[1], e)
		}
	}
	if e := at(1, 0.1); !e.Defined() {
		t.Errorf("a variance that stands: %v", e)
	}
}
