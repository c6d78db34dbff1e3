package estimate

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Term is one column of a Gram with the weight at which it enters a combination.
type Term struct {
	Column int
	Weight float64
}

// Combination is a linear combination of sketched columns, so a column itself.
// A value column stored as (x − centre)/(3 spread) next to a column of ones of
// weight w is x in original units as {value, 3 spread}, {ones, centre/w}.
type Combination []Term

// Column is column i as it was sketched.
func Column(i int) Combination { return Combination{{Column: i, Weight: 1}} }

// minus is c − t·d.
func (c Combination) minus(t float64, d Combination) Combination {
	out := append(Combination(nil), c...)
	for _, term := range d {
		out = append(out, Term{Column: term.Column, Weight: -t * term.Weight})
	}
	return out
}

// scaled is t·c.
func (c Combination) scaled(t float64) Combination {
	return Combination{}.minus(-t, c)
}

// product is the debiased inner product of two combinations.
func (g *Gram) product(x, y Combination) float64 {
	return bilinear(g.debiased, x, y)
}

func bilinear(m mat.Symmetric, x, y Combination) float64 {
	var sum float64
	for _, a := range x {
		for _, b := range y {
			sum += float64(float64(a.Weight*b.Weight) * m.At(a.Column, b.Column))
		}
	}
	return sum
}

// form is a quadratic form in the sketched columns: the sum over its parts of
// weight·⟨x, y⟩. As the gradient of an estimate it is that estimate's error.
type form []part

type part struct {
	weight float64
	x, y   Combination
}

// times is t·f.
func (f form) times(t float64) form {
	out := make(form, len(f))
	for i, p := range f {
		out[i] = part{t * p.weight, p.x, p.y}
	}
	return out
}

// variance is Var(f) under the general rule.
func (g *Gram) variance(f form) float64 { return g.covariance(f, f) }

// covariance is Cov(f, h) = 2 tr(W H V H)/k + k Σ W_ii V_ii κ_i for forms with
// matrices W and V.
func (g *Gram) covariance(f, h form) float64 {
	index := make(map[int]int) // column of the Gram to row of the small matrices
	var columns []int
	for _, p := range append(append(form(nil), f...), h...) {
		for _, t := range append(append(Combination(nil), p.x...), p.y...) {
			if _, ok := index[t.Column]; !ok {
				index[t.Column] = len(columns)
				columns = append(columns, t.Column)
			}
		}
	}
	n := len(columns)
	if n == 0 {
		return 0
	}
	raw := mat.NewSymDense(n, nil)
	for i, a := range columns {
		for j := i; j < n; j++ {
			raw.SetSym(i, j, g.raw.At(a, columns[j]))
		}
	}
	w, v := f.matrix(index), h.matrix(index)
	k := float64(g.k)
	var cumulants float64
	for i, column := range columns {
		cumulants += w.At(i, i) * v.At(i, i) * g.noise[column].FourthCumulant
	}
	return 2*trace(w, v, raw)/k + k*cumulants + g.before(columns, w, v, raw)
}

// before is what noise adds that was in the values before the projection: see the
// package comment.
func (g *Gram) before(columns []int, w, v, raw *mat.SymDense) float64 {
	sources := math.Inf(1)
	for _, column := range columns {
		if n := g.noise[column].Sources; n > 0 {
			sources = min(sources, n)
		}
	}
	if math.IsInf(sources, 1) {
		return 0
	}
	bare := mat.NewSymDense(len(columns), nil)
	bare.CopySym(raw)
	for i, column := range columns {
		bare.SetSym(i, i, g.debiased.At(column, column))
	}
	return 2 * (trace(w, v, raw) - trace(w, v, bare)) / sources
}

// trace is tr(WHVH).
func trace(w, v, h *mat.SymDense) float64 {
	var wh, vh mat.Dense
	wh.Mul(w, h)
	vh.Mul(v, h)
	n, _ := h.Dims()
	var sum float64
	for i := range n {
		for j := range n {
			sum += wh.At(i, j) * vh.At(j, i)
		}
	}
	return sum
}

// matrix is the symmetric matrix of the form over the indexed columns.
func (f form) matrix(index map[int]int) *mat.SymDense {
	w := mat.NewSymDense(len(index), nil)
	for _, p := range f {
		for _, a := range p.x {
			for _, b := range p.y {
				i, j := index[a.Column], index[b.Column]
				half := p.weight * a.Weight * b.Weight / 2
				if i == j {
					half *= 2
				}
				w.SetSym(i, j, w.At(i, j)+half)
			}
		}
	}
	return w
}
