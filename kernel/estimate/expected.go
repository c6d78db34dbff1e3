package estimate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Expected is the expectation of the Gram matrix of sketches with k coordinates, given the n × n
// inner products of the columns themselves: H = products + k·diag(v). Its estimates are the true
// values. Their standard errors and intervals forecast those of real sketches of such columns, by
// the same formulas.
func Expected(products mat.Symmetric, k int, noise []Noise) (*Gram, error) {
	n := products.SymmetricDim()
	switch {
	case n == 0 || len(noise) != n:
		return nil, fmt.Errorf("expecting a gram matrix: %d columns, but the noise of %d", n, len(noise))
	case k < 1:
		return nil, fmt.Errorf("expecting a gram matrix: k = %d: must be at least 1", k)
	}
	g := &Gram{
		k:        k,
		noise:    append([]Noise(nil), noise...),
		raw:      entries{SymDense: mat.NewSymDense(n, nil)},
		debiased: entries{SymDense: mat.NewSymDense(n, nil)},
	}
	g.debiased.CopySym(products)
	g.raw.CopySym(products)
	for i := range n {
		if err := noise[i].check(); err != nil {
			return nil, fmt.Errorf("expecting a gram matrix: column %d: %w", i, err)
		}
		for j := range i + 1 {
			if v := products.At(j, i); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("expecting a gram matrix: the product of columns %d and %d is not finite", j, i)
			}
		}
		g.raw.SetSym(i, i, products.At(i, i)+float64(float64(k)*noise[i].Variance))
	}
	return g, nil
}

// MeanDistance describes a mean of squared distances of records in advance.
type MeanDistance struct {
	Mean   float64 // required: its true value
	Square float64 // |M|² of the mean M of all (x − y)(x − y)ᵀ, at least Mean² over the number of values
	Noise  float64 // variance caused by the noise
}

// ExpectedDistance is the expectation of [Group.WithinDistance] or [Group.BetweenDistance]. Its
// interval is that of real groups, which is wider than their error if the differences have many
// directions (see meanDistance).
func (r Records) ExpectedDistance(d MeanDistance, level Level) (Estimate, error) {
	if err := r.check(); err != nil {
		return Estimate{}, err
	}
	if why := level.refuse(); why != "" {
		return undefined(why), nil
	}
	bias := float64(2 * float64(r.K) * r.Noise.Variance)
	m := meanDistance{raw: d.Mean + bias, bias: bias, noise: d.Noise, records: r}
	if r.K <= largestScatter {
		m.square = d.Square + d.Mean*d.Mean/float64(r.K)
	}
	return m.estimate(level), nil
}
