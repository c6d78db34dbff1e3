package estimate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// SummedOf is what a merged moments sketch says of N records, in units of the sketched
// columns: every number with independent noise on it.
type SummedOf struct {
	Records int64         // required: N, which is public
	Second  mat.Symmetric // required: Σ xxᵀ, d × d
	Sums    []float64     // required: Σ x, d
	Noise   MomentNoise
}

// MomentNoise holds the variances of the noise on the entries of SummedOf; 0 for none.
type MomentNoise struct {
	Square  float64 // on a diagonal entry of Second
	Product float64 // on another
	Sum     float64 // on an entry of Sums
}

// Summed estimates means, covariances and correlations of d columns over a set of
// records from their noised moments. There is no projection, and so no error but the
// noise: independent Gaussian numbers of known variance on Σ xxᵀ and Σ x, divided by N.
//
// With e the errors of the mean products and f those of the means μ̂, the covariance
// matrix Second/N − μ̂μ̂ᵀ errs by e − μfᵀ − fμᵀ − ffᵀ, the last term having the mean
// diag(v_f), which is taken off. So a linear functional Σ W_ij·Err_ij with symmetric W has
// the variance
//
//	Σ W_ii² v_s + 4 Σ_{i<j} W_ij² v_p + 4 v_f |Wμ|² + 2 v_f² tr(WW)
//
// (Covary), which is to moments what 2 tr(WHWH)/k is to a Gram. Intervals are ± z
// deviations, and ratios are inverted as Fieller did. They are about the records as they
// were summed: where records were clipped, about the clipped ones.
//
// It is immutable. Methods panic on a column outside [0, d), as package mat does.
type Summed struct {
	records    float64
	mean       []float64
	covariance *mat.SymDense
	square     float64 // variances of the errors of mean products and means
	product    float64
	sum        float64
}

// NewSummed refuses shapes that differ and fewer than one record.
func NewSummed(of SummedOf) (*Summed, error) {
	d := len(of.Sums)
	if of.Second == nil || of.Second.SymmetricDim() != d || d == 0 || of.Records < 1 {
		return nil, fmt.Errorf("moments of %d records: want at least one, and second moments of as many columns as there are sums, %d", of.Records, d)
	}
	n := float64(of.Records)
	m := &Summed{
		records: n, mean: make([]float64, d), covariance: mat.NewSymDense(d, nil),
		square: of.Noise.Square / n / n, product: of.Noise.Product / n / n, sum: of.Noise.Sum / n / n,
	}
	for i, s := range of.Sums {
		m.mean[i] = s / n
	}
	for i := range d {
		for j := i; j < d; j++ {
			c := of.Second.At(i, j)/n - float64(m.mean[i]*m.mean[j])
			if i == j {
				c += m.sum
			}
			m.covariance.SetSym(i, j, c)
		}
	}
	return m, nil
}

// Means returns the estimated means. They must not be changed.
func (m *Summed) Means() []float64 { return m.mean }

// Covariances is the d × d matrix of unbiased estimates of the covariances, divided by N.
// With noise it need not be positive semidefinite. It must not be changed.
func (m *Summed) Covariances() mat.Symmetric { return m.covariance }

// Entry is an entry of a symmetric matrix W with its mirror: W_ij = W_ji = Weight, I ≤ J.
type Entry struct {
	I, J   int
	Weight float64
}

// Covary is the covariance of two linear functionals of the covariances' errors, Σ
// W_ij·Err_ij and Σ V_ij·Err_ij, by their symmetric matrices; no entry is listed twice.
func (m *Summed) Covary(w, v []Entry) (total float64) {
	at := make(map[[2]int]float64, len(v))
	for _, e := range v {
		at[[2]int{e.I, e.J}] = e.Weight
	}
	for _, e := range w {
		other := at[[2]int{e.I, e.J}]
		both := float64(e.Weight * other)
		if e.I == e.J {
			total += float64(both*m.square) + float64(2*float64(both*m.sum)*m.sum)
		} else {
			total += float64(4*float64(both*m.product)) + float64(4*float64(both*m.sum)*m.sum)
		}
	}
	a, columns := m.timesMean(w)
	b, _ := m.timesMean(v)
	for _, i := range columns {
		total += float64(float64(4*float64(m.sum*a[i])) * b[i])
	}
	return total
}

// timesMean is Wμ, where it is not zero, and the places where that is, in a fixed order.
func (m *Summed) timesMean(w []Entry) (product map[int]float64, at []int) {
	product = make(map[int]float64, 2*len(w))
	add := func(i, j int, weight float64) {
		if _, ok := product[i]; !ok {
			at = append(at, i)
		}
		product[i] += float64(weight * m.mean[j])
	}
	for _, e := range w {
		add(e.I, e.J, e.Weight)
		if e.I != e.J {
			add(e.J, e.I, e.Weight)
		}
	}
	return product, at
}

// entry is the functional that is the error of covariance (i, j) itself.
func entry(i, j int, weight float64) []Entry {
	if i == j {
		return []Entry{{i, i, weight}}
	}
	return []Entry{{min(i, j), max(i, j), weight / 2}}
}

// Mean estimates the mean of column i.
func (m *Summed) Mean(i int, level Level) Estimate {
	return Noisy{m.mean[i], m.sum}.Estimate(level, math.Inf(-1))
}

// Covariance estimates the covariance of columns i and j, or the variance of one.
func (m *Summed) Covariance(i, j int, level Level) Estimate {
	w, least := entry(i, j, 1), math.Inf(-1)
	if i == j {
		least = 0
	}
	return Noisy{m.covariance.At(i, j), m.Covary(w, w)}.Estimate(level, least)
}

// Correlation estimates Pearson's correlation of columns i and j. It is undefined where
// a variance does not stand out of the noise.
func (m *Summed) Correlation(i, j int, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	for _, c := range []int{i, j} {
		if e := m.Covariance(c, c, level); !(e.Low > 0) {
			return undefined("a variance does not stand out of the noise")
		}
	}
	if i == j {
		return finish(1, 1, 1, -1, 1)
	}
	a, b := m.covariance.At(i, i), m.covariance.At(j, j)
	norm := math.Sqrt(a) * math.Sqrt(b)
	numerator := entry(i, j, 1)
	// The linear part of the error of √(ab).
	denominator := []Entry{{i, i, math.Sqrt(b/a) / 2}, {j, j, math.Sqrt(a/b) / 2}}
	return fieller{
		ratio: m.covariance.At(i, j) / norm,
		nn:    m.Covary(numerator, numerator) / norm / norm,
		nm:    m.Covary(numerator, denominator) / norm / norm,
		mm:    m.Covary(denominator, denominator) / norm / norm,
	}.estimate(level, -1, 1)
}
