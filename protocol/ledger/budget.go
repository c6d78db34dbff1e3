package ledger

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Account names one sum over a ledger.
type Account struct {
	Dataset string   // required
	Unit    dp.Unit  // required
	Delta   dp.Delta // at which ε is stated; at 0, ε is pure, and infinite after a gaussian release
}

// Spent is the total privacy loss of a dataset's releases.
type Spent struct {
	Epsilon   dp.Epsilon // infinite when Unbounded
	Delta     dp.Delta   // at which Epsilon holds
	Unbounded bool       // something was released without noise
	Releases  int        // releases of the dataset, under either unit

	loss dp.Loss
}

// DeltaAt returns the δ of the same total at an ε.
func (s Spent) DeltaAt(epsilon dp.Epsilon) dp.Delta { return s.loss.Delta(epsilon) }

// String formats the total for people.
func (s Spent) String() string {
	if s.Unbounded {
		return fmt.Sprintf("unbounded (a release without noise) after %d releases", s.Releases)
	}
	return fmt.Sprintf("%v after %d releases", dp.Budget{Epsilon: s.Epsilon, Delta: s.Delta}, s.Releases)
}

// Total adds up the entries of an account, as the package comment explains.
func Total(entries []Entry, a Account) Spent {
	loss, releases := total(entries, a)
	return Spent{Epsilon: loss.Epsilon(a.Delta), Delta: a.Delta, Unbounded: loss.Unbounded, Releases: releases, loss: loss}
}

func total(entries []Entry, a Account) (sum dp.Loss, releases int) {
	for _, e := range entries {
		if e.Dataset == a.Dataset {
			sum = sum.Plus(e.loss(a.Unit))
			releases++
		}
	}
	return sum, releases
}

// loss returns the entry's privacy loss under a unit.
func (e Entry) loss(unit dp.Unit) dp.Loss {
	own := dp.Loss{Unbounded: true}
	switch e.Mechanism {
	case dp.Gaussian:
		own = dp.Loss{Mu: e.Mu}
	case dp.Laplace, dp.RandomisedResponse:
		own = dp.PureLoss(e.Epsilon)
	}
	switch {
	case e.Unit == dp.Attribute && unit == dp.Record:
		return own.Times(e.Attributes)
	case e.Unit == dp.Record && unit == dp.Attribute:
		return own.Times(2)
	}
	return own
}

// Caps are the steward's limits on one dataset, from the site file.
type Caps struct {
	Record    *dp.Budget // nil: counted, without limit
	Attribute *dp.Budget // nil: counted, without limit

	// Kept are debits that releases under way will need, such as those of a second round. They are
	// reserved: no other release may spend them. They have no place in the chain yet. Default:
	// none.
	Kept []Entry
}

// of returns the cap of a unit, or nil.
func (c Caps) of(unit dp.Unit) *dp.Budget {
	if unit == dp.Record {
		return c.Record
	}
	return c.Attribute
}

// Consent is what the steward agreed to beyond the caps.
type Consent struct {
	// AcceptUnbounded allows a release without noise, and capped releases of a dataset
	// that had one before (the caps then limit the noised releases).
	AcceptUnbounded bool
}

// capSlack is the relative excess over a cap that is tolerated as rounding: shares of one ε need
// not add up to it exactly.
const capSlack = 1e-9

// Check returns nil if the steward allows the release next after entries, else an *Exceeded error.
// A release without noise needs consent. Any other must keep the loss of each capped unit within
// its cap, at the cap's δ. It also needs consent if there is a cap and the dataset was released
// without noise before.
func Check(entries []Entry, next Entry, caps Caps, consent Consent) error {
	if next.Mechanism == dp.None {
		if consent.AcceptUnbounded {
			return nil
		}
		return &Exceeded{Dataset: next.Dataset, Unit: next.Unit, Asked: dp.Epsilon(math.Inf(1)), Unbounded: true}
	}
	for _, unit := range []dp.Unit{dp.Record, dp.Attribute} {
		limit := caps.of(unit)
		if limit == nil {
			continue
		}
		before, _ := total(entries, Account{Dataset: next.Dataset, Unit: unit})
		refusal := Exceeded{Dataset: next.Dataset, Unit: unit, Cap: limit, Asked: next.loss(unit).Epsilon(limit.Delta)}
		if before.Unbounded && !consent.AcceptUnbounded {
			refusal.Unbounded = true
			return &refusal
		}
		before.Unbounded = false
		refusal.Spent = before.Epsilon(limit.Delta)
		kept, later := total(caps.Kept, Account{Dataset: next.Dataset, Unit: unit})
		if later > 0 {
			before = before.Plus(kept)
			refusal.Kept = before.Epsilon(limit.Delta) - refusal.Spent
		}
		refusal.After = before.Plus(next.loss(unit)).Epsilon(limit.Delta)
		if !(refusal.After <= limit.Epsilon*(1+capSlack)) {
			return &refusal
		}
	}
	return nil
}

