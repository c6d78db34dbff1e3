package estimate

import (
	"math"
	"slices"

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

// merged is c with each column once, in the order of their first occurrence.
func (c Combination) merged() Combination {
	at := make(map[int]int)
	var out Combination
	for _, t := range c {
		i, ok := at[t.Column]
		if !ok {
			i = len(out)
			at[t.Column] = i
			out = append(out, Term{Column: t.Column})
		}
		out[i].Weight += t.Weight
	}
	return out
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
	index, columns := append(append(form(nil), f...), h...).columns()
	raw := g.rawOf(columns)
	w, v := f.matrix(index), h.matrix(index)
	k := float64(g.k)
	var cumulants float64
	for i, column := range columns {
		cumulants += float64(float64(w[i][i]*v[i][i]) * g.noise[column].FourthCumulant)
	}
	return float64(2*trace(w, v, raw)/k) + float64(k*cumulants) + g.before(columns, w, v, raw)
}

// columns lists the columns of the Gram that a form is in, and the row of each in the
// small matrices.
func (f form) columns() (index map[int]int, columns []int) {
	index = make(map[int]int)
	for _, p := range f {
		for _, t := range append(append(Combination(nil), p.x...), p.y...) {
			if _, ok := index[t.Column]; !ok {
				index[t.Column] = len(columns)
				columns = append(columns, t.Column)
			}
		}
	}
	return index, columns
}

// rawOf is the raw Gram matrix of some of the columns.
func (g *Gram) rawOf(columns []int) [][]float64 {
	raw := make([][]float64, len(columns))
	for i, a := range columns {
		for _, b := range columns {
			raw[i] = append(raw[i], g.raw.At(a, b))
		}
	}
	return raw
}

// before is what noise adds that was in the values before the projection: see the
// package comment.
func (g *Gram) before(columns []int, w, v, raw [][]float64) float64 {
	sources := math.Inf(1)
	for _, column := range columns {
		if n := g.noise[column].Sources; n > 0 {
			sources = min(sources, n)
		}
	}
	if math.IsInf(sources, 1) {
		return 0
	}
	bare := make([][]float64, len(columns))
	for i, column := range columns {
		bare[i] = slices.Clone(raw[i])
		bare[i][i] = g.debiased.At(column, column)
	}
	return 2 * (trace(w, v, raw) - trace(w, v, bare)) / sources
}

// trace is tr(WHVH), summed in index order.
func trace(w, v, h [][]float64) (sum float64) {
	wh, vh := multiply(w, h), multiply(v, h)
	for i := range h {
		for j := range h {
			sum += float64(wh[i][j] * vh[j][i])
		}
	}
	return sum
}

// multiply is the product of two small square matrices, summed in index order.
func multiply(a, b [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = make([]float64, len(a))
		for l, x := range a[i] {
			for j, y := range b[l] {
				out[i][j] += float64(x * y)
			}
		}
	}
	return out
}

// matrix is the symmetric matrix of the form over the indexed columns.
func (f form) matrix(index map[int]int) [][]float64 {
	w := make([][]float64, len(index))
	for i := range w {
		w[i] = make([]float64, len(index))
	}
	for _, p := range f {
		for _, a := range p.x {
			for _, b := range p.y {
				i, j := index[a.Column], index[b.Column]
				half := float64(float64(float64(p.weight*a.Weight)*b.Weight) / 2)
				w[i][j] += half
				w[j][i] += half
			}
		}
	}
	return w
}
