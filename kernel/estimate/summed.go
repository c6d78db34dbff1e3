package estimate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/sketch"
)

// SummedOf holds the sums of a merged moments sketch of N records, in units of the sketched
// columns. Each number has independent noise.
type SummedOf struct {
	Records int64         // required: N, which is public
	Second  mat.Symmetric // required: Σ xxᵀ, d × d
	Sums    []float64     // required: Σ x, d
	Noise   MomentNoise
}

// MomentNoise holds the variances of the noise on the entries of SummedOf; 0 for none.
type MomentNoise struct {
	Square  float64 // on a diagonal entry of Second
	Product float64 // on an off-diagonal entry
	Sum     float64 // on an entry of Sums
}

// Summed estimates means, covariances and correlations of columns over a set of records from their
// noised sums. There is no projection, so noise is the only error. It is independent, of known
// variance, on sums, and on counts if some values are absent.
//
// See NewTallied for the error of a covariance to first order. The product of both means' errors is
// of second order. For a variance it has a mean, which is subtracted. Its variance is included.
// Intervals are ± z standard errors, and ratios use Fieller's interval. If records were clipped,
// intervals of means, variances and covariances allow for what these may have lost ([Tally]). All
// others describe the clipped records.
//
// It is immutable. Methods panic on a column outside [0, d), as package mat does.
type Summed struct {
	tallies    []Tally
	columns    []TallyColumn
	records    float64
	mean       []float64
	counts     []float64      // records that have a column
	sum        []float64      // variances of means
	covariance *mat.SymDense  // nil if there are no products
	mended     []unclipped    // by column: the mean to report
	lost       []clippingLoss // nil if no record was clipped, as far as is known
}

// NewSummed is for sums with one noise variance for each kind of entry. It returns an error if
// shapes differ or there is no record.
func NewSummed(of SummedOf) (*Summed, error) {
	d := len(of.Sums)
	if of.Second == nil || of.Second.SymmetricDim() != d || d == 0 || of.Records < 1 {
		return nil, fmt.Errorf("moments of %d records with %d sums: want at least one record, and second moments of as many columns as sums", of.Records, d)
	}
	t := Tally{Records: of.Records, Layout: sketch.MomentLayout{Columns: d, Products: true}}
	t.Values, t.Variances = make([]float64, t.Layout.Entries()), make([]float64, t.Layout.Entries())
	columns := make([]TallyColumn, d)
	for i := range d {
		columns[i] = TallyColumn{Entry: i}
		for j := i; j < d; j++ {
			at := t.Layout.Product(i, j)
			if t.Values[at], t.Variances[at] = of.Second.At(i, j), of.Noise.Product; i == j {
				t.Variances[at] = of.Noise.Square
			}
		}
		t.Values[t.Layout.Sum(i)], t.Variances[t.Layout.Sum(i)] = of.Sums[i], of.Noise.Sum
	}
	return NewTallied([]Tally{t}, columns)
}

func (m *Summed) Records() float64 { return m.records }

// Means returns the means of the records after clipping, around which covariances are. They must
// not be changed.
func (m *Summed) Means() []float64 { return m.mean }

// Covariances is the d × d matrix of unbiased estimates of the covariances, divided by N. With
// noise it need not be positive semidefinite. It is nil if there are no products. It must not be
// changed.
func (m *Summed) Covariances() mat.Symmetric {
	if m.covariance == nil {
		return nil
	}
	return m.covariance
}

// Entry is an entry of a symmetric matrix W with its mirror: W_ij = W_ji = Weight, I ≤ J.
type Entry struct {
	I, J   int
	Weight float64
}

// Covary is the covariance of two linear functionals of the covariances' errors, Σ W_ij·Err_ij and
// Σ V_ij·Err_ij, given by their symmetric matrices. Entries must not repeat.
func (m *Summed) Covary(w, v []Entry) float64 {
	total := m.dot(m.errors(w), m.errors(v))
	for _, e := range w { // of the product of both means' errors
		for _, o := range v {
			if e.I != o.I || e.J != o.J {
				continue
			}
			times := 4.0
			if e.I == e.J {
				times = 2
			}
			total += float64(float64(times*float64(e.Weight*o.Weight)) * float64(m.sum[e.I]*m.sum[e.J]))
		}
	}
	return total
}

// errors is Σ W_ij·Err_ij.
func (m *Summed) errors(w []Entry) (out sources) {
	for _, e := range w {
		weight := e.Weight
		if e.I != e.J {
			weight *= 2
		}
		out = m.covarianceError(out, e.I, e.J, weight)
	}
	return out.sorted()
}

// entry is the functional that is weight times the error of covariance (i, j).
func entry(i, j int, weight float64) []Entry {
	if i == j {
		return []Entry{{i, i, weight}}
	}
	return []Entry{{min(i, j), max(i, j), weight / 2}}
}

// Mean estimates the mean of column i: of the records before clipping, if the clipped ones were
// summed.
func (m *Summed) Mean(i int, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	w := m.mended[i]
	half := level.reach(math.Sqrt(w.variance), w.bias)
	return newEstimate(w.value, w.value-half, w.value+half, math.Inf(-1), math.Inf(1)).withVariance(w.variance)
}

// Covariance estimates the covariance of columns i and j, or the variance of one.
func (m *Summed) Covariance(i, j int, level Level) Estimate {
	w, least := entry(i, j, 1), math.Inf(-1)
	if i == j {
		least = 0
	}
	return m.whole(Noisy{m.covariance.At(i, j), m.Covary(w, w)}.Estimate(level, least), i, j)
}

// divisor is the variance of column i as a divisor.
func (m *Summed) divisor(i int) divisor {
	w := entry(i, i, 1)
	return plainDivisor(m.covariance.At(i, i), m.Covary(w, w))
}

// Correlation estimates Pearson's correlation of columns i and j. It is undefined if a variance
// does not stand out of the noise ([StandsOut]). If one does so narrowly, the interval corrects for
// the selection.
func (m *Summed) Correlation(i, j int, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	x, y := m.divisor(i), m.divisor(j)
	if !x.stands() || !y.stands() {
		return undefined("a variance does not stand out of the noise")
	}
	if i == j {
		return newEstimate(1, 1, 1, -1, 1)
	}
	a, b := x.value, y.value
	norm := math.Sqrt(a) * math.Sqrt(b)
	numerator := entry(i, j, 1)
	// The linear part of the error of √(ab).
	denominator := []Entry{{i, i, math.Sqrt(b/a) / 2}, {j, j, math.Sqrt(a/b) / 2}}
	return fieller{
		ratio: m.covariance.At(i, j) / norm,
		nn:    m.Covary(numerator, numerator) / norm / norm,
		nm:    m.Covary(numerator, denominator) / norm / norm,
		mm:    m.Covary(denominator, denominator) / norm / norm,
	}.over(math.Sqrt(x.shrink(level)*y.shrink(level)), level, -1, 1)
}
