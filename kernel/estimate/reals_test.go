package estimate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// The formulas of products and norms for single records, and for matrices of real numbers. No
// analysis needs them; simulations compare with them.

// fromReals is FromIntegers for simulated sketches of real numbers: the Gram matrix of n columns
// with k coordinates each.
func fromReals(columns [][]float64, noise []Noise) (*Gram, error) {
	n := len(columns)
	if n == 0 {
		return nil, fmt.Errorf("computing the gram matrix: no columns")
	}
	if len(noise) != n {
		return nil, fmt.Errorf("computing the gram matrix: %d columns but %d noises", n, len(noise))
	}
	raw, k := mat.NewSymDense(n, nil), len(columns[0])
	if k == 0 {
		return nil, fmt.Errorf("computing the gram matrix: columns have no coordinates")
	}
	for i, column := range columns {
		if len(column) != k {
			return nil, fmt.Errorf("computing the gram matrix: column %d has %d coordinates, column 0 has %d", i, len(column), k)
		}
		for j := range i + 1 {
			raw.SetSym(j, i, dot(column, columns[j]))
		}
	}
	return assemble(k, raw, noise)
}

// SquaredNorm estimates |x|² as |s(x)|² − kv, with the intervals of
// [Records.SquaredDistance].
func (r Records) SquaredNorm(x []float64, level Level) (Estimate, error) {
	if err := r.check(x); err != nil {
		return Estimate{}, err
	}
	return quadratic{raw: dot(x, x), k: r.K, noise: r.Noise, projection: !r.Identity}.estimate(level), nil
}

// InnerProduct estimates ⟨x, y⟩ of two records as ⟨s(x), s(y)⟩, with the score
// interval of [Gram.InnerProduct] (C3). For the identity it is ± z√Var with
// Var = v(|x|² + |y|²) + kv², the noise alone.
func (r Records) InnerProduct(x, y []float64, level Level) (Estimate, error) {
	if err := r.check(x, y); err != nil {
		return Estimate{}, err
	}
	if why := level.refuse(); why != "" {
		return undefined(why), nil
	}
	a, b, c := dot(x, x), dot(y, y), dot(x, y)
	k, v := float64(r.K), r.Noise.Variance
	// a and b estimate |x|² + kv; the variance cannot be below kv².
	floor := float64(float64(k*v) * v)
	noise := math.Max(float64(v*(a+b))-floor, floor)
	if !r.Identity {
		p := inner{raw: c, k: r.K, norms: float64(a * b)}
		if n := r.Noise.Sources; n > 0 { // that noise, spread over k coordinates by the projection
			p.cumulants = float64(k*noise) / n
		}
		return p.estimate(level), nil
	}
	half := float64(level.z() * math.Sqrt(noise))
	return newEstimate(c, c-half, c+half, math.Inf(-1), math.Inf(1)).withVariance(noise), nil
}
