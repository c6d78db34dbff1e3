package audit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cosketch/cosketch/kernel/dp"
)

func claim(t *testing.T, m dp.Mechanism, b dp.Budget) dp.Guarantee {
	t.Helper()
	g, err := dp.Promise(m, b)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// trials draws scores of a mechanism whose noise is scale times what the claim needs.
func trials(g dp.Guarantee, n int, scale float64, rng *rand.Rand) Trials {
	var t Trials
	draw := func(shift float64) float64 {
		switch g.Mechanism() {
		case dp.Gaussian:
			return shift + scale/float64(g.Mu())*rng.NormFloat64()
		case dp.Laplace:
			z := shift + scale/float64(g.Epsilon())*(rng.ExpFloat64()-rng.ExpFloat64())
			return math.Round(1e6*math.Abs(z)) - math.Round(1e6*math.Abs(z-1)) // on a grid: ±1e6 is an atom
		}
		// Randomised response at ε divided by scale.
		if rng.Float64() < 1/(1+math.Exp(float64(g.Epsilon())/scale)) {
			return 1 - shift
		}
		return shift
	}
	for range n {
		t.Without = append(t.Without, draw(0))
		t.With = append(t.With, draw(1))
	}
	return t
}

// A mechanism that keeps its claim passes, and the bound found is near the claim; one with half the
// noise fails. The figures are for 20,000 trials at Doubt = 1e-6.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		mechanism dp.Mechanism
		budget    dp.Budget
		least     dp.Epsilon // ε that must be found for honest noise
	}{
		{dp.Gaussian, dp.Budget{Epsilon: 1, Delta: 1e-6}, 0.4},
		{dp.Gaussian, dp.Budget{Epsilon: 4, Delta: 1e-6}, 3.2},
		{dp.Gaussian, dp.Budget{Epsilon: 8, Delta: 1e-6}, 6.5},
		{dp.Laplace, dp.Budget{Epsilon: 0.5}, 0.35},
		{dp.Laplace, dp.Budget{Epsilon: 1}, 0.85},
		{dp.Laplace, dp.Budget{Epsilon: 3}, 2.4},
		{dp.RandomisedResponse, dp.Budget{Epsilon: 0.5}, 0.35},
		{dp.RandomisedResponse, dp.Budget{Epsilon: 3}, 2.6},
	} {
		g := claim(t, c.mechanism, c.budget)
		rng := rand.New(rand.NewPCG(1, 2))
		honest, err := Judge(g, trials(g, 20_000, 1, rng))
		if err != nil {
			t.Fatal(err)
		}
		halved, err := Judge(g, trials(g, 20_000, 0.5, rng))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s, %v: found %.2f as it is, %.2f with half the noise, reach %.2f", c.mechanism, c.budget, float64(honest.Found), float64(halved.Found), float64(honest.Detectable))
		if !honest.Passed || honest.Found < c.least || honest.Found > g.Epsilon() || honest.Trials != 20_000 {
			t.Errorf("%s, %v: %+v", c.mechanism, c.budget, honest)
		}
		if halved.Passed || halved.Found <= g.Epsilon() {
			t.Errorf("%s, %v with half the noise passes: %+v", c.mechanism, c.budget, halved)
		}
		if honest.Detectable < honest.Found || halved.Detectable < halved.Found {
			t.Errorf("%s, %v: more was found than could be", c.mechanism, c.budget)
		}
	}
}

// The Clopper–Pearson bound inverts the binomial distribution: at the bound, x or fewer of n have
// probability Doubt/2.
func TestUpperInvertsTheBinomial(t *testing.T) {
	for _, c := range []struct{ x, n int }{{0, 1}, {0, 10_000}, {1, 50}, {7, 30}, {29, 30}, {400, 1000}, {9_990, 10_000}} {
		p := upper(c.x, c.n)
		tail := distuv.Binomial{N: float64(c.n), P: p}.CDF(float64(c.x))
		if c.n < 100 { // summed directly if that is quick
			tail = 0
			for i := range c.x + 1 {
				tail += float64(combin.Binomial(c.n, i)) * math.Pow(p, float64(i)) * math.Pow(1-p, float64(c.n-i))
			}
		}
		if math.Abs(tail/(FalseRejection/2)-1) > 1e-4 {
			t.Errorf("%d of %d: at the bound %g so few have probability %g", c.x, c.n, p, tail)
		}
	}
	if upper(5, 5) != 1 {
		t.Error("all of all bound nothing")
	}
}

