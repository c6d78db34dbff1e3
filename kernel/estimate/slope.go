package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// gradient describes the error of a number computed from Moments as a function of the Gram matrix's
// error: a quadratic form in the centred variables and the columns of ones, as the general rule
// needs it, with the products of its vectors and H. For the sampling of shared records it also
// keeps the blocks of the matrix it depends on.
type gradient struct {
	parts   []gradientPart
	squares []float64 // weight of Err(z_i, z_i), by variable and column of ones; nil for none
	blocks  []block
}

// gradientPart is the error of one product ⟨x, y⟩.
type gradientPart struct{ x, y vector }

// block is uᵀ dC v in the block of parties p and q, times t.
type block struct {
	p, q int
	u, v direction
	t    float64 // weight
}

// direction is a vector u of one party's variables, unscaled, and Cu.
type direction struct{ u, cu []float64 }

// gradient is that of uᵀ M v, u and v being fixed:
//
//	Σ_pq [Err(u_p, v_q) − (u_pᵀ C_pq v_q) Err(1_p, 1_q)]/N_pq
//
// In the block of one party whose number of records is public, the second term is that of
// [own.taken]. The u_p are the variables of party p, divided by their scale. If the scale is of
// standard deviations, their errors subtract half of Σ_i (u_i (Mv)_i + v_i (Mu)_i) times the
// relative error of C_ii.
func (m *Moments) gradient(u, v []float64) gradient {
	us := m.byParty(u)
	vs := us
	if &u[0] != &v[0] {
		vs = m.byParty(v)
	}
	s := gradient{blocks: m.blocks(us, vs)}
	n := len(m.vars)
	for p, x := range us {
		if x.a == nil {
			continue
		}
		z, o := m.nothing(), m.nothing() // Σ_q v_q/N_pq, and the weights of the ones
		for q, y := range vs {
			if y.a == nil {
				continue
			}
			t := 1 / m.shared[p][q]
			z.add(t, y)
			switch {
			case !m.centred:
			case p == q && m.counted(p):
				if m.gram != nil {
					o.add(-float64(m.own[p].taken(m.mean(x), m.mean(y))*t), m.one(q))
				}
			default:
				o.add(-float64(inner2(x.a, y.ga)*t)*t, m.one(q))
			}
		}
		s.parts = append(s.parts, gradientPart{x, z})
		if m.centred {
			s.parts = append(s.parts, gradientPart{m.one(p), o})
		}
	}
	if m.standardised {
		mu, mv := m.times(u), m.times(v)
		share := make([]float64, n)
		for i := range n {
			share[i] = -(float64(u[i]*mv[i]) + float64(v[i]*mu[i])) / 2
		}
		s = s.plusVariances(m, share)
	}
	return s
}

// vector is a, over the centred variables and the columns of ones, with Ha and Ga.
type vector struct{ a, ha, ga []float64 }

func (m *Moments) nothing() vector {
	n := len(m.vars) + len(m.ones)
	return vector{make([]float64, n), make([]float64, m.law.width(m)), make([]float64, n)}
}

// add adds t·w.
func (v *vector) add(t float64, w vector) {
	for i := range v.a {
		v.a[i] += float64(t * w.a[i])
		v.ga[i] += float64(t * w.ga[i])
	}
	for i := range v.ha {
		v.ha[i] += float64(t * w.ha[i])
	}
}

func (v vector) times(t float64) vector { return vector{times(t, v.a), times(t, v.ha), times(t, v.ga)} }

func (m *Moments) vector(a []float64) vector { return m.law.vector(m, a) }

// one is the vector of party p's column of ones.
func (m *Moments) one(p int) vector {
	return m.vector(unit(len(m.vars)+len(m.ones), len(m.vars)+p))
}

// byParty splits a vector by party, each variable divided by its scale. The vectors of parties
// without variables in it are empty.
func (m *Moments) byParty(u []float64) []vector {
	parts := make([][]float64, len(m.shared))
	for i, v := range u {
		if p := m.party[i]; v != 0 {
			if parts[p] == nil {
				parts[p] = make([]float64, len(m.vars)+len(m.ones))
			}
			parts[p][i] = v / m.scale[i]
		}
	}
	out := make([]vector, len(parts))
	for p, a := range parts {
		if a != nil {
			out[p] = m.vector(a)
		}
	}
	return out
}

// plusVariances adds share[i] times the relative error of variable i's variance.
func (s gradient) plusVariances(m *Moments, share []float64) gradient {
	n := len(m.vars)
	squares := make([]float64, n+len(m.ones))
	copy(squares, s.squares)
	for i, t := range share {
		p, scale := m.party[i], m.scale[i]
		variance := float64(float64(m.matrix.At(i, i)*scale) * scale)
		squares[i] += t / variance / m.shared[p][p]
		switch {
		case !m.centred:
		case m.counted(p):
			if m.gram != nil {
				squares[n+p] -= float64(t*m.own[p].taken(m.means[i], m.means[i])) / variance / m.shared[p][p]
			}
		default:
			squares[n+p] -= t / m.shared[p][p]
		}
	}
	s.squares = squares
	return s
}

