package dp

import "math"

// Loss is the privacy loss of releases of the same data together: a Gaussian part, a pure part, or
// unbounded. The zero Loss means no release.
type Loss struct {
	Mu        Mu      // of all Gaussian releases: the root of the sum of their μ²
	Pure      Epsilon // of all pure releases: the sum of their ε
	PureRho   Rho     // of all pure releases: the sum of their ε²/2
	Unbounded bool    // something was released without noise
}

// PureLoss returns the loss of one ε-private release (δ = 0).
func PureLoss(epsilon Epsilon) Loss {
	return Loss{Pure: epsilon, PureRho: Rho(epsilon * epsilon / 2)}
}

// Loss returns the loss of one release under the guarantee.
func (g Guarantee) Loss() Loss {
	switch g.mechanism {
	case Laplace, RandomisedResponse:
		return PureLoss(g.budget.Epsilon)
	case Gaussian:
		return Loss{Mu: g.mu}
	}
	return Loss{Unbounded: true}
}

// Plus composes two losses about the same data: exactly for Gaussian releases (√(μ₁²+μ₂²)), and by
// adding ε and ρ for pure ones. It also holds for releases chosen after seeing earlier ones.
func (l Loss) Plus(m Loss) Loss {
	return Loss{
		Mu:        Mu(math.Hypot(float64(l.Mu), float64(m.Mu))),
		Pure:      l.Pure + m.Pure,
		PureRho:   l.PureRho + m.PureRho,
		Unbounded: l.Unbounded || m.Unbounded,
	}
}

// Times returns the loss when n changes happen at once (group privacy): n·μ, n·ε and n²·ρ.
func (l Loss) Times(n int) Loss {
	l.Mu *= Mu(n)
	l.Pure *= Epsilon(n)
	l.PureRho *= Rho(n) * Rho(n)
	return l
}

// Repeated returns the loss of n releases of loss l each: √n·μ, n·ε and n·ρ.
func (l Loss) Repeated(n int) Loss {
	l.Mu *= Mu(math.Sqrt(float64(n)))
	l.Pure *= Epsilon(n)
	l.PureRho *= Rho(n)
	return l
}

// Rho returns the loss as ρ of concentrated privacy: μ²/2 for the Gaussian part and ε²/2 for each
// pure release (Bun and Steinke 2016, propositions 1.6 and 1.4). It is infinite if something was
// released without noise.
func (l Loss) Rho() Rho {
	if l.Unbounded {
		return Rho(math.Inf(1))
	}
	return Rho(l.Mu*l.Mu/2) + l.PureRho
}

// Epsilon returns the loss as an ε at the given δ, by the tighter of two accounts: the exact
// Gaussian part plus the pure part, or everything by ρ, which is tighter for many pure releases. It
// is infinite if something was released without noise, or if there is a Gaussian part and δ is 0.
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

// Delta returns the loss as a δ at the given ε, by the tighter of the accounts of Epsilon. It is 1
// if something was released without noise.
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
