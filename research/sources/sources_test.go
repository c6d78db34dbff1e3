package sources

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
)

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s is %.6g, want %.6g", what, got, want)
	}
}

// gaussian returns σ of theorem 1 at w2 = 1 and of lemma 2.
func gaussian(t *testing.T, b dp.Budget) (theorem1, lemma2 float64) {
	t.Helper()
	a, err := KenthapadiTheorem1(b, 1)
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := KenthapadiLemma2(Setting{b, 1024, 128})
	if err != nil {
		t.Fatal(err)
	}
	return a.Scale, l.Scale
}

// TestAgainstAnalytic reproduces the ratios of the papers' σ to that of the analytic calibration.
func TestAgainstAnalytic(t *testing.T) {
	for _, c := range []struct {
		budget           dp.Budget
		theorem1, lemma2 float64
	}{
		{dp.Budget{Epsilon: 0.1, Delta: 1e-3}, 2.04, 6.04}, {dp.Budget{Epsilon: 1, Delta: 1e-3}, 1.48, 4.08}, {dp.Budget{Epsilon: 4, Delta: 1e-3}, 1.37, 3.19},
		{dp.Budget{Epsilon: 0.1, Delta: 1e-5}, 1.52, 4.41}, {dp.Budget{Epsilon: 1, Delta: 1e-5}, 1.30, 3.64}, {dp.Budget{Epsilon: 4, Delta: 1e-5}, 1.26, 3.14},
		{dp.Budget{Epsilon: 0.5, Delta: 1e-6}, 1.30, 3.69}, {dp.Budget{Epsilon: 1, Delta: 1e-6}, 1.26, 3.52}, {dp.Budget{Epsilon: 8, Delta: 1e-6}, 1.24, 2.85},
		{dp.Budget{Epsilon: 1, Delta: 1e-10}, 1.16, 3.27},
	} {
		mu, err := dp.MuOf(c.budget)
		if err != nil {
			t.Fatal(err)
		}
		theorem1, lemma2 := gaussian(t, c.budget)
		near(t, "theorem 1 over analytic at "+c.budget.String(), theorem1*float64(mu), c.theorem1, 0.005)
		near(t, "lemma 2 over analytic at "+c.budget.String(), lemma2*float64(mu), c.lemma2, 0.005)
	}
	theorem1, _ := gaussian(t, dp.Budget{Epsilon: 1, Delta: 1e-5})
	near(t, "corrected theorem 1", theorem1, 4.862, 1e-4)
	theorem1, _ = gaussian(t, dp.Budget{Epsilon: 1, Delta: 0.1})
	near(t, "theorem 1 in the setting of figure 1", theorem1, 2.284, 1e-3)
	near(t, "longest row", LongestRow(1000, 128, 1e-6/2), 1.578, 1e-3)
}

func TestLemma2Conditions(t *testing.T) {
	for _, c := range []struct {
		setting Setting
		want    bool
	}{
		{Setting{dp.Budget{Epsilon: 1, Delta: 1e-6}, 1000, 43}, true}, // 2 ln(2e9) = 42.83
		{Setting{dp.Budget{Epsilon: 1, Delta: 1e-6}, 1000, 42}, false},
		{Setting{dp.Budget{Epsilon: 13.8, Delta: 1e-6}, 1000, 64}, true},
		{Setting{dp.Budget{Epsilon: 13.9, Delta: 1e-6}, 1000, 64}, false},
	} {
		if _, holds, err := KenthapadiLemma2(c.setting); err != nil || holds != c.want {
			t.Errorf("%+v: holds is %v (%v)", c.setting, holds, err)
		}
	}
}

