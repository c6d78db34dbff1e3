package dp

import (
	"math"
	"testing"
)

// Randomised response has exactly ε, and a guess by its answer is right exactly as often as Guess
// allows.
func TestGuessIsTightForRandomisedResponse(t *testing.T) {
	for _, e := range []float64{0.1, 1, 4, 20} {
		truth := math.Exp(e) / (1 + math.Exp(e))
		if got := (Budget{Epsilon: Epsilon(e)}).Guess(); math.Abs(got-truth) > 1e-12 {
			t.Errorf("ε %v: %v, want %v", e, got, truth)
		}
		// A mechanism that reveals the truth with probability δ, and otherwise answers by
		// randomised response, has (ε, δ) and attains Guess too.
		const delta = 1e-3
		if got := (Budget{Epsilon: Epsilon(e), Delta: delta}).Guess(); math.Abs(got-(delta+(1-delta)*truth)) > 1e-12 {
			t.Errorf("ε %v, δ %v: %v", e, delta, got)
		}
	}
	for _, e := range []float64{800, math.Inf(1)} {
		if got := (Budget{Epsilon: Epsilon(e)}).Guess(); got != 1 {
			t.Errorf("ε %v: %v", e, got)
		}
	}
}

func TestStrength(t *testing.T) {
	for e, want := range map[Epsilon]Strength{0.1: Strong, 1: Strong, 1.01: Usual, 4: Usual, 4.5: Weak, 1e300: Weak, Epsilon(math.Inf(1)): NoProtection, Epsilon(math.NaN()): NoProtection} {
		if got := (Budget{Epsilon: e}).Strength(); got != want {
			t.Errorf("%v: %s, want %s", e, got, want)
		}
	}
}
