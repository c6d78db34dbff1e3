package estimate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// covariance over the records that both hold.
func covariance(a, b party, i, j int) float64 {
	var n, sx, sy, sxy float64
	for r := range a.held {
		if a.held[r] && b.held[r] {
			x, y := a.values[i][r], b.values[j][r]
			n, sx, sy, sxy = n+1, sx+x, sy+y, sxy+x*y
		}
	}
	return (sxy - sx*sy/n) / n
}

// covariances tallies the covariances of three parties' columns over many sketches:
// variances, covariances within a party, and across parties; and the same with the
// noise left out of account.
func covariances(t *testing.T, parties []party, k, trials int, noise Noise, counts bool) (tallies map[string]*tally, wrong *tally) {
	t.Helper()
	rng := rand.New(rand.NewPCG(31, uint64(k)))
	columns, vs := stack(parties, false), variables(parties, false)
	for p := range vs {
		for j := range vs[p] {
			if !counts {
				vs[p][j].Ones.Records = 0
			}
		}
	}
	tallies = map[string]*tally{"variance": {}, "within": {}, "across": {}}
	wrong = &tally{}
	for range trials {
		sketch := gaussianSketch(rng, k, columns)
		g := mustGram(t, sketch, addGaussian(rng, sketch, noise))
		silent := mustGram(t, sketch, make([]Noise, len(sketch)))
		tallies["variance"].add(g.Covariance(vs[0][0], vs[0][0], 0), covariance(parties[0], parties[0], 0, 0))
		tallies["within"].add(g.Covariance(vs[0][0], vs[0][1], 0), covariance(parties[0], parties[0], 0, 1))
		tallies["across"].add(g.Covariance(vs[0][0], vs[1][0], 0), covariance(parties[0], parties[1], 0, 0))
		wrong.add(silent.Covariance(vs[0][0], vs[0][0], 0), covariance(parties[0], parties[0], 0, 0))
	}
	return tallies, wrong
}

// Variances and covariances within a party are unbiased within five standard errors
// (false rejection 6e-7 each); across parties, where N is a ratio, up to a twentieth
// of the error besides. All are covered, with equal and with other record sets, with and without noise, with
// N from record counts and from the columns of ones. Without the correction for the
// means that err together a variance would be off by 1/k, which is found.
func TestCovariance(t *testing.T) {
	statistical(t)
	rng := rand.New(rand.NewPCG(30, 1))
	equal, partial := population(rng, 600, 0, false), population(rng, 600, 0.2, true)
	trials := draws(2000, 20_000)
	for _, test := range []struct {
		name    string
		parties []party
		k       int
		noise   Noise
		counts  bool
	}{
		{"equal record sets", equal, 16, Noise{}, true},
		{"other record sets", partial, 64, Noise{}, true},
		{"noise", partial, 256, Noise{Variance: 0.2}, true},
		{"no counts", partial, 256, Noise{}, false},
		{"noise and no counts", partial, 1024, Noise{Variance: 0.1}, false},
	} {
		tallies, wrong := covariances(t, test.parties, test.k, trials, test.noise, test.counts)
		for name, c := range tallies {
			want := map[string]float64{
				"variance": covariance(test.parties[0], test.parties[0], 0, 0),
				"within":   covariance(test.parties[0], test.parties[0], 0, 1),
				"across":   covariance(test.parties[0], test.parties[1], 0, 0),
			}[name]
			bias, se := c.mean()-want, c.rmse()/math.Sqrt(float64(c.n))
			t.Logf("%s, %s: coverage %.3f, bias %.2f standard errors, %.2f/k of the truth %.3f", test.name, name, c.coverage(), bias/se, bias/want*float64(test.k), want)
			if !c.holds(false) || c.undefined > 0 {
				t.Errorf("%s, %s: coverage %.3f ± %.3f", test.name, name, c.coverage(), coverageTolerance(c.n))
			}
			allowed := 5 * se
			if name == "across" {
				allowed += c.rmse() / 20
			}
			if math.Abs(bias) > allowed {
				t.Errorf("%s, %s: off by %.4g ± %.2g", test.name, name, bias, se)
			}
		}
		if test.noise.Variance > 0 && wrong.holds(true) {
			t.Errorf("%s: no power: a variance with the noise in it covers %.3f", test.name, wrong.coverage())
		}
		if c := tallies["variance"]; test.k == 16 && covariance(equal[0], equal[0], 0, 0)/16 < 5*c.rmse()/math.Sqrt(float64(c.n)) {
			t.Errorf("%s: no power against a bias of 1/k", test.name)
		}
	}
}

// Columns of two parties with no record in common have no covariance.
func TestCovarianceIsUndefinedWithoutOverlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	parties := population(rng, 400, 0, false)
	for r := range parties[0].held {
		lacks := parties[r%2]
		lacks.held[r] = false
		for j := range lacks.values {
			lacks.values[j][r] = 0
		}
	}
	vs := variables(parties, false)
	for n := range uint64(50) {
		g := mustGram(t, rademacher(rand.New(rand.NewPCG(33, n)), 64, stack(parties, false)), make([]Noise, 9))
		e := g.Covariance(vs[0][0], vs[1][0], 0)
		if e.Defined() && n%10 == 0 {
			t.Logf("overlap by chance: %v", e)
		}
		if e := g.Covariance(vs[0][0], vs[0][1], 0); !e.Defined() {
			t.Errorf("within a party: %v", e)
		}
		if strings.Contains(e.Undefined, "float64") {
			t.Errorf("%v", e)
		}
	}
}

func (c *tally) mean() float64 { return c.sum / float64(c.n-c.undefined) }
