package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

// Intervals of 95 % are stated to have a coverage between .93 and .97. Over n independent draws the
// coverage has a standard error of √(.05·.95/n). Where five of these are more than .02, below 3,000
// draws, they are the tolerance. If the seeds were not fixed, a correct interval would be rejected
// with probability 6e-7.
func coverageTolerance(n int) float64 { return math.Max(0.02, 5*math.Sqrt(0.05*0.95/float64(n))) }

// holds reports whether the coverage is that of an interval of 95 %. It may be higher if the
// interval is conservative by construction.
func (c *tally) holds(conservative bool) bool {
	off := c.coverage() - 0.95
	if off < 0 || !conservative {
		return math.Abs(off) <= coverageTolerance(c.n)
	}
	return true
}

// setting is a pair of columns with a noise, as sketched columns and as records.
type setting struct {
	name         string
	k            int
	project      func(*rand.Rand, int, [][]float64) [][]float64
	noise        Noise
	identity     bool
	conservative bool // signs: heavy entries cause less variance than stated
}

func laplaceNoise(b float64) Noise {
	return Noise{Variance: 2 * b * b, FourthCumulant: 12 * math.Pow(b, 4)}
}

// addNoise draws Laplace noise where there is a fourth cumulant, else Gaussian.
func addNoise(rng *rand.Rand, sketch [][]float64, noise Noise) {
	for j := range sketch {
		for i := range sketch[j] {
			if noise.FourthCumulant > 0 {
				sketch[j][i] += math.Sqrt(noise.Variance/2) * laplace(rng)
			} else {
				sketch[j][i] += math.Sqrt(noise.Variance) * rng.NormFloat64()
			}
		}
	}
}

// naive is the interval that uses the estimate in its own variance.
func naive(raw float64, k int, noise Noise, level Level) Estimate {
	t := raw - float64(k)*noise.Variance
	half := level.z() * math.Sqrt(2*raw*raw/float64(k))
	return newEstimate(t, t-half, t+half, math.Inf(-1), math.Inf(1))
}

// The intervals C1, C2 and C3 have their stated coverage, on both sides: C1 exactly, and C1 for
// signs. On the same draws two others are rejected: intervals for half of the noise, and, at k =
// 16, those that use the estimate in its own variance, which cover .894 of norms.
func TestClaims(t *testing.T) {
	full.Statistical(t)
	const d = 60
	for i, s := range []setting{
		{"gaussian matrix and noise, k = 16", 16, gaussianSketch, Noise{Variance: 1.5}, false, false},
		{"gaussian matrix and noise, k = 128", 128, gaussianSketch, Noise{Variance: 0.5}, false, false},
		{"gaussian matrix without noise", 16, gaussianSketch, Noise{}, false, false},
		{"signs and gaussian noise", 32, rademacher, Noise{Variance: 1}, false, true},
		{"signs without noise", 64, rademacher, Noise{}, false, true},
		{"gaussian matrix and laplace noise", 64, gaussianSketch, laplaceNoise(0.7), false, false},
		{"sparse and laplace noise, k = 64", 64, countSketch, laplaceNoise(0.7), false, true},
		{"sparse and much laplace noise, k = 256", 256, countSketch, laplaceNoise(2), false, true},
		{"identity and laplace noise", d, identity, laplaceNoise(0.5), true, false},
		{"identity and gaussian noise", d, identity, Noise{Variance: 0.5}, true, false},
	} {
		t.Run(s.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(21, uint64(i)))
			points := make([][]float64, 2)
			for range d {
				x := rng.NormFloat64()
				points[0], points[1] = append(points[0], x), append(points[1], 0.6*x+0.8*rng.NormFloat64())
			}
			want := [3]float64{dot(points[0], points[0]), 0, dot(points[0], points[1])}
			want[1] = want[0] + dot(points[1], points[1]) - 2*want[2]
			r := Records{K: s.k, Noise: s.noise, Identity: s.identity}
			half := r
			half.Noise = Noise{Variance: s.noise.Variance / 2, FourthCumulant: s.noise.FourthCumulant / 4}
			n := full.Or(1500, 40_000)
			var right, wrong, columns [3]tally
			var plugged tally
			for range n {
				sketch := s.project(rng, s.k, points)
				addNoise(rng, sketch, s.noise)
				for j, of := range []Records{r, half} {
					into := &right
					if j == 1 {
						into = &wrong
					}
					into[0].add(must(t)(of.SquaredNorm(sketch[0], 0)), want[0])
					into[1].add(must(t)(of.SquaredDistance(sketch[0], sketch[1], 0)), want[1])
					into[2].add(must(t)(of.InnerProduct(sketch[0], sketch[1], 0)), want[2])
				}
				plugged.add(naive(dot(sketch[0], sketch[0]), s.k, s.noise, 0), want[0])
				if s.identity {
					continue
				}
				g := mustGram(t, sketch, []Noise{s.noise, s.noise})
				columns[0].add(g.SquaredNorm(Column(0), 0), want[0])
				columns[1].add(g.SquaredDistance(Column(0), Column(1), 0), want[1])
				columns[2].add(g.InnerProduct(Column(0), Column(1), 0), want[2])
			}
			for j, what := range []string{"norm", "distance", "product"} {
				t.Logf("%s: coverage %.3f", what, right[j].coverage())
				if !right[j].holds(s.conservative) || right[j].undefined > 0 {
					t.Errorf("%s: coverage %.4f ± %.4f, %d undefined", what, right[j].coverage(), coverageTolerance(n), right[j].undefined)
				}
				if !s.identity && columns[j].covered != right[j].covered {
					t.Errorf("%s: the two sides differ", what)
				}
			}
			if s.noise.Variance > 0 && wrong[1].holds(true) {
				t.Errorf("no power: for half of the noise the distance is covered %.3f", wrong[1].coverage())
			}
			if s.k == 16 && (plugged.holds(true) || math.Abs(plugged.coverage()-0.894) > coverageTolerance(n)) {
				t.Errorf("plugging in covers %.3f, want .894", plugged.coverage())
			}
		})
	}
}

