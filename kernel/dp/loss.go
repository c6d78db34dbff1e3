package dp

import "math"

// Loss is what releases of the same data give away together: a Gaussian part, a pure
// part, or everything. The zero Loss is that of no release.
type Loss struct {
	Mu        Mu      // of all Gaussian releases
	Pure      Epsilon // of all releases with a pure ε
	Unbounded bool    // something was released without noise
}

// Loss returns what one release under the guarantee gives away.
func (g Guarantee) Loss() Loss {
	switch g.mechanism {
	case Laplace, RandomisedResponse:
		return Loss{Pure: g.budget.Epsilon}
	case Gaussian:
		return Loss{Mu: g.mu}
	}
	return Loss{Unbounded: true}
}

// Plus composes two losses about the same data: exactly for Gaussian releases
// (√(μ₁²+μ₂²)), by adding ε for pure ones. It holds for releases that were chosen after
// seeing earlier ones, too.
func (l Loss) Plus(m Loss) Loss {
	return Loss{
		Mu:        Mu(math.Hypot(float64(l.Mu), float64(m.Mu))),
		Pure:      l.Pure + m.Pure,
		Unbounded: l.Unbounded || m.Unbounded,
	}
}

// Times returns the loss when n changes happen at once (group privacy): n·μ and n·ε.
func (l Loss) Times(n int) Loss {
	l.Mu *= Mu(n)
	l.Pure *= Epsilon(n)
	return l
}

// Epsilon states the loss as an ε at the given δ: that of the Gaussian part plus the
// pure part. It is infinite when something was released without noise, and when there
// is a Gaussian part and δ is 0.
func (l Loss) Epsilon(delta Delta) Epsilon {
	if l.Unbounded {
		return Epsilon(math.Inf(1))
	}
	return EpsilonOf(l.Mu, delta) + l.Pure
}
