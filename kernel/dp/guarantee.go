package dp

import (
	"errors"
	"fmt"
	"math"
)

// Budget is an (ε, δ) privacy budget.
type Budget struct {
	Epsilon Epsilon // required, above 0
	Delta   Delta   // 0 for pure ε
}

// String shows the budget as "ε = 1, δ = 1e-06".
func (b Budget) String() string {
	if b.Delta == 0 {
		return "ε = " + AtMost(float64(b.Epsilon), 4)
	}
	return "ε = " + AtMost(float64(b.Epsilon), 4) + ", δ = " + AtMost(float64(b.Delta), 4)
}

// AtMost formats an upper bound x ≥ 0 with so many significant digits, rounded up, so that the text
// never understates x. A relative excess of 1e-9 is treated as floating-point error.
func AtMost(x float64, digits int) string { return rounded(x, digits, 1) }

// AtLeast is AtMost for a lower bound: it rounds down.
func AtLeast(x float64, digits int) string { return rounded(x, digits, -1) }

func rounded(x float64, digits int, to float64) string {
	text := fmt.Sprintf("%.*g", digits, x)
	var shown float64
	if _, err := fmt.Sscan(text, &shown); err != nil || math.IsInf(x, 0) || math.IsNaN(x) || !(to*(x-shown) > 1e-9*x) {
		return text
	}
	last := math.Pow10(int(math.Floor(math.Log10(x))) + 1 - digits) // one unit of the last digit
	return fmt.Sprintf("%.*g", digits, shown+to*last)
}

// Guarantee is the privacy guarantee of a release under one mechanism. It is immutable; Promise
// makes it.
type Guarantee struct {
	mechanism Mechanism
	budget    Budget
	mu        Mu // Gaussian: the guarantee itself; budget is one point of it
	replaced  bool
}

// Promise returns the guarantee that spends a whole budget. Gaussian needs ε from 1e-6 to 1000 and
// δ from 1e-30 to below 1; laplace and randomised-response need the same ε and δ = 0; none needs an
// empty budget.
func Promise(mechanism Mechanism, b Budget) (Guarantee, error) {
	g := Guarantee{mechanism: mechanism, budget: b}
	switch mechanism {
	case None:
		if b != (Budget{}) {
			return Guarantee{}, fmt.Errorf("mechanism none gives no guarantee: remove epsilon and delta (%v)", b)
		}
	case Laplace, RandomisedResponse:
		if !(b.Epsilon >= minEpsilon && b.Epsilon <= maxEpsilon) {
			return Guarantee{}, fmt.Errorf("epsilon %g of a %s mechanism: want %g to %g", float64(b.Epsilon), mechanism, float64(minEpsilon), float64(maxEpsilon))
		}
		if b.Delta != 0 {
			return Guarantee{}, fmt.Errorf("the %s mechanism takes no delta: remove delta %g", mechanism, float64(b.Delta))
		}
	case Gaussian:
		mu, err := MuOf(b)
		if err != nil {
			return Guarantee{}, err
		}
		g.mu = mu
	default:
		return Guarantee{}, fmt.Errorf("unknown mechanism %.40q: want gaussian, laplace, randomised-response or none", string(mechanism))
	}
	return g, nil
}

// Share returns the part of the guarantee that one of several releases takes: ε·share for the pure
// mechanisms, μ·√share for gaussian, whose ε is then stated at the same δ. Releases whose shares
// add up to 1 compose to at most the whole (up to the rounding of μ, see MuOf, and of adding ε in
// floating point). The share is above 0 and at most 1.
func (g Guarantee) Share(share float64) (Guarantee, error) {
	if !(share > 0 && share <= 1) {
		return Guarantee{}, fmt.Errorf("share %g of a guarantee: want above 0 and at most 1", share)
	}
	if share == 1 {
		return g, nil
	}
	switch g.mechanism {
	case Laplace, RandomisedResponse:
		g.budget.Epsilon *= Epsilon(share)
	case Gaussian:
		g.mu = onGrid(g.mu * Mu(math.Sqrt(share)))
		g.budget.Epsilon = EpsilonOf(g.mu, g.budget.Delta)
	}
	return g, nil
}

// Replacing returns the guarantee for the wider change of unit record, in which another record's
// contribution may replace one record's, not only zeros. This changes only the wording; the caller
// must double the Sensitivity (Sensitivity.Replacing).
func (g Guarantee) Replacing() Guarantee {
	g.replaced = true
	return g
}

func (g Guarantee) Mechanism() Mechanism { return g.mechanism }

// Epsilon returns ε; 0 for mechanism none, which promises nothing.
func (g Guarantee) Epsilon() Epsilon { return g.budget.Epsilon }

// Delta returns the δ at which Epsilon holds; 0 unless the mechanism is gaussian.
func (g Guarantee) Delta() Delta { return g.budget.Delta }

// Mu returns μ; 0 unless the mechanism is gaussian.
func (g Guarantee) Mu() Mu { return g.mu }

// String summarises the guarantee.
func (g Guarantee) String() string {
	if g.mechanism == None {
		return "no privacy guarantee"
	}
	return g.budget.String()
}

// Statement states the guarantee in a sentence, for the people who decide on it.
func (g Guarantee) Statement(unit Unit) string {
	if g.mechanism == None {
		return "No noise is added: the release carries no privacy guarantee."
	}
	change := "one value of one record changes within its bounds"
	switch {
	case unit == Record && g.replaced:
		change = "one record's whole contribution is replaced by another's"
	case unit == Record:
		change = "one record's whole contribution is replaced by zeros"
	}
	s := fmt.Sprintf("When %s, no outcome becomes more than %s times as likely", change, factor(g.budget.Epsilon))
	if g.budget.Delta > 0 {
		s += fmt.Sprintf(", except for outcomes of probability %s together", AtMost(float64(g.budget.Delta), 2))
	}
	return fmt.Sprintf("%s (%v).", s, g)
}

func factor(e Epsilon) string {
	f := math.Exp(float64(e))
	if f >= 1000 && f < 1e6 { // where %g would switch to an exponent
		return fmt.Sprintf("%.0f", 10*math.Ceil(f/10))
	}
	return AtMost(f, 3)
}

// Exposure describes how much of one person's data a study's releases use.
type Exposure struct {
	Unit       Unit // required: the unit of the guarantee
	Attributes int  // unit attribute: how many values of one person the study uses, over all parties; at least 1
	Parties    int  // unit record: how many parties' releases hold one person's records; at least 1
}

// PerPerson returns the loss of one person over all releases together, where each party gives
// guarantee g for all its releases of the study. Under unit record it is the composition of the
// parties' releases (μ·√parties, ε·parties). Under unit attribute all the person's values change at
// once, which is group privacy (μ·attributes, ε·attributes; Dong, Roth and Su 2022, theorem 2.14,
// for μ).
func (g Guarantee) PerPerson(e Exposure) (Loss, error) {
	switch {
	case e.Unit == Attribute && e.Attributes >= 1:
		return g.Loss().Times(e.Attributes), nil
	case e.Unit == Record && e.Parties >= 1:
		return g.Loss().Repeated(e.Parties), nil
	case e.Unit != Attribute && e.Unit != Record:
		return Loss{}, fmt.Errorf("unknown unit %.40q: want attribute or record", string(e.Unit))
	}
	return Loss{}, errors.New("privacy per person: a study has at least one party and one attribute")
}
