package estimate

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/parallel"
)

// Moments are those of some columns of the union, each given once, over all of its records. Noise
// is their only error. Columns are indices into the sums.
func (m *Summed) Moments(columns []int) (out *Moments, why string) {
	n := len(columns)
	if n == 0 {
		return nil, "there are no columns"
	}
	ones := Ones{Column: len(m.mean), Weight: 1}
	if m.covariance == nil {
		return nil, "the study's moments have no products"
	}
	out = &Moments{
		law: m.bound(columns), centred: true, ones: []Ones{ones}, party: make([]int, n),
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

// sumErrors is the error law of sums over all records: independent noise on products, sums and counts.
// It is the rule of [Summed.Covary] for matrices that are sums of few products, as slopes are. It
// requires the variance of entry (i, j) to be a product of two numbers. That holds if all columns
// are alike. Otherwise (classes of a label, absent values, parties that scale by their own moments)
// it takes the least such upper bound on the variances. The noise of a count that several entries
// share is counted as if each had its own.
type sumErrors struct {
	*Summed
	unit    []float64   // by variable
	product float64     // times the squares of both units: the variance of an off-diagonal entry
	square  []float64   // variance of a diagonal entry in excess of twice that, over unit⁴
	sums    [][]float64 // by tally and variable: variance of the sum, over unit²
	centres [][]float64 // by tally and variable
}

// bound is the law for some columns.
func (m *Summed) bound(columns []int) sumErrors {
	n, n2 := len(columns), float64(m.records*m.records)
	out := sumErrors{Summed: m, unit: make([]float64, n), square: make([]float64, n)}
	own := mat.NewSymDense(n, nil) // variances of entries, without the part of plain sums
	type shared struct {
		a, b     int
		variance float64
	}
	var apart []shared          // ignored in computing units, as it is far smaller than the others
	least := make([]float64, n) // by variable: the fewest records it shares with another column
	for a := range least {
		least[a] = m.counts[columns[a]]
	}
	rows := make([][]float64, n)
	parallel.For(n, func(a int) {
		rows[a] = make([]float64, 2*n)
		for b := a; b < n; b++ {
			rows[a][b], rows[a][n+b] = m.entryVariance(columns[a], columns[b])
		}
	})
	for a, i := range columns {
		for b := a; b < n; b++ {
			j := columns[b]
			both := float64(m.sum[i] * m.sum[j])
			if a == b {
				both *= 2
			}
			v := (rows[a][b] + both) * n2
			switch {
			case a == b || m.columns[i].Entry >= 0 || m.columns[j].Entry >= 0:
				own.SetSym(a, b, v)
			case rows[a][b] > 0: // two classes, which share no record: noise in how many records have a label
				apart = append(apart, shared{a, b, v})
			}
			least[a], least[b] = math.Min(least[a], rows[a][n+b]), math.Min(least[b], rows[a][n+b])
		}
	}
	out.product = factor(own, out.unit)
	for _, s := range apart {
		u := out.unit[s.a] * out.unit[s.b]
		out.product = math.Max(out.product, s.variance/(u*u))
	}
	for a := range out.square {
		u := out.unit[a] * out.unit[a]
		out.square[a] = own.At(a, a)/(u*u) - 2*out.product
	}
	for at := range m.tallies {
		t := &m.tallies[at]
		sums, centres := make([]float64, n), make([]float64, n)
		for a, i := range columns {
			c := m.columns[i]
			centre, unit := t.place(c)
			plain := sources{}.plus(at, unit, number{terms: t.sum(c, c).terms[:1]})
			counted := sources{}.plus(at, centre-m.mean[i], t.count(c, c)).sorted()
			share := m.records / least[a]
			sums[a] = (float64(float64(m.dot(plain, plain)*share)*share) + m.dot(counted, counted)) / (out.unit[a] * out.unit[a])
			centres[a] = centre
		}
		out.sums, out.centres = append(out.sums, sums), append(out.centres, centres)
	}
	return out
}

// entryVariance is the variance of a covariance's error, without the part of plain sums. Records is
// how many have both columns.
func (m *Summed) entryVariance(i, j int) (variance, records float64) {
	x, y := m.columns[i], m.columns[j]
	p := m.pair(x, y)
	c := p.s/p.n - float64(p.a*p.b)
	var out sources
	for at := range m.tallies {
		t := &m.tallies[at]
		cx, ux := t.place(x)
		cy, uy := t.place(y)
		a, b := p.a-cx, p.b-cy
		out = out.plus(at, float64(ux*uy)/p.n, t.product(x, y))
		out = out.plus(at, -float64(ux*b)/p.n, number{terms: t.sum(x, y).terms[1:]}).plus(at, -float64(uy*a)/p.n, number{terms: t.sum(y, x).terms[1:]})
		out = out.plus(at, (float64(a*b)-c)/p.n, t.count(x, y))
	}
	out = out.sorted()
	return m.dot(out, out), p.n
}

// factor computes units, and the least product such that each off-diagonal entry is at most product
// times the squares of both units.
func factor(v *mat.SymDense, units []float64) (product float64) {
	n := len(units)
	alpha := make([]float64, n) // logarithms of squared units
	if n == 1 {
		units[0] = 1
		return v.At(0, 0) / 2
	}
	var logs, entries float64
	for i := range n {
		for j := range i {
			if x := v.At(i, j); x > 0 {
				logs += math.Log(x)
				entries++
			}
		}
	}
	for i := range alpha {
		alpha[i] = logs / math.Max(entries, 1) / 2
	}
	for range 40 {
		for i := range n {
			total, known := 0.0, 0.0
			for j := range n {
				if x := v.At(i, j); j != i && x > 0 {
					total += math.Log(x) - alpha[j]
					known++
				}
			}
			if known > 0 {
				alpha[i] = (alpha[i] + total/known) / 2 // damped: with two columns it would oscillate
			}
		}
	}
	for i := range n {
		units[i] = math.Exp(alpha[i] / 2)
	}
	for i := range n {
		for j := range i {
			product = math.Max(product, v.At(i, j)/float64(float64(units[i]*units[i])*float64(units[j]*units[j])))
		}
	}
	return product
}

// vector maps a, over the centred variables and the column of ones, to the coordinates that have
// noise: the columns, in their units, and the ones of each tally. A variable's mean is subtracted
// relative to the tally's centre.
func (l sumErrors) vector(m *Moments, a []float64) vector {
	n := len(m.vars)
	out := make([]float64, n, n+len(l.centres))
	for i, x := range a[:n] {
		out[i] = x * l.unit[i]
	}
	for _, centres := range l.centres {
		ones := a[n]
		for i, x := range a[:n] {
			ones -= float64(x * (m.means[i] - centres[i]))
		}
		out = append(out, ones)
	}
	return vector{a: a, ha: out, ga: a}
}

// covariance is Σ W_ij V_ij times the variance of the noise on (i, j), over the entries of the
// slopes' matrices W and V: on and off the diagonal, and beside the ones of each tally.
func (l sumErrors) covariance(m *Moments, s, r gradient) (total float64) {
	n := len(m.vars)
	for _, p := range s.parts {
		x, y := p.x.ha[:n], p.y.ha[:n]
		for _, q := range r.parts {
			v, w := q.x.ha[:n], q.y.ha[:n]
			total += float64(l.product * (float64(inner2(x, v)*inner2(y, w)) + float64(inner2(x, w)*inner2(y, v))))
		}
	}
	own, ownOnes := l.diagonals(m, s)
	other, otherOnes := l.diagonals(m, r)
	for i := range n {
		var d, e float64
		square := l.unit[i] * l.unit[i]
		if s.squares != nil {
			d = s.squares[i] * square
		}
		if r.squares != nil {
			e = r.squares[i] * square
		}
		// The part of the diagonal that is not in products of vectors.
		apart := float64(d*other[i]) + float64(e*own[i]) - float64(d*e)
		total += float64(2*float64(l.product*apart)) + float64(float64(l.square[i]*own[i])*other[i])
		for t, sums := range l.sums {
			total += float64(float64(sums[i]*ownOnes[t][i]) * otherOnes[t][i])
		}
	}
	return total
}

// diagonals are W_ii, and by tally 2 W_i1 beside its ones, of a slope's matrix, in the
// variables' units.
func (l sumErrors) diagonals(m *Moments, s gradient) (own []float64, ones [][]float64) {
	n := len(m.vars)
	own, ones = make([]float64, n), make([][]float64, len(l.centres))
	for t := range ones {
		ones[t] = make([]float64, n)
	}
	for _, p := range s.parts {
		x, y := p.x.ha, p.y.ha
		for i := range n {
			own[i] += float64(x[i] * y[i])
			for t := range ones {
				ones[t][i] += float64(x[i]*y[n+t]) + float64(x[n+t]*y[i])
			}
		}
	}
	if s.squares != nil {
		for i, d := range s.squares[:n] {
			own[i] += float64(float64(d*l.unit[i]) * l.unit[i])
			for t := range ones {
				ones[t][i] -= 2 * float64(float64(d*l.unit[i])*(m.means[i]-l.centres[t][i]))
			}
		}
	}
	return own, ones
}

// spread includes the errors of means and of standard deviations, which are not small compared with
// noise alone. The vectors must be eigenvectors of M.
func (l sumErrors) spread(m *Moments, vectors [][]float64) [][]float64 {
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
			s := gradient{parts: []gradientPart{{rotated[i], rotated[j].times(1 / l.records)}}}
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

func (sumErrors) meanSquare(m *Moments, i int) float64 {
	mean := m.means[i]
	return math.Abs(m.matrix.At(i, i)) + float64(mean*mean)
}

func (sumErrors) freedom(*Moments) float64 { return math.Inf(1) }

func (l sumErrors) exact(*Moments) bool {
	for i := range l.tallies {
		for _, v := range l.tallies[i].Variances {
			if v > 0 {
				return false
			}
		}
	}
	return true
}

func (l sumErrors) width(m *Moments) int { return len(m.vars) + len(l.centres) }