// plus is s + t·r.
func (s gradient) plus(t float64, r gradient) gradient {
	out := gradient{parts: slices.Clip(s.parts), blocks: slices.Clip(s.blocks), squares: s.squares}
	for _, p := range r.parts {
		out.parts = append(out.parts, gradientPart{p.x.times(t), p.y})
	}
	for _, b := range r.blocks {
		b.t *= t
		out.blocks = append(out.blocks, b)
	}
	if r.squares != nil {
		squares := times(t, r.squares)
		for i, v := range s.squares {
			squares[i] += v
		}
		out.squares = squares
	}
	return out
}

func times(t float64, x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = t * v
	}
	return out
}

// times is Mu.
func (m *Moments) times(u []float64) []float64 { return product(m.full, u) }

// product is a symmetric matrix times a vector, which may be sparse.
func product(a *mat.Dense, x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		if v == 0 {
			continue
		}
		for j, w := range a.RawRowView(i) {
			out[j] += float64(v * w)
		}
	}
	return out
}

// columns are the indices in the Gram, in the order of raw.
func (m *Moments) columns() (out []int) {
	for _, v := range m.vars {
		out = append(out, v.Value)
	}
	for _, o := range m.ones {
		out = append(out, o.Column)
	}
	return out
}

// variance is that of a slope: the sketch's error and the sampling of records.
func (m *Moments) variance(s gradient) float64 { return m.law.covariance(m, s, s) + m.sampling(s) }

// joint is the covariance of two slopes, with the same terms as variance.
func (m *Moments) joint(s, r gradient) float64 {
	if m.sets.same {
		return m.law.covariance(m, s, r)
	}
	return (m.variance(s.plus(1, r)) - m.variance(s.plus(-1, r))) / 4
}

// covariance is that caused by the sketch, by the general rule.
func (sketchErrors) covariance(m *Moments, s, r gradient) float64 {
	k := float64(m.gram.k)
	raw := wick(s, r, func(v vector) []float64 { return v.ha }, m.raw)
	sum := raw/k + float64(k*m.cumulants(s, r))
	if sources := m.gram.sources(m.columns()); sources > 0 {
		bare := wick(s, r, func(v vector) []float64 { return v.ga }, m.bare)
		sum += (raw - bare) / sources
	}
	return sum
}

// wick is 2 tr(WHVH), of H or of another matrix.
func wick(s, r gradient, of func(vector) []float64, h *mat.Dense) (sum float64) {
	for _, p := range s.parts {
		for _, q := range r.parts {
			x, y := of(q.x), of(q.y)
			sum += float64(inner2(p.x.a, x)*inner2(p.y.a, y)) + float64(inner2(p.x.a, y)*inner2(p.y.a, x))
		}
	}
	crossed := func(squares []float64, parts []gradientPart) {
		for i, d := range squares {
			if d == 0 {
				continue
			}
			for _, p := range parts {
				sum += float64(2 * float64(d*of(p.x)[i]) * of(p.y)[i])
			}
		}
	}
	crossed(s.squares, r.parts)
	crossed(r.squares, s.parts)
	for i, d := range s.squares {
		if d == 0 {
			continue
		}
		row := h.RawRowView(i)
		for j, e := range r.squares {
			sum += float64(2 * float64(d*e) * float64(row[j]*row[j]))
		}
	}
	return sum
}

// inner2 is ⟨x, y⟩ for a sparse x.
func inner2(x, y []float64) (sum float64) {
	for i, v := range x {
		if v != 0 {
			sum += float64(v * y[i])
		}
	}
	return sum
}

// cumulants is Σ W_ii V_ii κ_i over the columns as sketched.
func (m *Moments) cumulants(s, r gradient) (sum float64) {
	var w, v []float64
	for i, column := range m.columns() {
		if kappa := m.gram.noise[column].FourthCumulant; kappa != 0 {
			if w == nil {
				w, v = m.diagonal(s), m.diagonal(r)
			}
			sum += float64(float64(w[i]*v[i]) * kappa)
		}
	}
	return sum
}

// diagonal is that of a slope's matrix over the columns as sketched. A centred variable subtracts
// its mean times the column of ones.
func (m *Moments) diagonal(s gradient) []float64 {
	n := len(m.vars)
	out := make([]float64, n+len(m.ones))
	sketched := func(a []float64) []float64 {
		b := slices.Clone(a)
		for i := range n {
			if m.centred {
				b[n+m.party[i]] -= float64(m.means[i] * a[i])
			}
		}
		for p, o := range m.ones {
			b[n+p] /= o.Weight
		}
		return b
	}
	for _, p := range s.parts {
		a, b := sketched(p.x.a), sketched(p.y.a)
		for i := range out {
			out[i] += float64(a[i] * b[i])
		}
	}
	for i, d := range s.squares {
		if i >= n {
			w := m.ones[i-n].Weight
			out[i] += d / w / w
			continue
		}
		out[i] += d
		if m.centred {
			w := m.ones[m.party[i]].Weight
			out[n+m.party[i]] += float64(d*float64(m.means[i]*m.means[i])) / w / w
		}
	}
	return out
}

