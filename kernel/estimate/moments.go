package estimate

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Moments are the second moments of n variables of several parties as one matrix, with the data
// needed for their errors. Principal components, regressions and discriminants are computed from
// it. They come from a Gram ([Gram.Moments]) or from sums over all records ([Summed.Moments]).
//
// If centred, entry (i, j) is the covariance of two variables: each is centred by the mean over its
// own party's records; their debiased product is divided by the number of records both parties
// hold. Blocks of variables of one party are over that party's records, blocks between two parties
// over their intersection. So, as for [Gram.CorrelationE2], entries are covariances if the shared
// records are a random part of each party's.
//
// If not centred, entries are the debiased products themselves. A record that a party lacks counts
// as zero. Nothing is assumed.
type Moments struct {
	law     errorModel
	gram    *Gram // nil for sums
	vars    []Variable
	centred bool
	party   []int       // of each variable, into ones
	ones    []Ones      // distinct
	shared  [][]float64 // by two parties: records in common; 1 if not centred
	own     []ownMeans  // by party: how means over its records are computed
	means   []float64
	scale   []float64 // what each variable was divided by: 1, its standard deviation or a unit

	standardised bool      // scale holds standard deviations, which have errors
	divisors     []divisor // if standardised: the variances whose roots are the scale

	sets sets

	matrix *mat.SymDense // M: n × n, scaled
	full   *mat.Dense    // matrix as a mat.Dense
	raw    *mat.Dense    // H of the centred variables, not scaled, then of the ones: n + P
	bare   *mat.Dense    // G in the same layout
}

// Moments returns the moments of some variables, or nil and the reason why there are none. Means
// use the released columns of ones only.
func (g *Gram) Moments(vars []Variable, centred bool) (m *Moments, why string) {
	m = &Moments{law: sketchErrors{}, gram: g, vars: vars, centred: centred}
	if len(vars) == 0 {
		return nil, "there are no columns"
	}
	at := map[int]int{} // party by its column of ones
	for _, v := range vars {
		m.scale = append(m.scale, 1)
		if !centred {
			m.party = append(m.party, 0)
			continue
		}
		if why := v.refuse(false); why != "" {
			return nil, why
		}
		p, known := at[v.Ones.Column]
		if !known {
			p = len(m.ones)
			m.ones, at[v.Ones.Column] = append(m.ones, v.Ones), p
		}
		m.party = append(m.party, p)
	}
	if why := m.share(); why != "" {
		return nil, why
	}
	m.sets = m.findSets()
	m.raw, m.bare = m.centre(g.raw), m.centre(g.debiased)
	n := len(vars)
	m.matrix = mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			product, p, q := m.bare.At(i, j), m.party[i], m.party[j]
			if m.centred && p == q {
				product -= float64(m.own[p].taken(m.means[i], m.means[j]) * m.own[p].off)
			}
			m.matrix.SetSym(i, j, product/m.shared[p][q])
		}
	}
	m.full = mat.DenseCopyOf(m.matrix)
	return m, ""
}

// share computes how many records parties share, and the means.
func (m *Moments) share() (why string) {
	m.means = make([]float64, len(m.vars))
	if !m.centred {
		m.shared = [][]float64{{1}}
		return ""
	}
	m.shared = make([][]float64, len(m.ones))
	for p, a := range m.ones {
		m.own = append(m.own, m.gram.own(a))
		if !m.own[p].stands {
			return noOnes
		}
		for q, b := range m.ones {
			n := m.own[p].records
			if p != q {
				d := m.gram.overlapping(a, b)
				if !d.stands() {
					return noOverlap
				}
				n = d.value
			}
			m.shared[p] = append(m.shared[p], n)
		}
	}
	for i, v := range m.vars {
		m.means[i] = m.gram.product(v.value(), v.one()) / m.own[m.party[i]].divisor
	}
	return ""
}