// Cosines and correlations of equal record sets (C4), without and with noise. The noise is
// subtracted from the norms: the naive cosine of the noised columns is too small.
func TestCosineCovers(t *testing.T) {
	for i, s := range []struct {
		k        int
		variance float64 // of the noise, relative to the squared norm over k
	}{{64, 0}, {256, 0}, {256, 0.3}, {1000, 1}} {
		rng := rand.New(rand.NewPCG(22, uint64(i)))
		points := make([][]float64, 2)
		for range 400 {
			x := rng.NormFloat64()
			points[0], points[1] = append(points[0], x), append(points[1], 0.8*x+0.6*rng.NormFloat64())
		}
		want := dot(points[0], points[1]) / math.Sqrt(dot(points[0], points[0])*dot(points[1], points[1]))
		noise := Noise{Variance: s.variance * dot(points[0], points[0]) / float64(s.k)}
		n := full.Or(1200, 30_000)
		var right, attenuated tally
		root := rootOf(points)
		for range n {
			sketch := sketchOf(rng, s.k, root)
			addNoise(rng, sketch, noise)
			right.add(mustGram(t, sketch, []Noise{noise, noise}).Cosine(Column(0), Column(1), 0), want)
			attenuated.add(mustGram(t, sketch, make([]Noise, 2)).Cosine(Column(0), Column(1), 0), want)
		}
		t.Logf("k = %d, noise %g: coverage %.3f, RMSE %.4f", s.k, s.variance, right.coverage(), right.rmse())
		if !right.holds(false) || right.undefined > 0 {
			t.Errorf("k = %d, noise %g: coverage %.4f ± %.4f", s.k, s.variance, right.coverage(), coverageTolerance(n))
		}
		if s.variance > 0 && attenuated.holds(true) {
			t.Errorf("no power: the cosine of noised columns covers %.3f", attenuated.coverage())
		}
	}
}

// All intervals of an analysis hold simultaneously at least as often as their level says if each is
// built at its Bonferroni level (C5), and far less often otherwise.
func TestAllPairsCoverTogether(t *testing.T) {
	const columns, k = 8, 64
	rng := rand.New(rand.NewPCG(23, 1))
	points := make([][]float64, columns)
	for range 200 {
		common := rng.NormFloat64()
		for j := range points {
			points[j] = append(points[j], 0.5*common+rng.NormFloat64())
		}
	}
	noise := Noise{Variance: 1}
	kinds := map[string]struct {
		estimate func(*Gram, int, int, Level) Estimate
		truth    func(x, y []float64) float64
	}{
		"product": {
			func(g *Gram, i, j int, l Level) Estimate { return g.InnerProduct(Column(i), Column(j), l) }, dot,
		},
		"distance": {
			func(g *Gram, i, j int, l Level) Estimate { return g.SquaredDistance(Column(i), Column(j), l) },
			func(x, y []float64) float64 { return dot(x, x) + dot(y, y) - 2*dot(x, y) },
		},
		"cosine": {
			func(g *Gram, i, j int, l Level) Estimate { return g.Cosine(Column(i), Column(j), l) },
			func(x, y []float64) float64 { return dot(x, y) / math.Sqrt(dot(x, x)*dot(y, y)) },
		},
	}
	const pairs = columns * (columns - 1) / 2
	together := map[string]map[Level]*tally{}
	for name := range kinds {
		together[name] = map[Level]*tally{0: {}, Level(0).Bonferroni(pairs): {}}
	}
	n := full.Or(400, 10_000)
	root := rootOf(points)
	for range n {
		sketch := sketchOf(rng, k, root)
		addNoise(rng, sketch, noise)
		noises := make([]Noise, columns)
		for j := range noises {
			noises[j] = noise
		}
		g := mustGram(t, sketch, noises)
		for name, kind := range kinds {
			for level, c := range together[name] {
				c.n++
				all := 1
				for i := range columns {
					for j := range i {
						e, want := kind.estimate(g, i, j, level), kind.truth(points[i], points[j])
						if !e.Defined() || want < e.Low || want > e.High {
							all = 0
						}
					}
				}
				c.covered += all
			}
		}
	}
	for name, levels := range together {
		each, all := levels[0], levels[Level(0).Bonferroni(pairs)]
		t.Logf("%s: all %d pairs hold in %.3f, and in %.3f where each is built for 95 %%", name, pairs, all.coverage(), each.coverage())
		if !all.holds(true) {
			t.Errorf("%s: all pairs hold in %.3f ± %.3f", name, all.coverage(), coverageTolerance(n))
		}
		if each.holds(true) {
			t.Errorf("%s: no power: without a correction all pairs hold in %.3f", name, each.coverage())
		}
	}
}

// The uniform bound that is not used always lies outside Bonferroni's quantiles.
func TestLaurentMassartIsNeverTighter(t *testing.T) {
	for _, k := range []float64{1, 4, 32, 1000, 100_000} {
		for _, pairs := range []int{1, 3, 100, 1_000_000} {
			low, high := Level(0).Bonferroni(pairs).chiSquared(k)
			bound := math.Log(2 * float64(pairs) / 0.05)
			if k-2*math.Sqrt(k*bound) > low || k+2*math.Sqrt(k*bound)+2*bound < high {
				t.Errorf("k = %g, %d pairs: the bound is inside %g to %g", k, pairs, low, high)
			}
		}
	}
}
