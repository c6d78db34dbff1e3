package dp

import "math"

// Guess is the probability, at most, with which somebody who knows everything else tells right which of two
// neighbouring data sets a release was made of, if both were as likely before: 0.5 is chance. It is
// (e^ε + δ) / (1 + e^ε), and no release under the budget allows more (Kairouz, Oh, Viswanath 2015, Theorem 2.1).
func (b Budget) Guess() float64 {
	odds := math.Exp(-float64(b.Epsilon))
	return min(1, (1+float64(b.Delta)*odds)/(1+odds))
}

// Strength is a word for an ε, for who has no feeling for such numbers.
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

// Strength is that of the budget; an infinite or undefined ε is none.
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
