package estimate

import "slices"

// Term is one column of a Gram with the weight at which it enters a combination.
type Term struct {
	Column int
	Weight float64
}

// Combination is a linear combination of sketched columns; a single column is one too. A value
// column stored as (x − centre)/(3 spread) next to a column of ones of weight w is x in original
// units as {value, 3 spread}, {ones, centre/w}.
type Combination []Term

// Column is column i as sketched.
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

// merged is c with each column once, in order of first occurrence.
func (c Combination) merged() Combination {
	if len(c) <= fewColumns { // the usual case, met millions of times
		out := make(Combination, 0, len(c))
		for _, t := range c {
			i := slices.IndexFunc(out, func(o Term) bool { return o.Column == t.Column })
			if i < 0 {
				i = len(out)
				out = append(out, Term{Column: t.Column})
			}
			out[i].Weight += t.Weight
		}
		return out
	}
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

func bilinear(m entries, x, y Combination) float64 {
	var sum float64
	for _, a := range x {
		for _, b := range y {
			sum += float64(float64(a.Weight*b.Weight) * m.At(a.Column, b.Column))
		}
	}
	return sum
}

// form is a quadratic form in the sketched columns: the sum over its parts of weight·⟨x, y⟩. The
// gradient of an estimate, as a form, is that estimate's error.
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
func (g *Gram) variance(f form) float64 {
	ff, _, _ := g.errors(f, nil)
	return ff
}

// errors are the variances and the covariance of two forms: for matrices W and V,
// Cov(f, h) = 2 tr(W H V H)/k + k Σ W_ii V_ii κ_i.
func (g *Gram) errors(f, h form) (ff, fh, hh float64) {
	var memory [grids * fewColumns * fewColumns]float64
	var places [fewColumns]int
	s := columnSet{columns: appendColumns(appendColumns(places[:0], f), h), memory: memory[:]}
	raw := s.of(g.raw)
	w, v := s.matrix(f), s.matrix(h)
	wh, vh := s.times(w, raw), s.times(v, raw)
	k := float64(g.k)
	rule := func(trace float64, a, b []float64) float64 {
		return float64(2*trace/k) + float64(k*s.cumulants(g, a, b))
	}
	ff, fh, hh = rule(s.trace(wh, wh), w, w), rule(s.trace(wh, vh), w, v), rule(s.trace(vh, vh), v, v)
	sources := g.sources(s.columns)
	if sources == 0 {
		return ff, fh, hh
	}
	bare := s.of(g.debiased)
	wg, vg := s.times(w, bare), s.times(v, bare)
	ff += 2 * (s.trace(wh, wh) - s.trace(wg, wg)) / sources
	fh += 2 * (s.trace(wh, vh) - s.trace(wg, vg)) / sources
	hh += 2 * (s.trace(vh, vh) - s.trace(vg, vg)) / sources
	return ff, fh, hh
}

// before is the additional variance of a form from noise in the values before the projection: see
// the package comment.
func (g *Gram) before(f form) float64 {
	s := columnSet{columns: appendColumns(nil, f)}
	sources := g.sources(s.columns)
	if sources == 0 {
		return 0
	}
	w := s.matrix(f)
	wh, wg := s.times(w, s.of(g.raw)), s.times(w, s.of(g.debiased))
	return 2 * (s.trace(wh, wh) - s.trace(wg, wg)) / sources
}

// projected is the variance of a form from the projection alone, for columns without noise.
func (g *Gram) projected(f form) float64 {
	s := columnSet{columns: appendColumns(nil, f)}
	wg := s.times(s.matrix(f), s.of(g.debiased))
	return 2 * s.trace(wg, wg) / float64(g.k)
}

// sources is the number of values of a column that were noised before the projection, the least
// among the given columns; 0 if there are none.
func (g *Gram) sources(columns []int) (least float64) {
	for _, column := range columns {
		if n := g.noise[column].Sources; n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// A scene holds the few columns that some forms use, and allocates small matrices over them. Most
// forms use at most fewColumns columns, which then share one piece of memory: an analysis has up to
// half a million forms.
type columnSet struct {
	columns []int
	memory  []float64 // for the next grids
}

const (
	fewColumns = 6
	grids      = 8 // matrices that errors allocates
)

// appendColumns appends the columns of a form. It is a function, not a method, so that the slice stays on
// the stack.
func appendColumns(columns []int, f form) []int {
	for _, p := range f {
		for _, side := range [...]Combination{p.x, p.y} {
			for _, t := range side {
				if !slices.Contains(columns, t.Column) {
					columns = append(columns, t.Column)
				}
			}
		}
	}
	return columns
}

// place is the row of a column of the Gram, or -1 if it has none.
func (s *columnSet) place(column int) int { return slices.Index(s.columns, column) }

// newMatrix is a new matrix of zeros, row-major.
func (s *columnSet) newMatrix() []float64 {
	n := len(s.columns) * len(s.columns)
	if len(s.memory) < n {
		return make([]float64, n)
	}
	out := s.memory[:n:n]
	s.memory = s.memory[n:]
	return out
}

// of is the part of m for the scene's columns.
func (s *columnSet) of(m entries) []float64 {
	out, n := s.newMatrix(), len(s.columns)
	for i, a := range s.columns {
		for j, b := range s.columns {
			out[i*n+j] = m.At(a, b)
		}
	}
	return out
}

// matrix is the symmetric matrix of a form.
func (s *columnSet) matrix(f form) []float64 {
	out, n := s.newMatrix(), len(s.columns)
	for _, p := range f {
		for _, a := range p.x {
			i := s.place(a.Column)
			for _, b := range p.y {
				j := s.place(b.Column)
				half := float64(float64(float64(p.weight*a.Weight)*b.Weight) / 2)
				out[i*n+j] += half
				out[j*n+i] += half
			}
		}
	}
	return out
}

// times is the product of two matrices. It sums in index order.
func (s *columnSet) times(a, b []float64) []float64 {
	out, n := s.newMatrix(), len(s.columns)
	for i := range n {
		row := out[i*n:][:n]
		for l, x := range a[i*n:][:n] {
			if x == 0 {
				continue
			}
			for j, y := range b[l*n:][:n] {
				row[j] += float64(x * y)
			}
		}
	}
	return out
}

// trace is the trace of the product of two matrices.
func (s *columnSet) trace(a, b []float64) (sum float64) {
	n := len(s.columns)
	for i := range n {
		for j := range n {
			sum += float64(a[i*n+j] * b[j*n+i])
		}
	}
	return sum
}

// cumulants is Σ W_ii V_ii κ_i.
func (s *columnSet) cumulants(g *Gram, w, v []float64) (sum float64) {
	n := len(s.columns)
	for i, column := range s.columns {
		sum += float64(float64(w[i*n+i]*v[i*n+i]) * g.noise[column].FourthCumulant)
	}
	return sum
}
