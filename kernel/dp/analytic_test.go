package dp

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Noise multipliers 1/μ at D2 = 1, published to ten decimals or computed at 60 digits.
var multipliers = []struct {
	budget Budget
	want   float64
}{
	{Budget{0.1, 1e-6}, 36.3046904262},
	{Budget{0.5, 1e-6}, 8.0576184807},
	{Budget{1, 1e-5}, 3.7306316348},
	{Budget{1, 1e-6}, 4.2246788893},
	{Budget{1, 1e-9}, 5.4952661572},
	{Budget{2, 1e-6}, 2.2304762712},
	{Budget{4, 1e-6}, 1.1935185872},
	{Budget{8, 1e-6}, 0.6529353844},
	{Budget{16, 1e-6}, 0.3686116578},
	{Budget{1, 0.1}, 1.0858777652},
	{Budget{1e-6, 1e-12}, 1 / 2.425697605965828e-7},
	{Budget{1e-6, 1e-30}, 1 / 1.026169059661639e-7},
	{Budget{1e-4, 1e-6}, 1 / 5.800091169320337e-5},
	{Budget{0.01, 1e-9}, 1 / 0.002180984661044349},
	{Budget{1, 1e-30}, 1 / 0.09022743942771941},
	{Budget{240, 1e-6}, 1 / 17.70465920963654},
	{Budget{1000, 1e-30}, 1 / 34.72203217823279},
	{Budget{1000, 1e-6}, 1 / 40.24085489753497},
	{Budget{1000, 0.999}, 1 / 47.94128090897514},
	{Budget{1, 0.9}, 1 / 3.728943681988452},
	{Budget{0.1, 0.5}, 1 / 1.425162073158469},
}

func TestMuOfVectors(t *testing.T) {
	for _, c := range multipliers {
		mu, err := MuOf(c.budget)
		if err != nil {
			t.Fatal(err)
		}
		got := 1 / float64(mu)
		if math.Abs(got-c.want) > 1e-6*max(1, c.want) {
			t.Errorf("%v: noise multiplier %.10f, want %.10f", c.budget, got, c.want)
		}
		// The noise must not be less than the true calibration, nor exceed it by more than the
		// stated margin. The published vectors have ten decimals.
		if excess := got/c.want - 1; excess < -6e-11/c.want || excess > 2.5e-9 {
			t.Errorf("%v: noise multiplier is %.3g above the exact one, want 0 to 2.5e-9", c.budget, excess)
		}
	}
}

// TestGoogleVectors compares with σ² of Google's differential-privacy library, whose
// search stops within 1e-3 of σ.
func TestGoogleVectors(t *testing.T) {
	for _, c := range []struct {
		budget   Budget
		variance float64
	}{
		{Budget{Epsilon(math.Log(3)), 1e-10}, 28.7648},
		{Budget{Epsilon(math.Log(3)), 1e-5}, 11.7360},
	} {
		mu, err := MuOf(c.budget)
		if err != nil {
			t.Fatal(err)
		}
		if ratio := 1 / float64(mu*mu) / c.variance; ratio > 1 || ratio < 1-2e-3 {
			t.Errorf("%v: variance is %.6f of Google's, want 0.998 to 1", c.budget, ratio)
		}
	}
}

// TestDeltaOf compares with the curve of Kenthapadi et al. 2012, figure 1.
func TestDeltaOf(t *testing.T) {
	for _, c := range []struct {
		sigma   float64
		epsilon Epsilon
		want    float64
	}{
		{0.5, 0.5, .59919}, {1, 0.5, .23842}, {1.5, 0.5, .10874}, {2, 0.5, .05244},
		{0.5, 1, .50986}, {1, 1, .12694}, {1.5, 1, .03095}, {2, 1, .00683},
		{0.5, 2, .33190}, {1, 2, .02092}, {1.5, 2, .00066},
	} {
		if got := float64(deltaOf(Mu(1/c.sigma), c.epsilon)); math.Abs(got-c.want) > 6e-6 {
			t.Errorf("delta at sigma %g, epsilon %g is %.6f, want %.5f", c.sigma, float64(c.epsilon), got, c.want)
		}
	}
}

func drawBudget(t *rapid.T) Budget {
	return Budget{
		Epsilon: Epsilon(math.Exp(rapid.Float64Range(math.Log(2e-6), math.Log(500)).Draw(t, "ln epsilon"))),
		Delta:   Delta(math.Exp(rapid.Float64Range(math.Log(1e-29), math.Log(0.4)).Draw(t, "ln delta"))),
	}
}

func TestMuOfProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBudget(t)
		mu, err := MuOf(b)
		if err != nil {
			t.Fatal(err)
		}
		if d := deltaOf(mu, b.Epsilon); d > b.Delta {
			t.Fatalf("%v: delta at mu is %g", b, float64(d))
		}
		if d := deltaOf(mu*(1+1e-8), b.Epsilon); d <= b.Delta {
			t.Fatalf("%v: mu %g is not the largest", b, float64(mu))
		}
		if onGrid(mu) != mu {
			t.Fatalf("%v: mu %g is off the grid", b, float64(mu))
		}
		more, err := MuOf(Budget{b.Epsilon * 1.01, b.Delta})
		if err != nil || more <= mu {
			t.Fatalf("%v: mu does not grow with epsilon (%v)", b, err)
		}
		more, err = MuOf(Budget{b.Epsilon, b.Delta * 1.5})
		if err != nil || more <= mu {
			t.Fatalf("%v: mu does not grow with delta (%v)", b, err)
		}
		back := EpsilonOf(mu, b.Delta)
		if back > b.Epsilon || back < b.Epsilon*(1-1e-6) && b.Delta < 1e-4 {
			t.Fatalf("%v: epsilon of its mu is %g", b, float64(back))
		}
	})
}

func TestEpsilonOfEdges(t *testing.T) {
	for _, c := range []struct {
		mu    Mu
		delta Delta
		want  float64
	}{
		{0, 0, 0},
		{0, 1e-6, 0},
		{1, 0, math.Inf(1)},
		{1e-9, 1e-6, 0}, // the total variation distance is below delta
		{Mu(math.Inf(1)), 1e-6, math.Inf(1)},
		{1e200, 1e-6, math.Inf(1)},
	} {
		if got := EpsilonOf(c.mu, c.delta); float64(got) != c.want {
			t.Errorf("epsilon of mu %g at delta %g is %g, want %g", float64(c.mu), float64(c.delta), float64(got), c.want)
		}
	}
	// Thirty times the mu of (8, 1e-6): a person with 30 attributes.
	mu, err := MuOf(Budget{8, 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	if got := EpsilonOf(30*mu, 1e-6); got < 1260 || got > 1280 {
		t.Errorf("epsilon of 30 mu is %g", float64(got))
	}
}

func TestMuOfRefuses(t *testing.T) {
	nan := math.NaN()
	for _, b := range []Budget{
		{0, 1e-6}, {-1, 1e-6}, {1, 0}, {1, 1}, {1, 2}, {1, -1}, {Epsilon(nan), 1e-6}, {1, Delta(nan)},
		{Epsilon(math.Inf(1)), 1e-6}, {1e-7, 1e-6}, {1001, 1e-6}, {1, 1e-31},
	} {
		if mu, err := MuOf(b); err == nil {
			t.Errorf("%v gave mu %g, want an error", b, float64(mu))
		}
	}
}