// blocks are those of uᵀ C v; nil if all parties hold the same records.
func (m *Moments) blocks(us, vs []vector) (out []block) {
	if m.sets.same {
		return nil
	}
	x, y := m.directions(us), m.directions(vs)
	for p := range x {
		for q := range y {
			if x[p].u != nil && y[q].u != nil {
				out = append(out, block{p, q, x[p], y[q], 1})
			}
		}
	}
	return out
}

func (m *Moments) directions(us []vector) []direction {
	out := make([]direction, len(us))
	for p, v := range us {
		if v.a == nil {
			continue
		}
		u := v.a[:len(m.vars)]
		scaled := make([]float64, len(u))
		for i, x := range u {
			scaled[i] = x * m.scale[i]
		}
		cu := m.times(scaled)
		for i := range cu {
			cu[i] *= m.scale[i]
		}
		out[p] = direction{u, cu}
	}
	return out
}

// manyBlocks is the number of blocks above which the errors of blocks are bounded as if fully
// correlated, since there are too many pairs.
const manyBlocks = 64

// sampling is the variance from the choice of records: covariances over the records of one party,
// or of two, differ from those over the records that all share. These must be a random part of
// each. Take means over sets S and T that contain all shared records A. Their differences from the
// mean over A have the covariance (|S∩T|/(|S||T|) − 1/|S| − 1/|T| + 1/|A|) times that of single
// records, which comes from Wick's theorem and the greatest kurtosis.
func (m *Moments) sampling(s gradient) (sum float64) {
	if m.sets.same {
		return 0
	}
	kurtosis := 3.0
	for _, v := range m.vars {
		kurtosis = math.Max(kurtosis, v.kurtosis())
	}
	var deviations float64
	for i, x := range s.blocks {
		sum += float64(2 * float64(x.t*m.sampledVariances(s, x)))
		if len(s.blocks) > manyBlocks {
			deviations += math.Sqrt(math.Max(0, float64(float64(x.t*x.t)*m.sets.wick(x, x))))
			continue
		}
		for j, y := range s.blocks[:i+1] {
			both := float64(float64(x.t*y.t) * m.sets.wick(x, y))
			if j < i {
				both *= 2
			}
			sum += both
		}
	}
	for i, d := range s.squares[:min(len(s.squares), len(m.vars))] {
		for j, e := range s.squares[:len(m.vars)] {
			p, q := m.party[i], m.party[j]
			c := float64(m.matrix.At(i, j)*m.scale[i]) * m.scale[j]
			f := float64(m.sets.factor(p, p, q, q)*m.shared[p][p]) * m.shared[q][q]
			sum += float64(2 * float64(float64(d*e)*f) * float64(c*c))
		}
	}
	return (math.Max(0, sum) + float64(deviations*deviations)) * (kurtosis - 1) / 2
}

// sampledVariances is the covariance of a block with the variances in a slope.
func (m *Moments) sampledVariances(s gradient, x block) (sum float64) {
	for i, d := range s.squares[:min(len(s.squares), len(m.vars))] {
		p := m.party[i]
		f := float64(m.sets.factor(p, p, x.p, x.q) * m.shared[p][p])
		sum += float64(2 * float64(float64(d*f)*x.u.cu[i]) * x.v.cu[i])
	}
	return sum
}

// sets describes the overlap of parties' records, each lacking records at random: party p holds the
// fraction rate[p] of all records.
type sets struct {
	same        bool // all parties hold the same records, or there is one
	all, common float64
	rate        []float64
}

// findSets estimates the number of all records from how many each pair of parties shares.
func (m *Moments) findSets() sets {
	n := len(m.shared)
	s := sets{same: true}
	if n == 1 {
		return s
	}
	for p := range n {
		for q := range p {
			s.all += m.shared[p][p] * m.shared[q][q] / m.shared[p][q] / float64(n*(n-1)/2)
		}
	}
	s.common = s.all
	for p := range n {
		s.rate = append(s.rate, clamp(m.shared[p][p]/s.all, 0, 1))
		s.common *= s.rate[p]
		s.same = s.same && s.rate[p] > 1-1e-9
	}
	return s
}

// size is the number of records that some parties share.
func (s sets) size(parties ...int) float64 {
	n := s.all
	for i, p := range parties {
		if !slices.Contains(parties[:i], p) {
			n *= s.rate[p]
		}
	}
	return n
}

// factor is the covariance of blocks (p, q) and (r, t), relative to that of single records.
func (s sets) factor(p, q, r, t int) float64 {
	a, b := s.size(p, q), s.size(r, t)
	return math.Max(0, s.size(p, q, r, t)/a/b-1/a-1/b+1/s.common)
}

// wick is the covariance of two blocks.
func (s sets) wick(x, y block) float64 {
	f := s.factor(x.p, x.q, y.p, y.q)
	if f == 0 {
		return 0
	}
	return f * (float64(inner2(x.u.u, y.u.cu)*inner2(x.v.u, y.v.cu)) + float64(inner2(x.u.u, y.v.cu)*inner2(x.v.u, y.u.cu)))
}
