package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

// pairsOf is the mean squared distance over all pairs of records, one by one.
func pairsOf(a, b [][]float64, same bool) float64 {
	var sum, n float64
	for i, x := range a {
		for j, y := range b {
			if same && i == j {
				continue
			}
			z := difference(x, y)
			sum, n = sum+dot(z, z), n+1
		}
	}
	return sum / n
}

func meansOf(a [][]float64) []float64 {
	out := make([]float64, len(a[0]))
	for _, x := range a {
		for i, v := range x {
			out[i] += v / float64(len(a))
		}
	}
	return out
}

func grouped(t *testing.T, r Records, rows [][]float64) *Group {
	t.Helper()
	g, err := r.NewGroup()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := g.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// Without projection and noise the sums are those over all pairs.
func TestGroupsAgreeWithAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	a, b := cloud(rng, 30, 7, 0, 1), cloud(rng, 11, 7, 1, 2)
	r := Records{K: 7, Identity: true}
	g, h := grouped(t, r, a), grouped(t, r, b)
	shift := difference(meansOf(a), meansOf(b))
	for _, want := range []struct {
		what string
		e    Estimate
		v    float64
	}{
		{"within", g.WithinDistance(0), pairsOf(a, a, true)},
		{"between", g.BetweenDistance(h, 0), pairsOf(a, b, false)},
		{"between the other way", h.BetweenDistance(g, 0), pairsOf(a, b, false)},
		{"means", g.MeanShift(h, 0), dot(shift, shift)},
	} {
		if got := want.e.Interval; math.Abs(got.Estimate-want.v) > 1e-9 || got.High-got.Low > 1e-9 {
			t.Errorf("%s: %v, want exactly %g", want.what, want.e, want.v)
		}
	}
}

// For single records, a mean squared distance is that of C1.
func TestGroupsOfOneAreC1(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 2))
	a, b := cloud(rng, 1, 40, 0, 3), cloud(rng, 1, 40, 0, 3)
	r := Records{K: 40, Noise: Noise{Variance: 0.3}}
	want := must(t)(r.SquaredDistance(a[0], b[0], 0))
	g, h := grouped(t, r, a), grouped(t, r, b)
	both := grouped(t, r, append(a, b...))
	for what, e := range map[string]Estimate{"between": g.BetweenDistance(h, 0), "within": both.WithinDistance(0), "means": g.MeanShift(h, 0)} {
		got := e.Interval
		if math.Abs(got.Estimate-want.Interval.Estimate)+math.Abs(got.Low-want.Low)+math.Abs(got.High-want.High) > 1e-7 || got.Low == 0 {
			t.Errorf("%s: %v, C1 is %v", what, e, want)
		}
	}
}

// cloud returns n points in d dimensions with decreasing standard deviations.
func cloud(rng *rand.Rand, n, d int, shift, scale float64) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		for j := range d {
			out[i] = append(out[i], shift/math.Sqrt(float64(j+1))+scale*rng.NormFloat64()/math.Sqrt(float64(j+1)))
		}
	}
	return out
}

