package dp

import "math"

// Rho is the parameter of zero-concentrated differential privacy (Bun and Steinke 2016).
// The rhos of several releases of the same data add up.
type Rho float64

// The conversion of Canonne, Kamath and Steinke 2020, proposition 12: a ρ-concentrated release is
// (ε, δ)-private for every ε and α > 1 with
//
//	δ = exp((α-1)(αρ-ε))/(α-1) · (1-1/α)^α.
//
// Any α gives a valid bound. The best one is searched for by its logarithm, over which ln δ and ε
// are unimodal.

// Epsilon returns an ε ≥ 0 at which the loss is (ε, δ)-private, the least to 1e-9
// relative. It is infinite for δ = 0 and 0 for ρ = 0.
func (r Rho) Epsilon(delta Delta) Epsilon {
	switch {
	case r == 0:
		return 0
	case !(delta > 0) || math.IsInf(float64(r), 1):
		return Epsilon(math.Inf(1))
	}
	rho, log := float64(r), -math.Log(float64(delta))
	return Epsilon(max(0, least(func(beyond float64) float64 {
		alpha := 1 + beyond
		return alpha*rho + (log+beyond*math.Log(beyond/alpha)-math.Log(alpha))/beyond
	})))
}

// Delta returns a δ ≤ 1 at which the loss is (ε, δ)-private, the least to 1e-9 relative.
func (r Rho) Delta(epsilon Epsilon) Delta {
	switch {
	case r == 0:
		return 0
	case math.IsInf(float64(r), 1):
		return 1
	}
	rho, e := float64(r), float64(epsilon)
	return Delta(min(1, math.Exp(least(func(beyond float64) float64 {
		alpha := 1 + beyond
		return beyond*(alpha*rho-e) + beyond*math.Log(beyond/alpha) - math.Log(alpha)
	}))))
}

// least returns the minimum of a function of α-1 > 0 that is unimodal in its logarithm, by
// golden-section search.
func least(f func(beyond float64) float64) float64 {
	const golden = 0.6180339887498949
	at := func(x float64) float64 { return f(math.Exp(x)) }
	lo, hi := math.Log(1e-9), math.Log(1e12)
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := at(a), at(b)
	for hi-lo > 1e-9 {
		if fa < fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = at(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = at(b)
		}
	}
	return min(fa, fb)
}