// centre turns the products of the Gram's columns into those of the centred variables, then the
// columns of ones.
func (m *Moments) centre(of entries) *mat.Dense {
	n := len(m.vars)
	out := mat.NewSymDense(n+len(m.ones), nil)
	for i, v := range m.vars {
		for j := i; j < n; j++ {
			out.SetSym(i, j, of.At(v.Value, m.vars[j].Value))
		}
	}
	if !m.centred {
		return mat.DenseCopyOf(out)
	}
	for p, a := range m.ones {
		for q := p; q < len(m.ones); q++ {
			b := m.ones[q]
			out.SetSym(n+p, n+q, of.At(a.Column, b.Column)/a.Weight/b.Weight)
		}
		for i, v := range m.vars { // ⟨1_p, x_i − mean·1⟩
			own := m.ones[m.party[i]]
			bare := of.At(a.Column, v.Value) - float64(m.means[i]*of.At(a.Column, own.Column))/own.Weight
			out.SetSym(i, n+p, bare/a.Weight)
		}
	}
	for i := range n {
		own := m.ones[m.party[i]]
		for j := i; j < n; j++ {
			// ⟨x_i, x_j⟩ − mean_i ⟨1, x_j⟩ − mean_j ⟨x_i − mean_i·1, 1⟩
			sum := out.At(i, j) - float64(m.means[i]*of.At(own.Column, m.vars[j].Value))/own.Weight
			out.SetSym(i, j, sum-float64(m.means[j]*out.At(i, n+m.party[j])))
		}
	}
	return mat.DenseCopyOf(out)
}

// negligible is the fraction of a column's mean square up to which its variance is rounding error:
// the column is constant.
const negligible = 1e-12

// mean is the mean of a combination of one party's variables, from the means used for centring.
func (m *Moments) mean(of vector) float64 { return inner2(of.a[:len(m.vars)], m.means) }

// counted reports whether the number of records that party p holds is public.
func (m *Moments) counted(p int) bool { return m.gram == nil || m.ones[p].known() > 0 }

// divisor is the variance of variable i, as a divisor of other numbers.
func (m *Moments) divisor(i int) divisor {
	e := unit(len(m.vars), i)
	d := divisor{value: m.matrix.At(i, i), variance: m.variance(m.gradient(e, e)), k: m.law.freedom(m)}
	if m.raw != nil {
		p := m.party[i]
		d.noise = m.raw.At(i, i)/m.shared[p][p]/float64(m.scale[i]*m.scale[i]) - d.value
	}
	return d
}

// constant reports whether a variable's variance does not stand out of its error.
func (m *Moments) constant(i int) bool {
	return !(m.matrix.At(i, i) > negligible*m.law.meanSquare(m, i)) || !m.divisor(i).stands()
}

// Constant lists the variables whose variance does not stand out of its error. No
// correlation is defined for them, and no regression on them.
func (m *Moments) Constant() (out []int) {
	for i := range m.vars {
		if m.constant(i) {
			out = append(out, i)
		}
	}
	return out
}

// Scaled is the matrix of correlations: each variable divided by its standard deviation. If the
// variance of one does not stand out of its error, why is the reason.
func (m *Moments) Scaled() (scaled *Moments, why string) {
	deviations := make([]float64, len(m.vars))
	var divisors []divisor
	for i := range deviations {
		if m.constant(i) {
			return nil, noVariance
		}
		deviations[i] = math.Sqrt(m.matrix.At(i, i))
		divisors = append(divisors, m.divisor(i))
	}
	scaled = m.over(deviations)
	scaled.standardised, scaled.divisors = true, divisors
	for i := range deviations {
		scaled.matrix.SetSym(i, i, 1)
		scaled.full.Set(i, i, 1)
	}
	return scaled, ""
}

// In is the matrix in other units: variable i times units[i], which is above 0.
func (m *Moments) In(units []float64) *Moments {
	scale := make([]float64, len(units))
	for i, u := range units {
		scale[i] = 1 / u
	}
	return m.over(scale)
}

// over divides each variable by its scale.
func (m *Moments) over(scale []float64) *Moments {
	out, n := *m, len(m.vars)
	out.scale, out.matrix = scale, mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.matrix.SetSym(i, j, m.matrix.At(i, j)/float64(scale[i]*scale[j]))
		}
	}
	out.full = mat.DenseCopyOf(out.matrix)
	return &out
}

// rawMatrix is M with the noise left in. For sums it is M, since their noise has no bias.
func (m *Moments) rawMatrix() *mat.Dense {
	n := len(m.vars)
	if m.raw == nil {
		return m.full
	}
	out := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			out.Set(i, j, m.raw.At(i, j)/m.shared[m.party[i]][m.party[j]]/float64(m.scale[i]*m.scale[j]))
		}
	}
	return out
}

func unit(n, i int) []float64 {
	out := make([]float64, n)
	out[i] = 1
	return out
}