// TestDhaliwal reproduces the noise of the paper's table 1 (ε = 4) and its probabilities.
func TestDhaliwal(t *testing.T) {
	for _, c := range []struct {
		d, k                     int
		element, row, confidence float64 // l1 sensitivities, probability of theorem 3
	}{{3, 2, 2.828, 2.355, -0.10}, {10, 3, 3.464, 3.279, -1.23}, {50, 10, 6.325, 7.740, 0.663}, {100, 20, 8.944, 12.147, 0.9955}} {
		s := Setting{dp.Budget{Epsilon: 4}, c.d, c.k}
		element, confidence, err := DhaliwalElement(s)
		if err != nil {
			t.Fatal(err)
		}
		row, err := DhaliwalRow(s, 1)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "element", 4*element.Scale, c.element, 1e-3)
		near(t, "row", 4*row.Scale, c.row, 1e-3)
		near(t, "confidence", confidence, c.confidence, 0.05)
		if honest, err := DhaliwalRow(s, 1e-6); err != nil || honest.Scale <= row.Scale {
			t.Errorf("row at failure 1e-6 is %v (%v)", honest, err)
		}
	}
}

// TestDistanceVariance reproduces the fixed-k comparison at k = 128, r2 = 100, and checks the
// formula for Laplace noise by simulation.
func TestDistanceVariance(t *testing.T) {
	for _, c := range []struct {
		epsilon          dp.Epsilon
		lemma2, dhaliwal float64
	}{{1, 5.02e7, 1.88e9}, {4, 2.07e5, 7.39e6}, {8, 1.51e4, 4.72e5}} {
		s := Setting{dp.Budget{Epsilon: c.epsilon, Delta: 1e-6}, 1024, 128}
		l, _, err := KenthapadiLemma2(s)
		if err != nil {
			t.Fatal(err)
		}
		element, _, err := DhaliwalElement(s)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "lemma 2", DistanceVariance(128, 100, l), c.lemma2, 0.01)
		near(t, "Dhaliwal", DistanceVariance(128, 100, element), c.dhaliwal, 0.01)
	}
	const k, r2, b, trials = 8, 9.0, 1.5, 200_000
	n := Noise{dp.Laplace, b}
	rng := rand.New(rand.NewPCG(1, 2))
	laplace := func() float64 { return b * rng.ExpFloat64() * float64(2*rng.IntN(2)-1) }
	var sum, squares, fourths float64
	for range trials {
		d := -2 * k * n.Variance()
		for range k {
			x := math.Sqrt(r2/k)*rng.NormFloat64() + laplace() - laplace()
			d += x * x
		}
		d -= r2
		sum, squares, fourths = sum+d, squares+d*d, fourths+d*d*d*d
	}
	want := DistanceVariance(k, r2, n)
	variance := squares / trials
	if tolerance := 5 * math.Sqrt((fourths/trials-variance*variance)/trials); math.Abs(variance-want) > tolerance {
		t.Errorf("simulated variance %.1f, formula %.1f, tolerance %.1f", variance, want, tolerance)
	}
	if mean := sum / trials; math.Abs(mean) > 5*math.Sqrt(want/trials) {
		t.Errorf("simulated mean error %.3f", mean)
	}
	if printed := 2*r2*r2/k + 2*k*(7*math.Pow(2*b*b, 2)-2*b*b) + 4*2*b*b*r2; math.Abs(variance/printed-1) < 0.1 {
		t.Error("the simulation cannot tell the printed formula from the corrected one")
	}
}

func TestRefusals(t *testing.T) {
	good := Setting{dp.Budget{Epsilon: 1, Delta: 1e-6}, 10, 10}
	for name, spoil := range map[string]func(*Setting){
		"no epsilon": func(s *Setting) { s.Budget.Epsilon = 0 }, "no columns": func(s *Setting) { s.Columns = 0 }, "no k": func(s *Setting) { s.K = 0 },
		"epsilon NaN": func(s *Setting) { s.Budget.Epsilon = dp.Epsilon(math.NaN()) }, "no delta": func(s *Setting) { s.Budget.Delta = 0 },
	} {
		s := good
		spoil(&s)
		if _, _, err := KenthapadiLemma2(s); err == nil {
			t.Errorf("lemma 2, %s: no error", name)
		}
		if _, _, err := DhaliwalElement(s); (err == nil) != (name == "no delta") {
			t.Errorf("Dhaliwal, %s: %v", name, err)
		}
	}
	if _, err := KenthapadiTheorem1(good.Budget, 0); err == nil {
		t.Error("theorem 1 takes no row")
	}
	if _, err := DhaliwalRow(good, 0); err == nil {
		t.Error("theorem 5 takes no failure probability")
	}
}
