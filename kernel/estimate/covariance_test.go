package estimate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

// covariance is the covariance over the records that both hold.
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

// covariances tallies the covariances of three parties' columns over many sketches: variances,
// covariances within a party, and across parties; and all of these with the noise ignored.
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
	root := rootOf(columns)
	variance, within, across := covariance(parties[0], parties[0], 0, 0), covariance(parties[0], parties[0], 0, 1), covariance(parties[0], parties[1], 0, 0)
	for range trials {
		sketch := sketchOf(rng, k, root)
		g := mustGram(t, sketch, addGaussian(rng, sketch, noise))
		silent := mustGram(t, sketch, make([]Noise, len(sketch)))
		tallies["variance"].add(g.Covariance(vs[0][0], vs[0][0], 0), variance)
		tallies["within"].add(g.Covariance(vs[0][0], vs[0][1], 0), within)
		tallies["across"].add(g.Covariance(vs[0][0], vs[1][0], 0), across)
		wrong.add(silent.Covariance(vs[0][0], vs[0][0], 0), variance)
	}
	return tallies, wrong
}

// Variances and covariances within a party are unbiased within five standard errors (false
// rejection 6e-7 each). Across parties, where N is a ratio, a twentieth of the error is allowed in
// addition. All have their coverage: with equal and with other record sets, with and without noise,
// with N from record counts and from the columns of ones. Without the correction for correlated
// errors of the means a variance would be off by 1/k, which the test detects.
func TestCovariance(t *testing.T) {
	full.Statistical(t)
	rng := rand.New(rand.NewPCG(30, 1))
	equal, partial := population(rng, 600, 0, false), population(rng, 600, 0.2, true)
	trials := full.Or(600, 20_000)
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
		n := trials
		if test.k == 16 {
			n = max(n, 2000) // for the power check below
		}
		tallies, wrong := covariances(t, test.parties, test.k, n, test.noise, test.counts)
		for name, c := range tallies {
			want := map[string]float64{
				"variance": covariance(test.parties[0], test.parties[0], 0, 0),
				"within":   covariance(test.parties[0], test.parties[0], 0, 1),
				"across":   covariance(test.parties[0], test.parties[1], 0, 0),
			}[name]
			bias, se := c.mean()-want, c.rmse()/math.Sqrt(float64(c.n))
			t.Logf("%s, %s: coverage %.3f, bias %.2f standard errors, %.2f/k of the truth %.3f", test.name, name, c.coverage(), bias/se, bias/want*float64(test.k), want)
			if !c.holds(false) || c.undefined > c.n/100 {
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

// A party's own variances and covariances if its column of ones is lost in noise. It holds .4 of
// 2,000 records; values have a small spread off the middle of their bounds; k = 256, ε = 4 for each
// value. Means over the noisy number of records turn a variance of .0028 into values up to
// hundreds; over the public number intervals cover. The tolerance is five standard errors of .95
// over 600 studies (false rejection below 1e-6).
func TestOwnBlocksCoverWhereOnesDrown(t *testing.T) {
	const records, k, trials = 2000, 256, 600
	const sigma = 1.1935185872 // ε = 4, δ = 1e-6
	rng := rand.New(rand.NewPCG(81, 1))
	var p party
	p.values = [][]float64{nil, nil}
	for range records {
		held := rng.Float64() < .4
		a, b := rng.NormFloat64(), rng.NormFloat64()
		x, y := .6+.053*a, .4+.053*(.5*a+.866*b)
		if !held {
			x, y = 0, 0
		}
		p.held = append(p.held, held)
		p.values[0], p.values[1] = append(p.values[0], x), append(p.values[1], y)
	}
	ones := Ones{Weight: onesWeight, Records: p.records()}
	x, y := Variable{Value: 1, Ones: ones}, Variable{Value: 2, Ones: ones}
	columns := p.columns(false)
	var variances, covariances, means, noisy tally
	worst := 0.0
	for range trials {
		sketch := countSketch(rng, k, columns)
		g := mustGram(t, sketch, addGaussian(rng, sketch, Noise{Variance: sigma * sigma}))
		variances.add(g.Covariance(x, x, 0), covariance(p, p, 0, 0))
		variances.add(g.Covariance(y, y, 0), covariance(p, p, 1, 1))
		covariances.add(g.Covariance(x, y, 0), covariance(p, p, 0, 1))
		means.add(g.Mean(x, ones, 0), dot(p.values[0], columns[0])/onesWeight/float64(ones.Records))
		if n := g.product(ones.column(), ones.column()); n > 0 {
			rest := Column(1).minus(g.product(Column(1), ones.column())/n, ones.column())
			c := centred{inner: g.inner(rest, rest), n: float64(ones.Records)}
			c.raw += g.variance(form{{1, rest, ones.column()}}) / n
			e := c.estimate(0, noOnes)
			noisy.add(e, covariance(p, p, 0, 0))
			worst = math.Max(worst, e.Interval.Estimate)
		}
	}
	for what, c := range map[string]tally{"variances": variances, "covariances": covariances, "means": means} {
		t.Logf("%s: coverage %.3f of %d, undefined %d, RMSE %.3g, mean %.3g", what, c.coverage(), c.n, c.undefined, c.rmse(), c.mean())
		if off := c.coverage() - .95; off < -5*math.Sqrt(.0475/trials) || c.undefined > 0 {
			t.Errorf("%s: coverage %.3f, undefined %d", what, c.coverage(), c.undefined)
		}
	}
	t.Logf("over the noisy number: coverage %.3f of %d, the largest variance %.3g of %.3g", noisy.coverage(), noisy.n, worst, covariance(p, p, 0, 0))
	if noisy.coverage() > .88 {
		t.Errorf("no power: over the noisy number they cover %.3f", noisy.coverage())
	}
}
