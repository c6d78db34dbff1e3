package estimate

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/parallel"
)

// Moments are those of some columns of the union, each once: over all of its records,
// with no error but the noise. Columns are named by their place in the sums.
func (m *Summed) Moments(columns []int) (out *Moments, why string) {
	n := len(columns)
	if n == 0 {
		return nil, "there are no columns"
	}
	ones := Ones{Column: len(m.mean), Weight: 1}
	out = &Moments{
		law: added{m}, centred: true, ones: []Ones{ones}, party: make([]int, n),
		shared: [][]float64{{m.records}}, sets: sets{same: true},
	}
	var chosen []float64
	for _, i := range columns {
		out.vars = append(out.vars, Variable{Value: i, Ones: ones})
		out.means, out.scale = append(out.means, m.mean[i]), append(out.scale, 1)
		for _, j := range columns {
			chosen = append(chosen, m.covariance.At(i, j))
		}
	}
	out.matrix, out.full = mat.NewSymDense(n, chosen), mat.NewDense(n, n, chosen)
	return out, ""
}

// added is the law of sums over all records: independent noise on Σ x_i², Σ x_i x_j and
// Σ x_i, and none on the number of records. It is the rule of [Summed.Covary] for
// matrices that are sums of few products, as slopes are.
type added struct{ *Summed }

// vector takes a, over the centred variables and the column of ones, to what the noise is
// on: the columns and the ones themselves. A centred variable takes its mean off the ones.
func (added) vector(m *Moments, a []float64) vector {
	n := len(m.vars)
	ones := a[n]
	for i, x := range a[:n] {
		ones -= float64(x * m.means[i])
	}
	return vector{a: a, ha: append(a[:n:n], ones), ga: a}
}

// covariance is Σ over the entries of the slopes' matrices W and V, on and off the
// diagonal and beside the ones, of W_ij V_ij times the variance of the noise on (i, j).
// The error of μμᵀ beyond its slope, ffᵀ, adds 2 v_f² tr(WV).
func (l added) covariance(m *Moments, s, r slope) (total float64) {
	n, n2 := len(m.vars), l.records*l.records
	product := float64((l.product + float64(l.sum*l.sum)) * n2)
	square := float64((l.square - float64(2*l.product)) * n2) // beside what entries off the diagonal have
	for _, p := range s.parts {
		x, y := p.x.ha[:n], p.y.ha[:n]
		for _, q := range r.parts {
			v, w := q.x.ha[:n], q.y.ha[:n]
			total += float64(product * (float64(inner2(x, v)*inner2(y, w)) + float64(inner2(x, w)*inner2(y, v))))
		}
	}
	own, ownOnes := diagonals(m, s)
	other, otherOnes := diagonals(m, r)
	for i := range n {
		var d, e float64
		if s.squares != nil {
			d = s.squares[i]
		}
		if r.squares != nil {
			e = r.squares[i]
		}
		// Those of the diagonal that are not in products of vectors.
		apart := float64(d*other[i]) + float64(e*own[i]) - float64(d*e)
		total += float64(2*float64(product*apart)) + float64(float64(square*own[i])*other[i]) + float64(float64(l.sum*n2*ownOnes[i])*otherOnes[i])
	}
	return total
}

// diagonals are W_ii, and 2 W_i1 beside the ones, of a slope's matrix over the columns as
// they were summed.
func diagonals(m *Moments, s slope) (own, ones []float64) {
	n := len(m.vars)
	own, ones = make([]float64, n), make([]float64, n)
	for _, p := range s.parts {
		x, y := p.x.ha, p.y.ha
		for i := range n {
			own[i] += float64(x[i] * y[i])
			ones[i] += float64(x[i]*y[n]) + float64(x[n]*y[i])
		}
	}
	if s.squares != nil {
		for i, d := range s.squares[:n] {
			own[i] += d
			ones[i] -= 2 * float64(d*m.means[i])
		}
	}
	return own, ones
}

// spread counts the errors of means and of standard deviations in: beside noise alone
// they are not small. The vectors are the eigenvectors of M.
func (l added) spread(m *Moments, vectors [][]float64) [][]float64 {
	n := len(vectors)
	rotated, values := make([]vector, n), make([]float64, n)
	parallel.For(n, func(i int) {
		rotated[i] = m.byParty(vectors[i])[0]
		values[i] = inner2(vectors[i], m.times(vectors[i]))
	})
	out := make([][]float64, n)
	parallel.For(n, func(i int) {
		out[i] = make([]float64, n)
		share := make([]float64, n)
		for j := range n {
			s := slope{parts: []slopePart{{rotated[i], rotated[j].times(1 / l.records)}}}
			if m.standardised {
				for a := range share {
					share[a] = -float64(float64((values[i]+values[j])*vectors[i][a])*vectors[j][a]) / 2
				}
				s = s.plusVariances(m, share)
			}
			out[i][j] = l.covariance(m, s, s)
		}
	})
	return out
}

func (added) meanSquare(m *Moments, i int) float64 {
	mean := m.means[i]
	return math.Abs(m.matrix.At(i, i)) + float64(mean*mean)
}

func (added) freedom(*Moments) float64 { return math.Inf(1) }

func (l added) exact(*Moments) bool { return l.square == 0 && l.product == 0 && l.sum == 0 }
