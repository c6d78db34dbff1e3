package dp

import "math"

// Guess returns an upper bound on the probability that an adversary who knows everything else tells
// correctly which of two neighbouring data sets a release was made of, if both were equally likely
// before: 0.5 is chance. The bound is (e^ε + δ) / (1 + e^ε), and no release under the budget allows
// more (Kairouz, Oh, Viswanath 2015, Theorem 2.1).
func (b Budget) Guess() float64 {
	odds := math.Exp(-float64(b.Epsilon))
	return min(1, (1+float64(b.Delta)*odds)/(1+odds))
}

// Strength is a word for the size of an ε.
type Strength string

// The scale: Strong goes up to StrongAt and Usual up to UsualAt; see docs/privacy.md.
const (
	Strong       Strength = "strong"
	Usual        Strength = "usual"
	Weak         Strength = "weak"
	NoProtection Strength = "none"

	StrongAt Epsilon = 1
	UsualAt  Epsilon = 4
)

// Strength returns the strength of the budget. An infinite or undefined ε gives NoProtection.
func (b Budget) Strength() Strength {
	switch e := b.Epsilon; {
	case e <= StrongAt:
		return Strong
	case e <= UsualAt:
		return Usual
	case e <= Epsilon(math.MaxFloat64):
		return Weak
	}
	return NoProtection
}