// Coverage and bias of the three mean distances of two groups that share R, for families of both
// kinds and noise of both. As the interval overestimates tr(M²), it may be wider than needed, never
// narrower. On the same draws, intervals for half of the noise are rejected if the noise is large.
func TestGroupsCover(t *testing.T) {
	full.Statistical(t)
	const d = 30
	for i, s := range []struct {
		setting
		n, m int
	}{
		{setting{"gaussian matrix", 24, gaussianMatrix, Noise{}, false, true}, 40, 25},
		{setting{"signs", 24, rademacher, Noise{}, false, true}, 40, 25},
		{setting{"signs and little gaussian noise", 24, rademacher, Noise{Variance: 0.05}, false, true}, 40, 25},
		{setting{"signs and much gaussian noise", 48, rademacher, Noise{Variance: 4}, false, true}, 40, 25},
		{setting{"sparse and laplace noise", 48, countSketch, laplaceNoise(1), false, true}, 40, 25},
		{setting{"few records", 32, rademacher, laplaceNoise(1), false, true}, 3, 2},
		{setting{"identity and laplace noise", d, identity, laplaceNoise(1), true, false}, 40, 25},
		{setting{"identity and gaussian noise", d, identity, Noise{Variance: 3}, true, false}, 12, 5},
	} {
		t.Run(s.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(52, uint64(i)))
			a, b := cloud(rng, s.n, d, 0, 1), cloud(rng, s.m, d, 0.7, 0.8)
			shift := difference(meansOf(a), meansOf(b))
			want := []float64{pairsOf(a, a, true), pairsOf(a, b, false), dot(shift, shift)}
			right, wrong := make([]tally, 3), make([]tally, 3)
			r := Records{K: s.k, Noise: s.noise, Identity: s.identity}
			silent := r
			silent.Noise = Noise{Variance: s.noise.Variance / 2, FourthCumulant: s.noise.FourthCumulant / 4}
			for range full.Or(500, 15_000) {
				rows := s.project(rng, s.k, append(append([][]float64(nil), a...), b...))
				addNoise(rng, rows, s.noise)
				for j, of := range []Records{r, silent} {
					g, h := grouped(t, of, rows[:s.n]), grouped(t, of, rows[s.n:])
					into := right
					if j == 1 {
						into = wrong
					}
					into[0].add(g.WithinDistance(0), want[0])
					into[1].add(g.BetweenDistance(h, 0), want[1])
					into[2].add(g.MeanShift(h, 0), want[2])
				}
			}
			for j, what := range []string{"within", "between", "means"} {
				c := &right[j]
				bias, se := c.mean()-want[j], c.rmse()/math.Sqrt(float64(c.n))
				t.Logf("%s: coverage %.3f, mean width %.2f, RMSE %.3f, bias %.1f standard errors", what, c.coverage(), c.width/float64(c.n), c.rmse(), bias/se)
				if !c.holds(s.conservative) || c.undefined > 0 {
					t.Errorf("%s: coverage %.3f ± %.3f, %d undefined", what, c.coverage(), coverageTolerance(c.n), c.undefined)
				}
				if math.Abs(bias) > 5*se {
					t.Errorf("%s: off by %.3g ± %.2g", what, bias, se)
				}
				// Signs have no error in the components along single columns, which are a good part
				// here.
				if ratio := c.width / float64(c.n) / (2 * Level(0).z() * c.rmse()); ratio > 3.5 {
					t.Errorf("%s: intervals are %.1f times as wide as the error", what, ratio)
				}
			}
			if s.noise.Variance >= 2 && wrong[1].holds(true) {
				t.Errorf("no power: for half of the noise the distances are covered %.3f", wrong[1].coverage())
			}
		})
	}
}

func TestGroupsRefuse(t *testing.T) {
	r := Records{K: 2}
	g := grouped(t, r, [][]float64{{1, 2}})
	if e := g.WithinDistance(0); !strings.Contains(e.Undefined, "needs at least 2 records, not 1") {
		t.Errorf("a group of one: %v", e)
	}
	if e := g.MeanShift(grouped(t, r, nil), 0); !strings.Contains(e.Undefined, "no records") {
		t.Errorf("an empty group: %v", e)
	}
	if e := g.BetweenDistance(grouped(t, Records{K: 2, Identity: true}, [][]float64{{1, 2}}), 0); !strings.Contains(e.Undefined, "differently") {
		t.Errorf("groups of two kinds: %v", e)
	}
	if e := g.BetweenDistance(g, 2); !strings.Contains(e.Undefined, "level 2") {
		t.Errorf("level 2: %v", e)
	}
	if err := g.Add([]float64{1}); err == nil {
		t.Error("a record of another length")
	}
	if _, err := (Records{}).NewGroup(); err == nil {
		t.Error("records of no length")
	}
}

func ExampleGroup_BetweenDistance() {
	north, _ := Records{K: 2, Identity: true}.NewGroup()
	south, _ := Records{K: 2, Identity: true}.NewGroup()
	for _, x := range [][]float64{{0, 0}, {0, 2}} {
		if err := north.Add(x); err != nil {
			panic(err)
		}
	}
	if err := south.Add([]float64{3, 1}); err != nil {
		panic(err)
	}
	fmt.Println(north.WithinDistance(0))
	fmt.Println(north.BetweenDistance(south, 0))
	fmt.Println(north.MeanShift(south, 0))
	// Output:
	// 4 [4, 4]
	// 10 [10, 10]
	// 9 [9, 9]
}
