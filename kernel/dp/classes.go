package dp

import (
	"errors"
	"fmt"
	"math"
)

// Classes is k-ary randomised response (Warner 1965 for two classes; Kairouz, Oh and Viswanath
// 2016) on one attribute of a record, its class: 0 to count-1. Each other class replaces the true
// one with probability p, and the true one stays with probability 1-(count-1)p, independently of
// all else. A change of the class therefore changes the probability of any outcome by a factor of
// at most (1-(count-1)p)/p.
//
// p is a multiple of 2^-32, rounded up, and drawn exactly: 32 random bits are compared with
// integers. Classes is immutable; RandomiseClasses makes it.
type Classes struct {
	count int
	other int64 // p·2^32
}

const (
	classesOne = 1 << 32
	maxClasses = 1 << 16
)

// RandomiseClasses returns the randomised response that keeps the guarantee for count classes, 2 to
// 2^16: p = 1/(e^ε+count-1) with ε = g.PureEquivalent(). It returns an error if rounding would
// leave no information about the class.
func RandomiseClasses(g Guarantee, count int) (Classes, error) {
	if count < 2 || count > maxClasses {
		return Classes{}, fmt.Errorf("randomising one of %d classes: want 2 to %d", count, maxClasses)
	}
	epsilon, err := g.PureEquivalent()
	if err != nil {
		return Classes{}, fmt.Errorf("randomising one of %d classes: %w", count, err)
	}
	// The margin covers the error of exp, so that p rounded up is never below the true p.
	const margin = 1 + 1e-12
	other := max(1, int64(math.Ceil(classesOne*margin/(math.Exp(float64(epsilon))+float64(count-1)))))
	if other*int64(count) >= classesOne {
		return Classes{}, fmt.Errorf("randomising one of %d classes with %v would make all classes equally likely and reveal nothing: raise epsilon", count, g)
	}
	return Classes{count: count, other: other}, nil
}

// PureEquivalent returns the largest ε such that every ε-private release (δ = 0) keeps the
// guarantee, also in composition. For laplace and randomised-response that is their ε. For gaussian
// it is the ε with 1/(1+e^ε) = Φ(-μ/2), rounded down:
//
// Any test between neighbouring data sets has error rates (α, β) with β ≥ f(α) under pure ε, where
// f joins (0, 1), (1/(1+e^ε), 1/(1+e^ε)) and (1, 0) by lines. The trade-off of μ-Gaussian privacy,
// G(α) = Φ(Φ⁻¹(1-α) - μ), is convex and goes through the same three points, so it is nowhere above
// f. An ε-private release is therefore μ-Gaussian private, which composes (Dong, Roth and Su 2022,
// corollary 2).
//
// Mechanism none guarantees nothing and is an error.
func (g Guarantee) PureEquivalent() (Epsilon, error) {
	switch g.mechanism {
	case Laplace, RandomisedResponse:
		return g.budget.Epsilon, nil
	case Gaussian:
		x := float64(g.mu) / (2 * math.Sqrt2)
		q := math.Erfc(x) / 2 // Φ(-μ/2); 1-2q is erf(x)
		return Epsilon(math.Log1p(math.Erf(x)/q) * (1 - 1e-9)), nil
	}
	return 0, errors.New("mechanism none gives no guarantee")
}

func (c Classes) Zero() bool { return c.count == 0 }

func (c Classes) Other() float64 { return float64(c.other) / classesOne }

// Kept returns the probability that the true class stays.
func (c Classes) Kept() float64 { return float64(c.kept()) / classesOne }

func (c Classes) kept() int64 { return classesOne - int64(c.count-1)*c.other }

// Epsilon returns the ε that p gives. It is at most the ε that was asked for.
func (c Classes) Epsilon() Epsilon {
	return Epsilon(math.Log(float64(c.kept()) / float64(c.other)))
}

// String describes the randomisation.
func (c Classes) String() string {
	return fmt.Sprintf("each of %d classes stays with probability %.4g, and becomes each other class with probability %.4g", c.count, c.Kept(), c.Other())
}

// Randomise returns the randomised class.
func (c Classes) Randomise(class int64, g *Generator) (int64, error) {
	switch {
	case c.Zero():
		return 0, errors.New("randomising a class: no probability was calibrated")
	case class < 0 || class >= int64(c.count):
		return 0, fmt.Errorf("randomising a class: class %d is not in 0 to %d", class, c.count-1)
	}
	return c.outcome(class, int64(g.Uint64()>>32)), nil
}

// outcome maps 32 random bits u to the randomised class. If u is below P times the number of other
// classes, it is one of those.
func (c Classes) outcome(class, u int64) int64 {
	if u >= classesOne-c.kept() {
		return class
	}
	other := u / c.other
	if other >= class {
		other++
	}
	return other
}
