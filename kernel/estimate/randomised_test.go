package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

// bitNoise is the noise of randomised response with flip probability p: variance and fourth
// cumulant of a bit that was divided by 1-2p.
func bitNoise(p float64) Noise {
	u, g := p*(1-p), 1/(1-2*p)
	return Noise{Variance: u * g * g, FourthCumulant: u * (1 - 6*u) * math.Pow(g, 4)}
}

// randomise returns bits after randomised response, unbiased.
func randomise(rng *rand.Rand, p float64, bits []float64) []float64 {
	out := make([]float64, len(bits))
	for i, b := range bits {
		if rng.Float64() < p {
			b = 1 - b
		}
		out[i] = (b - p) / (1 - 2*p)
	}
	return out
}

func randomBits(rng *rand.Rand, n int, share float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		if rng.Float64() < share {
			out[i] = 1
		}
	}
	return out
}

// The squared distance of two records after randomised response, without projection, has variance
// d·q(1-q)/(1-2p)⁴, q = p²+(1-p)², whatever the records are. This is the general formula 8dv²+2dκ
// without its term in the distance, which a bit's skew cancels. 40,000 trials. At six standard
// errors of a variance (kurtosis below 3.1) a correct formula fails with probability below 1e-8,
// and the general formula with its term is rejected.
func TestRandomisedDistanceVariance(t *testing.T) {
	const d, trials = 64, 40_000
	for _, epsilon := range []float64{0.5, 1, 3} {
		p := 1 / (1 + math.Exp(epsilon))
		q, v := p*p+(1-p)*(1-p), bitNoise(p)
		want := d * q * (1 - q) / math.Pow(1-2*p, 4)
		if general := d * (8*v.Variance*v.Variance + 2*v.FourthCumulant); math.Abs(general-want) > 1e-9*want {
			t.Errorf("p = %.3f: 8dv²+2dκ = %g, and q(1-q) gives %g", p, general, want)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for _, apart := range []int{0, 20, d} {
			x, y := make([]float64, d), make([]float64, d)
			for i := range apart {
				y[i] = 1
			}
			var sum, squares float64
			for range trials {
				a, b := randomise(rng, p, x), randomise(rng, p, y)
				dist := -2 * d * v.Variance
				for i := range a {
					dist += (a[i] - b[i]) * (a[i] - b[i])
				}
				sum += dist
				squares += (dist - float64(apart)) * (dist - float64(apart))
			}
			if z := (sum/trials - float64(apart)) / math.Sqrt(want/trials); math.Abs(z) > 6 {
				t.Errorf("p = %.3f, distance %d: the estimate is %.1f standard errors off", p, apart, z)
			}
			limit := 6 * math.Sqrt(2.1/trials)
			if ratio := squares / trials / want; math.Abs(ratio-1) > limit {
				t.Errorf("p = %.3f, distance %d: variance is %.4f times what is stated", p, apart, ratio)
			}
			if wide := want + 8*v.Variance*float64(apart); apart > 0 && math.Abs(squares/trials/wide-1) <= limit {
				t.Errorf("p = %.3f, distance %d: the test has no power", p, apart)
			}
		}
	}
}

// Coverage of estimates from randomised bits, with and without projection, over 2,000 draws each.
// The noise is in the values, so its part of the variance grows with k/d, which intervals must
// allow for. At k = 2d intervals that treat it as noise on coordinates cover too little.
func TestRandomisedRecordsCoverage(t *testing.T) {
	full.Statistical(t)
	const d, trials = 200, 2000
	p := 1 / (1 + math.E)
	one := bitNoise(p)
	for _, test := range []struct {
		name     string
		k        int
		project  func(*rand.Rand, int, [][]float64) [][]float64
		identity bool
	}{
		{"identity", d, identity, true},
		{"signs, k = d/4", d / 4, rademacher, false},
		{"signs, k = 2d", 2 * d, rademacher, false},
		{"count sketch, k = d", d, countSketch, false},
	} {
		rng := rand.New(rand.NewPCG(12, uint64(test.k)))
		x := randomBits(rng, d, 0.3)
		y := randomBits(rng, d, 0.3)
		z := make([]float64, d)
		for i := range z {
			z[i] = x[i] - y[i]
		}
		share := d / float64(test.k)
		r := Records{K: test.k, Identity: test.identity, Noise: one}
		if !test.identity {
			r.Noise = Noise{Variance: share * one.Variance, FourthCumulant: share * one.FourthCumulant, Sources: d}
		}
		naive := r
		naive.Noise.Sources = 0
		var distance, norm, product, blind tally
		for range trials {
			s := test.project(rng, test.k, [][]float64{randomise(rng, p, x), randomise(rng, p, y)})
			distance.add(must(t)(r.SquaredDistance(s[0], s[1], 0)), dot(z, z))
			norm.add(must(t)(r.SquaredNorm(s[0], 0)), dot(x, x))
			product.add(must(t)(r.InnerProduct(s[0], s[1], 0)), dot(x, y))
			blind.add(must(t)(naive.InnerProduct(s[0], s[1], 0)), dot(x, y))
		}
		for what, c := range map[string]*tally{"distance": &distance, "norm": &norm, "product": &product} {
			t.Logf("%s, %s: coverage %.3f, mean width %.1f", test.name, what, c.coverage(), c.width/trials)
			if got := c.coverage(); got < 0.93 || c.undefined > 0 {
				t.Errorf("%s, %s: coverage %.3f", test.name, what, got)
			}
		}
		if got := blind.coverage(); test.k == 2*d && got > 0.9 {
			t.Errorf("%s: intervals that take the noise for that of coordinates cover %.3f", test.name, got)
		}
	}
}

// The columns side: each of two parties holds nine tenths of the records, at random; and
// correlation by E2, with columns of ones without noise.
func TestRandomisedColumnsCoverage(t *testing.T) {
	full.Statistical(t)
	const n, trials = 400, 600
	p := 1 / (1 + math.Exp(2))
	one := bitNoise(p)
	for _, k := range []int{100, 800} {
		rng := rand.New(rand.NewPCG(13, uint64(k)))
		parties := make([]party, 2)
		factor := randomBits(rng, n, 0.5)
		for i := range parties {
			parties[i] = party{held: make([]bool, n), values: [][]float64{make([]float64, n)}}
			for r := range n {
				parties[i].held[r] = rng.Float64() < 0.9
				if bit := factor[r]; parties[i].held[r] {
					if rng.Float64() < 0.2 {
						bit = 1 - bit
					}
					parties[i].values[0][r] = bit
				}
			}
		}
		rho, shared := truth(parties[0], parties[1], 0, 0)
		noise := make([]Noise, 4)
		for i, q := range parties {
			share := float64(q.records()) / float64(k)
			noise[2*i+1] = Noise{Variance: share * one.Variance, FourthCumulant: share * one.FourthCumulant, Sources: float64(q.records())}
		}
		var product, norm, distance, correlation tally
		x, y := parties[0].values[0], parties[1].values[0]
		z := make([]float64, n)
		for i := range z {
			z[i] = x[i] - y[i]
		}
		for range trials {
			var columns [][]float64
			for _, q := range parties {
				stored := q.columns(false)
				noised := randomise(rng, p, stored[1])
				for r, held := range q.held {
					if !held {
						noised[r] = 0
					}
				}
				columns = append(columns, stored[0], noised)
			}
			g, err := fromReals(rademacher(rng, k, columns), noise)
			if err != nil {
				t.Fatal(err)
			}
			product.add(g.InnerProduct(Column(1), Column(3), 0), dot(x, y))
			norm.add(g.SquaredNorm(Column(1), 0), dot(x, x))
			distance.add(g.SquaredDistance(Column(1), Column(3), 0), dot(z, z))
			variable := func(i int) Variable {
				return Variable{Value: 2*i + 1, Ones: Ones{Column: 2 * i, Weight: onesWeight, Records: parties[i].records()}, Kurtosis: 1}
			}
			correlation.add(g.CorrelationE2(variable(0), variable(1), 0), rho)
		}
		for what, c := range map[string]*tally{"product": &product, "norm": &norm, "distance": &distance, "correlation": &correlation} {
			t.Logf("k = %d, %s: coverage %.3f, mean width %.2f, rho %.2f over %d", k, what, c.coverage(), c.width/trials, rho, shared)
			if got := float64(c.covered) / float64(c.n-c.undefined); got < 0.92 || c.undefined > c.n/10 { // 3 standard errors below .947
				t.Errorf("k = %d, %s: coverage %.3f", k, what, got)
			}
		}
	}
}
