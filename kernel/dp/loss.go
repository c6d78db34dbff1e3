package dp

import "math"

// Loss is what releases of the same data give away together: a Gaussian part, a pure
// part, or everything. The zero Loss is that of no release.
type Loss struct {
	Mu        Mu      // of all Gaussian releases: the root of the sum of their μ²
	Pure      Epsilon // of all pure releases: the sum of their ε
	PureRho   Rho     // of all pure releases: the sum of their ε²/2
	Unbounded bool    // something was released without noise
}

// PureLoss is the loss of one release that is ε-private without a δ.
func PureLoss(epsilon Epsilon) Loss {
	return Loss{Pure: epsilon, PureRho: Rho(epsilon * epsilon / 2)}
}

// Loss returns what one release under the guarantee gives away.
func (g Guarantee) Loss() Loss {
	switch g.mechanism {
	case Laplace, RandomisedResponse:
		return PureLoss(g.budget.Epsilon)
	case Gaussian:
		return Loss{Mu: g.mu}
	}
	return Loss{Unbounded: true}
}

// Plus composes two losses about the same data: exactly for Gaussian releases
// (√(μ₁²+μ₂²)), by adding ε, and ρ, for pure ones. It holds for releases that were chosen
// after seeing earlier ones, too.
func (l Loss) Plus(m Loss) Loss {
	return Loss{
		Mu:        Mu(math.Hypot(float64(l.Mu), float64(m.Mu))),
		Pure:      l.Pure + m.Pure,
		PureRho:   l.PureRho + m.PureRho,
		Unbounded: l.Unbounded || m.Unbounded,
	}
}

// Times returns the loss when n changes happen at once (group privacy): n·μ, n·ε and
// n²·ρ.
func (l Loss) Times(n int) Loss {
	l.Mu *= Mu(n)
	l.Pure *= Epsilon(n)
	l.PureRho *= Rho(n) * Rho(n)
	return l
}

// Repeated returns the loss of n releases that give away l each: √n·μ, n·ε and n·ρ.
func (l Loss) Repeated(n int) Loss {
	l.Mu *= Mu(math.Sqrt(float64(n)))
	l.Pure *= Epsilon(n)
	l.PureRho *= Rho(n)
	return l
}

// Rho returns the loss in terms of concentrated privacy, infinite when something was
// released without noise: μ²/2 for the Gaussian part and ε²/2 for each pure release (Bun
// and Steinke 2016, propositions 1.6 and 1.4).
func (l Loss) Rho() Rho {
	if l.Unbounded {
		return Rho(math.Inf(1))
	}
	return Rho(l.Mu*l.Mu/2) + l.PureRho
}

// Epsilon states the loss as an ε at the given δ, by the tighter of two accounts: the
// Gaussian part exactly and the pure part added to it, or all of it by ρ, which is the
// tighter one where many pure releases meet. It is infinite when something was released
// without noise, and when there is a Gaussian part and δ is 0.
func (l Loss) Epsilon(delta Delta) Epsilon {
	if l.Unbounded {
		return Epsilon(math.Inf(1))
	}
	e := EpsilonOf(l.Mu, delta) + l.Pure
	if l.PureRho > 0 && delta > 0 {
		e = min(e, l.Rho().Epsilon(delta))
	}
	return e
}

// Delta states the loss as a δ at the given ε, by the tighter of the accounts of Epsilon.
// It is 1 when something was released without noise.
func (l Loss) Delta(epsilon Epsilon) Delta {
	switch {
	case l.Unbounded:
		return 1
	case l.Mu == 0 && epsilon >= l.Pure:
		return 0
	case l.Mu > 0 && l.PureRho == 0:
		return deltaOf(l.Mu, epsilon)
	}
	d := l.Rho().Delta(epsilon)
	if epsilon >= l.Pure {
		d = min(d, deltaOf(l.Mu, epsilon-l.Pure))
	}
	return d
}
