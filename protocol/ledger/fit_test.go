package ledger

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
)

// TestLargestFits: a study of the ε from Largest passes Check, release by release, and a slightly
// larger one does not.
func TestLargestFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mechanism := rapid.SampledFrom([]dp.Mechanism{dp.Gaussian, dp.Laplace}).Draw(t, "mechanism")
		unit := rapid.SampledFrom([]dp.Unit{dp.Record, dp.Attribute}).Draw(t, "unit")
		shares := rapid.SampledFrom([][]float64{{1}, {0.7, 0.3}, {0.5, 0.25, 0.25}, slices.Repeat([]float64{1. / 60}, 60)}).Draw(t, "shares")
		budget := dp.Budget{Epsilon: dp.Epsilon(rapid.Float64Range(0.1, 10).Draw(t, "epsilon"))}
		if mechanism == dp.Gaussian {
			budget.Delta = 1e-6
		}
		releases := func(b dp.Budget) (dp.Guarantee, []Entry) {
			whole, err := dp.Promise(mechanism, b)
			if err != nil {
				t.Fatal(err)
			}
			var out []Entry
			for i, share := range shares {
				part, err := whole.Share(share)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, entry(9, i, unit, part))
			}
			return whole, out
		}
		var before []Entry
		for i := range rapid.IntRange(0, 3).Draw(t, "earlier") {
			_, earlier := releases(dp.Budget{Epsilon: 0.2, Delta: budget.Delta})
			earlier[0].Study = protocol.StudyID{byte(i)}
			before = append(before, earlier[0])
		}
		caps := Caps{Record: &dp.Budget{Epsilon: dp.Epsilon(rapid.Float64Range(0.05, 5).Draw(t, "record cap")), Delta: 1e-6}}
		if rapid.Bool().Draw(t, "two caps") {
			caps.Attribute = &dp.Budget{Epsilon: dp.Epsilon(rapid.Float64Range(0.05, 5).Draw(t, "attribute cap")), Delta: 1e-6}
		}
		passes := func(epsilon dp.Epsilon) bool {
			_, asked := releases(dp.Budget{Epsilon: epsilon, Delta: budget.Delta})
			entries := before
			for _, next := range asked {
				if Check(entries, next, caps, Consent{}) != nil {
					return false
				}
				entries = append(entries[:len(entries):len(entries)], next)
			}
			return true
		}
		whole, asked := releases(budget)
		fit := Largest(before, asked, whole, caps).Budget.Epsilon
		if fit > 0 && !passes(fit) {
			t.Fatalf("ε = %g does not fit", float64(fit))
		}
		if more := fit*1.02 + 1e-3; more <= budget.Epsilon && passes(more) {
			t.Fatalf("ε = %g fits, said was %g", float64(more), float64(fit))
		}
	})
}

// The ε that fits is rounded down to three digits.
func TestThreeDigits(t *testing.T) {
	for x, want := range map[float64]float64{0: 0, 1: 1, 0.5: 0.5, 1.2399: 1.23, 12.399: 12.3, 999.99: 999, 0.0012399: 0.00123, 123456: 123000, 0.3: 0.3} {
		if got := threeDigits(x); got > x*(1+1e-9) || got < want*(1-1e-9) || got > want*(1+1e-9) {
			t.Errorf("%v is %v, want %v", x, got, want)
		}
	}
}
