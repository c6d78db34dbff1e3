package dp

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestLoss(t *testing.T) {
	a, b := Loss{Mu: 3, Pure: 1, PureRho: 0.5}, Loss{Mu: 4, Pure: 2, PureRho: 2}
	if got := a.Plus(b); got != (Loss{Mu: 5, Pure: 3, PureRho: 2.5}) {
		t.Errorf("composition is %+v", got)
	}
	if got := a.Times(3); got != (Loss{Mu: 9, Pure: 3, PureRho: 4.5}) {
		t.Errorf("three changes at once are %+v", got)
	}
	if got := a.Repeated(4); got != a.Plus(a).Plus(a).Plus(a) {
		t.Errorf("four releases are %+v", got)
	}
	if got := PureLoss(3); got != PureLoss(1).Times(3) || got.Rho() != 4.5 {
		t.Errorf("a pure loss of 3 is %+v", got)
	}
	open := a.Plus(Loss{Unbounded: true})
	if !open.Unbounded || !math.IsInf(float64(open.Epsilon(1e-6)), 1) || open.Delta(100) != 1 || !math.IsInf(float64(open.Rho()), 1) {
		t.Errorf("composition with an open release is %+v", open)
	}
	if got := a.Epsilon(0); !math.IsInf(float64(got), 1) {
		t.Errorf("a Gaussian loss at delta 0 is %g", float64(got))
	}
	if got := PureLoss(2); got.Epsilon(0) != 2 || got.Delta(2) != 0 || got.Delta(1.9) == 0 {
		t.Errorf("a pure loss of 2 is %g at delta 0 and has delta %g at 2", float64(got.Epsilon(0)), float64(got.Delta(2)))
	}
	if got := (Guarantee{}).Loss(); !got.Unbounded {
		t.Errorf("an unknown guarantee loses %+v", got)
	}
	if got := (Loss{}); got.Epsilon(0) != 0 || got.Delta(0) != 0 || got.Epsilon(1e-6) != 0 {
		t.Error("no release loses something")
	}
}

// TestAccounts reproduces the noise that T equal Gaussian releases need within (1, 1e-6), D2 = 1,
// by three accounts: adding (ε/T, δ/T), concentrated privacy with the best conversion, and exact
// composition.
func TestAccounts(t *testing.T) {
	total := Budget{1, 1e-6}
	// The largest ρ within the total.
	lo, hi := Rho(0), Rho(1)
	for range 60 {
		if mid := (lo + hi) / 2; mid.Epsilon(total.Delta) <= total.Epsilon {
			lo = mid
		} else {
			hi = mid
		}
	}
	whole := promise(t, Gaussian, total)
	for _, c := range []struct {
		releases                   int
		basic, concentrated, exact float64
		tolerance                  float64 // half a unit of the published digits
	}{
		{1, 4.22, 4.53, 4.22, .005}, {4, 16.6, 9.06, 8.45, .05}, {16, 66.1, 18.1, 16.9, .05},
		{64, 264, 36.3, 33.8, .5}, {256, 1055, 72.5, 67.6, .5},
	} {
		n := float64(c.releases)
		mu, err := MuOf(Budget{total.Epsilon / Epsilon(n), total.Delta / Delta(n)})
		if err != nil {
			t.Fatal(err)
		}
		part, err := whole.Share(1 / n)
		if err != nil {
			t.Fatal(err)
		}
		for name, pair := range map[string][2]float64{
			"basic":        {1 / float64(mu), c.basic},
			"concentrated": {math.Sqrt(n / (2 * float64(lo))), c.concentrated},
			"exact":        {1 / float64(part.Mu()), c.exact},
		} {
			if math.Abs(pair[0]-pair[1]) > c.tolerance {
				t.Errorf("%d releases, %s: sigma %.4f each, want %.4g", c.releases, name, pair[0], pair[1])
			}
		}
	}
}

