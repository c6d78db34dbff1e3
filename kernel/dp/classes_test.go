package dp

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func promised(t testing.TB, m Mechanism, b Budget) Guarantee {
	t.Helper()
	g, err := Promise(m, b)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestClassesKeepTheirEpsilon checks in integers that e^ε times the probability of each other class
// is at least that of the true one, and that moderate ε are used to within a thousandth.
func TestClassesKeepTheirEpsilon(t *testing.T) {
	for _, epsilon := range []Epsilon{1e-3, 0.1, 1, 3, 8, 30, 1000} {
		for _, count := range []int{2, 3, 10, 1000} {
			c, err := RandomiseClasses(promised(t, Laplace, Budget{Epsilon: epsilon}), count)
			if err != nil {
				t.Fatal(err)
			}
			if c.Epsilon() > epsilon {
				t.Errorf("ε = %v, %d classes: drawn with %v", epsilon, count, c.Epsilon())
			}
			if epsilon >= 0.1 && epsilon <= 8 && float64(epsilon-c.Epsilon()) > 1e-3*float64(epsilon) {
				t.Errorf("ε = %v, %d classes: only %v is used", epsilon, count, c.Epsilon())
			}
			if sum := c.Kept() + float64(count-1)*c.Other(); math.Abs(sum-1) > 1e-12 {
				t.Errorf("probabilities add up to %v", sum)
			}
		}
	}
	two, err := RandomiseClasses(promised(t, RandomisedResponse, Budget{Epsilon: 2}), 2)
	if err != nil {
		t.Fatal(err)
	}
	bits, err := RandomiseBits(promised(t, RandomisedResponse, Budget{Epsilon: 2}), 1<<20)
	if err != nil || math.Abs(two.Other()-bits.Probability()) > 1e-6 {
		t.Errorf("two classes flip with %v, a bit with %v: %v", two.Other(), bits.Probability(), err)
	}
}

// TestPureEquivalent checks the lemma by the exact trade-off: pure ε with the found ε is (ε',
// δ(ε'))-private at every ε' of the Gaussian curve, and one percent more is not.
func TestPureEquivalent(t *testing.T) {
	for _, b := range []Budget{{1, 1e-6}, {0.1, 1e-9}, {8, 1e-5}, {50, 1e-6}} {
		g := promised(t, Gaussian, b)
		epsilon, err := g.PureEquivalent()
		if err != nil {
			t.Fatal(err)
		}
		if epsilon >= b.Epsilon {
			t.Errorf("%v: pure %v", b, epsilon)
		}
		// δ of k-ary randomised response at ε' is largest for two classes:
		// (e^ε-e^ε')/(1+e^ε).
		holds := func(epsilon Epsilon) bool {
			for x := 0.0; x < float64(epsilon); x += float64(epsilon) / 500 {
				own := (math.Exp(float64(epsilon)) - math.Exp(x)) / (1 + math.Exp(float64(epsilon)))
				if own > float64(deltaOf(g.Mu(), Epsilon(x)))*(1+1e-7)+1e-15 {
					return false
				}
			}
			return true
		}
		if !holds(epsilon) || holds(1.01*epsilon) {
			t.Errorf("%v: pure %v holds %v, a percent more %v", b, epsilon, holds(epsilon), holds(1.01*epsilon))
		}
		q := 1 / (1 + math.Exp(float64(epsilon)))
		if want := distuv.UnitNormal.CDF(-float64(g.Mu()) / 2); q < want || q > want*(1+1e-6) {
			t.Errorf("%v: q = %v, want %v", b, q, want)
		}
	}
	if _, err := promised(t, None, Budget{}).PureEquivalent(); err == nil {
		t.Error("mechanism none promises something")
	}
}

// TestRandomiseClass checks the probability of each class (chi-square, false rejection below 1e-6
// each). Power: rates a tenth off are detected.
func TestRandomiseClass(t *testing.T) {
	c, err := RandomiseClasses(promised(t, Laplace, Budget{Epsilon: 1}), 4)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(rand.NewChaCha8([32]byte{1}))
	if err != nil {
		t.Fatal(err)
	}
	const n = 200_000
	limit := distuv.ChiSquared{K: 3}.Quantile(1 - 1e-7)
	for class := range int64(4) {
		var seen [4]float64
		for range n {
			out, err := c.Randomise(class, g)
			if err != nil {
				t.Fatal(err)
			}
			seen[out]++
		}
		statistic := func(scale float64) (sum float64) {
			for i, count := range seen {
				p := c.Other() * scale
				if int64(i) == class {
					p = 1 - 3*c.Other()*scale
				}
				sum += (count - n*p) * (count - n*p) / (n * p)
			}
			return sum
		}
		if s := statistic(1); s > limit {
			t.Errorf("class %d: chi-square %v of %v: %v", class, s, limit, seen)
		}
		if s := statistic(1.1); s < limit {
			t.Errorf("power: class %d with rates a tenth higher: chi-square %v", class, s)
		}
	}
}

// TestClassBounds checks that the comparison with 32 random bits is exact at its edges.
func TestClassBounds(t *testing.T) {
	c := Classes{count: 3, other: 5}
	g, err := NewGenerator(rand.NewChaCha8([32]byte{2}))
	if err != nil {
		t.Fatal(err)
	}
	if c.kept() != classesOne-10 {
		t.Errorf("kept %d", c.kept())
	}
	for _, class := range []int64{-1, 3} {
		if _, err := c.Randomise(class, g); err == nil {
			t.Errorf("class %d of 3 is taken", class)
		}
	}
	if _, err := (Classes{}).Randomise(0, g); err == nil {
		t.Error("nothing was calibrated")
	}
	for u, want := range map[int64][3]int64{0: {1, 0, 0}, 4: {1, 0, 0}, 5: {2, 2, 1}, 9: {2, 2, 1}, 10: {0, 1, 2}, classesOne - 1: {0, 1, 2}} {
		for class := range int64(3) {
			if got := c.outcome(class, u); got != want[class] {
				t.Errorf("class %d at %d becomes %d, want %d", class, u, got, want[class])
			}
		}
	}
	for _, bad := range []int{-1, 0, 1, maxClasses + 1} {
		if _, err := RandomiseClasses(promised(t, Laplace, Budget{Epsilon: 1}), bad); err == nil {
			t.Errorf("%d classes are taken", bad)
		}
	}
	if _, err := RandomiseClasses(promised(t, None, Budget{}), 2); err == nil {
		t.Error("mechanism none randomises")
	}
}
