package estimate

import (
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

// Correlations, covariances and distances of columns of two parties, with all records and with 60 %
// of them, with noise and without. Coverage is averaged over pairs and seeds, enough of them that
// five standard errors are 0.05 (0.02 in the long run). The power check: intervals half as wide
// fail.
func TestPairsCover(t *testing.T) {
	for name, s := range map[string]trial{
		"all":               {records: 800, k: 256, parties: 3},
		"all, noise":        {records: 20000, k: 512, parties: 3, noise: Noise{Variance: 2}},
		"60 percent":        {records: 800, k: 256, missing: 0.4, parties: 3},
		"60 percent, noise": {records: 20000, k: 512, missing: 0.4, parties: 3, noise: Noise{Variance: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var correlations, covariances, distances, narrow tally
			for seed := range uint64(full.Or(80, 3000)) {
				rng := rand.New(rand.NewPCG(seed, 78))
				set := dataSetFor(rng, s.records, s.missing, s.parties, seed)
				vs, truths := variables(set.parties, false), set.pairs()
				sketch := sketchOf(rng, s.k, set.root)
				g := mustGram(t, sketch, addGaussian(rng, sketch, s.noise))
				eachCross(set.parties, func(p, q, i, j int) {
					x, y, truth := vs[p][i], vs[q][j], truths[[4]int{p, i, q, j}]
					correlation := g.CorrelationE2(x, y, 0)
					correlations.add(correlation, truth.rho)
					half := (correlation.High - correlation.Low) / 4
					correlation.Low, correlation.High = correlation.Low+half, correlation.High-half
					narrow.add(correlation, truth.rho)
					covariances.add(g.Covariance(x, y, 0), truth.covariance)
					distances.add(g.SquaredDistance(x.value(), y.value(), 0), truth.distance)
				})
				for _, c := range []*tally{&correlations, &covariances, &distances, &narrow} {
					c.seed()
				}
			}
			for _, c := range []struct {
				what string
				*tally
			}{{"correlations", &correlations}, {"covariances", &covariances}, {"distances", &distances}} {
				se, got := c.standardError(), c.coverage()
				t.Logf("%s: coverage %.4f ± %.4f, %d undefined", c.what, got, se, c.undefined)
				if 5*se > 0.05 || got < 0.93-5*se || got > 0.98+5*se || c.undefined > 0 {
					t.Errorf("%s: coverage %.4f ± %.4f is outside 0.93 to 0.98, or %d are undefined", c.what, got, se, c.undefined)
				}
			}
			if got := narrow.coverage(); got > 0.93-5*narrow.standardError() {
				t.Errorf("intervals half as wide cover %.4f: the test could not tell", got)
			}
		})
	}
}

// pairTruth holds the true values for two columns of two parties.
type pairTruth struct{ rho, covariance, distance float64 }

func (s *dataSet) everyPair() map[[4]int]pairTruth {
	out := map[[4]int]pairTruth{}
	eachCross(s.parties, func(p, q, i, j int) {
		a, b := s.parties[p], s.parties[q]
		rho, _ := truth(a, b, i, j)
		covariance, distance := both(a.values[i], b.values[j], a.held, b.held)
		out[[4]int{p, i, q, j}] = pairTruth{rho, covariance, distance}
	})
	return out
}

// both is the covariance over the records that two parties hold, and the squared distance, for
// which a record that one lacks counts as zero there.
func both(x, y []float64, a, b []bool) (covariance, distance float64) {
	var n, sx, sy, sxy float64
	for r := range x {
		d := x[r] - y[r] // zero where not held
		distance += d * d
		if a[r] && b[r] {
			n, sx, sy, sxy = n+1, sx+x[r], sy+y[r], sxy+x[r]*y[r]
		}
	}
	return sxy/n - sx*sy/n/n, distance
}