// Uninformative scores give no bound, whatever their sign.
func TestJudgeOfNothing(t *testing.T) {
	pure, gauss := claim(t, dp.Laplace, dp.Budget{Epsilon: 0.01}), claim(t, dp.Gaussian, dp.Budget{Epsilon: 0.01, Delta: 1e-6})
	rng := rand.New(rand.NewPCG(3, 4))
	var same Trials
	for range 2000 {
		same.With = append(same.With, rng.NormFloat64())
		same.Without = append(same.Without, rng.NormFloat64())
	}
	constant := Trials{With: make([]float64, 100), Without: make([]float64, 100)}
	for _, g := range []dp.Guarantee{pure, gauss} {
		for _, trials := range []Trials{same, constant} {
			if f, err := Judge(g, trials); err != nil || f.Found != 0 || !f.Passed {
				t.Errorf("%v: %+v (%v)", g, f, err)
			}
		}
	}
	if _, err := Judge(pure, Trials{With: []float64{1, 2}}); err == nil {
		t.Error("no trials without the canary, and a finding")
	}
	if _, err := Judge(claim(t, dp.None, dp.Budget{}), constant); err == nil {
		t.Error("mechanism none was judged")
	}
	// In reverse: the bound of pure ε holds in both directions.
	g := claim(t, dp.Laplace, dp.Budget{Epsilon: 1})
	flipped := trials(g, 20_000, 0.5, rng)
	flipped.With, flipped.Without = flipped.Without, flipped.With
	for i := range flipped.With {
		flipped.With[i], flipped.Without[i] = -flipped.With[i], -flipped.Without[i]
	}
	if f, err := Judge(g, flipped); err != nil || f.Passed {
		t.Errorf("mirrored scores pass: %+v (%v)", f, err)
	}
}

func TestScores(t *testing.T) {
	if got := GaussianScore([]int64{3, -2}, []int64{2, 5}); got != -4 {
		t.Errorf("%v", got)
	}
	if got := LaplaceScore([]int64{3, -2, 0}, []int64{2, 5, 0}); got != 2-5 {
		t.Errorf("%v", got)
	}
}

// Halved halves only the noise. FlipsConclude is true exactly if the trials fail answers that are
// flipped as for twice the ε.
func TestTrialsConclude(t *testing.T) {
	for _, with := range []bool{false, true} {
		noise, delta := []int64{40, -6, 9}, []int64{10, 0, 1}
		want := []int64{20, -3, 4}
		if with {
			want = []int64{25, -3, 5} // (40-10)/2 + 10
		}
		if got := Halved(noise, delta, with); !slices.Equal(got, want) {
			t.Errorf("canary in: %v: %v, want %v", with, got, want)
		}
	}
	for _, test := range []struct {
		epsilon   dp.Epsilon
		few, many int
	}{{0.5, 100, 8000}, {2, 60, 2000}, {6, 4000, 200_000}} {
		rng := rand.New(rand.NewPCG(3, 5))
		g := claim(t, dp.RandomisedResponse, dp.Budget{Epsilon: test.epsilon})
		for _, n := range []int{test.few, test.many} {
			f, err := Judge(g, trials(g, n, 0.5, rng))
			if err != nil {
				t.Fatal(err)
			}
			if got := FlipsConclude(test.epsilon, n); got != (n == test.many) || got == f.Passed {
				t.Errorf("ε = %v, %d trials: enough %v, and flips for twice that pass %v", test.epsilon, n, got, f.Passed)
			}
		}
	}
}
