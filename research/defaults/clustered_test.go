package defaults

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// simulated counts intervals of seeds. The coverage of each seed has a beta distribution about p,
// so that two intervals of one seed have the given correlation.
func simulated(rng *rand.Rand, seeds, each int, p, correlation float64) (out coverage) {
	for range seeds {
		own := p
		if correlation > 0 {
			total := 1/correlation - 1
			own = distuv.Beta{Alpha: p * total, Beta: (1 - p) * total, Src: rng}.Rand()
		}
		covered := 0
		for range each {
			if rng.Float64() < own {
				covered++
			}
		}
		out.add(each, covered)
	}
	return out
}

// designs are the designs of the table's rows: seeds, intervals per seed, their correlation, and
// the lower limit.
var designs = []struct {
	seeds, each        int
	correlation, limit float64
}{
	{150, 10, 0, 0.93}, {150, 10, 0.02, 0.93}, {175, 6, 0.02, 0.93}, {150, 30, 0.02, 0.93}, {466, 6, 0.01, 0.90}, {280, 10, 0.01, 0.90}, {150, 45, 0.02, 0.90}, {150, 55, 0.02, 0.90},
	{340, 3, 0, 0.93}, {340, 3, 0.05, 0.93}, {150, 176, 0.02, 0.90}, {150, 435, 0.02, 0.90},
}

// At the sizes used, coverage .85 is always rejected, as the power implies, and .95 always
// accepted, as the level implies.
func TestCoverageTold(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	for _, s := range designs {
		t.Run(fmt.Sprintf("%d × %d, %v", s.seeds, s.each, s.correlation), func(t *testing.T) {
			var least float64 = 1
			for range 8 {
				wrong := simulated(rng, s.seeds, s.each, wrongCoverage, s.correlation)
				if !wrong.below(s.limit, Rejection) {
					t.Errorf("coverage %.3f is taken for %v: n* %.0f", wrong.share(), s.limit, wrong.effective(Rejection))
				}
				right := simulated(rng, s.seeds, s.each, 0.95, s.correlation)
				least = math.Min(least, right.power(s.limit, wrongCoverage, Rejection))
				if right.below(s.limit, Rejection) || right.above(0.98, Rejection) {
					t.Errorf("coverage %.3f is refused", right.share())
				}
			}
			if least < 0.95 {
				t.Errorf("power %.3f", least)
			}
		})
	}
}

// A coverage at its limit is rejected with at most the level's probability, also if intervals of a
// seed are correlated and seeds are few. A test that assumed independence would reject several
// times as often.
func TestCoverageKeepsItsLevel(t *testing.T) {
	const alpha, runs = 0.01, 1500
	rng := rand.New(rand.NewPCG(5, 8))
	most := alpha + 4.75*math.Sqrt(alpha*(1-alpha)/runs) // exceeded by chance once in a million
	naive := 0
	for _, s := range []struct {
		seeds, each int
		correlation float64
	}{{100, 10, 0}, {100, 10, 0.1}, {20, 50, 0.1}, {60, 176, 0.05}} {
		rejected := 0
		for range runs {
			c := simulated(rng, s.seeds, s.each, 0.93, s.correlation)
			if c.below(0.93, alpha) {
				rejected++
			}
			if n, covered := c.total(); s.correlation > 0 && atMost(float64(n), float64(covered), 0.93) < alpha {
				naive++
			}
		}
		if share := float64(rejected) / runs; share > most {
			t.Errorf("%+v: %.4f rejected at the level %v", s, share, alpha)
		}
	}
	if naive < 4*3*alpha*runs {
		t.Errorf("independent intervals would be refused %d times of %d: the check is idle", naive, 3*runs)
	}
}

func TestBinomialTail(t *testing.T) {
	for _, x := range []float64{0, 3, 19, 20} {
		if got, want := atMost(20, x, 0.9), (distuv.Binomial{N: 20, P: 0.9}).CDF(x); math.Abs(got-want) > 1e-12 {
			t.Errorf("at most %v of 20: %v, want %v", x, got, want)
		}
	}
	none := coverage{}
	none.add(10, 9)
	if none.below(0.99, 0.5) || none.power(0.99, 0.5, 0.5) != 0 {
		t.Error("one seed is judged")
	}
	all := coverage{}
	for range 100 {
		all.add(10, 10)
	}
	if all.below(0.93, Rejection) || !all.above(0.98, Rejection) {
		t.Errorf("coverage 1: n* %v", all.effective(Rejection))
	}
}
