package ledger

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Fit is the largest budget of a study that the caps would still allow.
type Fit struct {
	Mechanism dp.Mechanism
	Budget    dp.Budget // the study's δ, and the largest ε, rounded down to three digits; ε = 0: nothing fits
}

// String says what would fit.
func (f Fit) String() string {
	if f.Budget.Epsilon == 0 {
		return fmt.Sprintf("no %s study fits any more", f.Mechanism)
	}
	return fmt.Sprintf("a %s study of up to %v would fit", f.Mechanism, f.Budget)
}

// Largest returns the budget that would fit after entries. asked are a study's releases, which
// share the guarantee whole. The result is the largest ε, up to that of whole, at the same
// mechanism and δ.
func Largest(entries, asked []Entry, whole dp.Guarantee, caps Caps) Fit {
	fit := Fit{Mechanism: whole.Mechanism(), Budget: dp.Budget{Delta: whole.Delta()}}
	allowed := func(epsilon dp.Epsilon) bool {
		smaller, err := dp.Promise(fit.Mechanism, dp.Budget{Epsilon: epsilon, Delta: fit.Budget.Delta})
		return err == nil && within(entries, asked, ratio(smaller, whole), caps)
	}
	lo, hi := 0.0, float64(whole.Epsilon())
	for range 40 { // to 1e-12 of the whole
		if mid := (lo + hi) / 2; allowed(dp.Epsilon(mid)) {
			lo = mid
		} else {
			hi = mid
		}
	}
	if rounded := dp.Epsilon(threeDigits(lo)); allowed(rounded) {
		fit.Budget.Epsilon = rounded
	}
	return fit
}

// ratio returns the factor by which each release of a study loses less under a smaller guarantee.
func ratio(smaller, whole dp.Guarantee) float64 {
	if whole.Mu() > 0 {
		return float64(smaller.Mu() / whole.Mu())
	}
	return float64(smaller.Epsilon() / whole.Epsilon())
}

// within reports whether releases with scale times the loss of asked keep each capped unit within
// its cap.
func within(entries, asked []Entry, scale float64, caps Caps) bool {
	for _, unit := range []dp.Unit{dp.Record, dp.Attribute} {
		limit := caps.of(unit)
		if limit == nil || len(asked) == 0 {
			continue
		}
		before, _ := total(entries, Account{Dataset: asked[0].Dataset, Unit: unit})
		next, _ := total(asked, Account{Dataset: asked[0].Dataset, Unit: unit})
		kept, _ := total(caps.Kept, Account{Dataset: asked[0].Dataset, Unit: unit})
		before = before.Plus(kept)
		before.Unbounded = false // the caps then limit the noised releases: see Consent
		if Left(*limit, before.Epsilon(limit.Delta)) == 0 {
			return false
		}
		next.Mu *= dp.Mu(scale)
		next.Pure *= dp.Epsilon(scale)
		next.PureRho *= dp.Rho(scale * scale)
		if !(before.Plus(next).Epsilon(limit.Delta) <= limit.Epsilon*(1+capSlack)) {
			return false
		}
	}
	return true
}

// threeDigits rounds a positive number down to three significant digits.
func threeDigits(x float64) float64 {
	if x == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return math.Floor(x/unit*(1+1e-9)) * unit
}