// Exceeded is the error of a release that the steward's caps refuse. Every ε is at the cap's δ.
type Exceeded struct {
	Dataset   string
	Unit      dp.Unit    // the unit whose cap refuses
	Cap       *dp.Budget // nil when the release without noise itself is refused
	Spent     dp.Epsilon // before the release
	Kept      dp.Epsilon // what Caps.Kept adds to Spent
	Asked     dp.Epsilon // the release by itself
	After     dp.Epsilon // the total with the release: gaussian releases compose to less than their sum
	Unbounded bool       // refused because of a release without noise, this one or an earlier one
	Fits      *Fit       // what would fit instead; nil: not computed, or no cap
}

// Left returns what is left of the cap; see Left.
func (e *Exceeded) Left() dp.Epsilon {
	if e.Cap == nil {
		return 0
	}
	return Left(*e.Cap, e.Spent+e.Kept)
}

// Left returns how much of a cap's ε is not spent, at the cap's δ. Gaussian releases compose to
// less than their sum, so a release of more than that may still fit: see Largest. A remainder due
// to rounding counts as 0, though it would let a tiny release pass.
func Left(limit dp.Budget, spent dp.Epsilon) dp.Epsilon {
	if left := limit.Epsilon - spent; left > 1e-8*limit.Epsilon {
		return left
	}
	return 0
}

func (e *Exceeded) Error() string { return e.text() + " (" + e.remedy() + ")" }

// Fail returns the catalogue entry of the refusal.
func (e *Exceeded) Fail() *fail.Error { return fail.BudgetExceeded.Fail().With(e.remedy()) }

func (e *Exceeded) remedy() string {
	switch {
	case e.Cap == nil, e.Unbounded:
		return "to consent, write accept_reconstruction: true under the study in the site file"
	case e.Cap.Delta == 0 && math.IsInf(float64(e.Asked), 1): // no ε would be enough
		return fmt.Sprintf("the cap has no δ, without which this noise promises nothing: give caps.%s a delta in the site file, such as 1e-6", e.Unit)
	}
	return fmt.Sprintf("ask for less, or raise caps.%s in the site file", e.Unit)
}

func (e *Exceeded) text() string {
	switch {
	case e.Cap == nil:
		return fmt.Sprintf("dataset %q: a release without noise needs the steward's explicit consent, and counts as unbounded for good", e.Dataset)
	case e.Unbounded:
		return fmt.Sprintf("dataset %q, unit %s: an earlier release had no noise, so the cap of %v is void; a new release needs the steward's explicit consent", e.Dataset, e.Unit, *e.Cap)
	}
	kept := ""
	if e.Kept > 0 {
		kept = fmt.Sprintf(" (with ε = %s that second rounds under way will need)", dp.AtMost(float64(e.Kept), 4))
	}
	text := fmt.Sprintf("dataset %q, unit %s: the release asks for ε = %s and would bring the total from %s%s to %s, above the cap of %v, of which ε = %s is left",
		e.Dataset, e.Unit, dp.AtMost(float64(e.Asked), 4), dp.AtMost(float64(e.Spent), 4), kept, dp.AtMost(float64(e.After), 4), *e.Cap, dp.AtLeast(float64(e.Left()), 4))
	if e.Fits != nil {
		text += "; " + e.Fits.String()
	}
	return text
}