// TestConcentratedConversion compares with the definition, minimised over a fine grid of
// α, and checks that both directions agree.
func TestConcentratedConversion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rho := Rho(math.Exp(rapid.Float64Range(math.Log(1e-10), math.Log(1e5)).Draw(t, "ln rho")))
		delta := Delta(math.Exp(rapid.Float64Range(math.Log(1e-30), math.Log(0.1)).Draw(t, "ln delta")))
		epsilon := rho.Epsilon(delta)
		grid := math.Inf(1)
		for x := math.Log(1e-6); x < math.Log(1e9); x += 0.01 {
			alpha := 1 + math.Exp(x)
			e := alpha*float64(rho) + (-math.Log(float64(delta))-math.Log(alpha))/(alpha-1) + math.Log1p(-1/alpha)
			grid = min(grid, e)
		}
		// The grid's best α gives a value within half a percent of the best. The terms that make ε,
		// of the size of √(ρ·ln(1/δ)), are flat there.
		size := float64(rho) + math.Sqrt(-float64(rho)*math.Log(float64(delta)))
		if e := float64(epsilon); e > max(grid, 0)+1e-9*size || e < grid-1e-3*size {
			t.Fatalf("rho %g at delta %g: epsilon %g, by the grid %g", float64(rho), float64(delta), e, grid)
		}
		if epsilon > 0 {
			if back := rho.Delta(epsilon); !(math.Abs(math.Log(float64(back/delta))) <= 1e-4) { // NaN, too
				t.Fatalf("rho %g: delta %g gives epsilon %g, which gives delta %g", float64(rho), float64(delta), float64(epsilon), float64(back))
			}
		}
		if more := (rho * 1.01).Epsilon(delta); more < epsilon {
			t.Fatalf("a larger rho has a smaller epsilon: %g and %g", float64(more), float64(epsilon))
		}
	})
	// Bun and Steinke's own conversion, ρ + 2√(ρ ln(1/δ)), is never better.
	for _, rho := range []Rho{1e-4, 0.01, 1, 100} {
		if e, loose := rho.Epsilon(1e-6), float64(rho)+2*math.Sqrt(float64(rho)*math.Log(1e6)); float64(e) >= loose || float64(e) < loose/2 {
			t.Errorf("rho %g: epsilon %g, loosely %g", float64(rho), float64(e), loose)
		}
	}
	for _, c := range []struct {
		rho   Rho
		delta Delta
		want  float64
	}{{0, 0, 0}, {0, 1e-6, 0}, {1, 0, math.Inf(1)}, {Rho(math.Inf(1)), 1e-6, math.Inf(1)}} {
		if got := c.rho.Epsilon(c.delta); float64(got) != c.want {
			t.Errorf("rho %g at delta %g is epsilon %g, want %g", float64(c.rho), float64(c.delta), float64(got), c.want)
		}
	}
}

// TestTighterAccount checks that few pure releases add their ε, many go by ρ, and a Gaussian part
// alone is always exact.
func TestTighterAccount(t *testing.T) {
	const delta = 1e-6
	little := promise(t, Laplace, Budget{0.01, 0}).Loss()
	few, many := little.Repeated(3), little.Repeated(10_000)
	if got := few.Epsilon(delta); math.Abs(float64(got)-0.03) > 1e-12 {
		t.Errorf("3 releases of 0.01 are epsilon %g", float64(got))
	}
	if got := many.Epsilon(delta); got != many.Rho().Epsilon(delta) || got > 6 || got < 4 {
		t.Errorf("10,000 releases of 0.01 are epsilon %g, want that of rho %g", float64(got), float64(many.Rho()))
	}
	gaussian := promise(t, Gaussian, Budget{1, delta}).Loss()
	if got := gaussian.Epsilon(delta); got > 1 || got < 1-1e-7 {
		t.Errorf("a Gaussian release of 1 is epsilon %.10f", float64(got))
	}
	mixed := gaussian.Plus(many)
	if got := mixed.Epsilon(delta); got != mixed.Rho().Epsilon(delta) || got >= gaussian.Epsilon(delta)+many.Epsilon(delta) {
		t.Errorf("mixed: epsilon %g", float64(got))
	}
}

// TestMixedAccountsHold computes the exact δ of Gaussian releases beside n worst-case pure ones
// (randomised response, which dominates every ε-private mechanism: Kairouz, Oh and Viswanath 2015):
// no account may state less.
func TestMixedAccountsHold(t *testing.T) {
	tight := 0
	rapid.Check(t, func(t *rapid.T) {
		mu := Mu(math.Exp(rapid.Float64Range(math.Log(0.01), math.Log(3)).Draw(t, "ln mu")))
		each := Epsilon(math.Exp(rapid.Float64Range(math.Log(0.01), math.Log(2)).Draw(t, "ln epsilon")))
		n := rapid.IntRange(0, 60).Draw(t, "n")
		loss := Loss{Mu: mu}.Plus(PureLoss(each).Repeated(n))
		epsilon := Epsilon(rapid.Float64Range(0.01, 1.2).Draw(t, "of the sum")) * (loss.Pure + 4*Epsilon(mu))
		exact := exactDelta(mu, each, n, epsilon)
		stated := loss.Delta(epsilon)
		if float64(stated) < exact*(1-1e-9)-1e-14 {
			t.Fatalf("delta at epsilon %g is %g, stated as %g", float64(epsilon), exact, float64(stated))
		}
		if exact > 1e-12 && float64(stated) < 30*exact {
			tight++
		}
		if delta := Delta(exact); delta > 1e-8 { // below this the sum has lost its digits
			if back := loss.Epsilon(delta); back < epsilon*(1-1e-6) {
				t.Fatalf("epsilon at delta %g is %g, stated as %g", exact, float64(epsilon), float64(back))
			}
		}
	})
	if tight == 0 {
		t.Error("no case comes within 30 times of the exact δ: the test shows nothing")
	}
}

// exactDelta sums the hockey-stick divergence over the number of n randomised responses that favour
// the other data set.
func exactDelta(mu Mu, each Epsilon, n int, epsilon Epsilon) (sum float64) {
	p := 1 / (1 + math.Exp(-float64(each)))
	for against := range n + 1 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(against + 1))
		c, _ := math.Lgamma(float64(n - against + 1))
		weight := math.Exp(a - b - c + float64(against)*math.Log1p(-p) + float64(n-against)*math.Log(p))
		rest := float64(epsilon) - float64(each)*float64(n-2*against)
		m := float64(mu)
		phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
		sum += weight * (phi(m/2-rest/m) - math.Exp(rest)*phi(-m/2-rest/m))
	}
	return sum
}
