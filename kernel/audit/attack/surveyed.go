package attack

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Distances is what an attacker has who knows neither R nor a sketch, but some records and squared
// distances: between the known records, and from other records to them. A service that answers
// queries for distances of records gives these away.
type Distances struct {
	Known    *mat.Dense // t × d, the known records
	Between  *mat.Dense // t × t, the squared distances of their sketches, less the expected share of noise
	From     *mat.Dense // m × t, the squared distances of other records' sketches from them
	Variance float64    // of the noise on a coordinate of a sketch, which studies publish
}

// ErrAllEqual is returned if the known records are all equal, so that no direction is known.
var ErrAllEqual = errors.New("the known records are all equal")

func (s Distances) check() error {
	for _, m := range []*mat.Dense{s.Known, s.Between, s.From} {
		if m == nil || m.IsEmpty() {
			return errors.New("there are no records or no distances")
		}
	}
	t, _ := s.Known.Dims()
	if rows, cols := s.Between.Dims(); rows != t || cols != t {
		return fmt.Errorf("%d known records have %d × %d distances", t, rows, cols)
	}
	if _, cols := s.From.Dims(); cols != t {
		return fmt.Errorf("other records have distances from %d of %d known ones", cols, t)
	}
	if t < 2 {
		return errors.New("one known record: at least two are needed to find directions")
	}
	return nil
}

// Locate returns the other records, m × d, by trilateration. Distances determine the sketches'
// products around the mean of the known ones (Torgerson 1952; for other records, Gower 1968): G =
// YYᵀ between the known ones, p = Yy. The estimate that [KnownPairs] and [Seen.MinimumNorm] compute
// from the sketches themselves needs no more than these: with A = UΣVᵀ the known records around
// their mean, it is VΣ(UᵀGU)⁺Uᵀp.
//
// If the map can be inverted, d + 1 known records in general position determine every other one
// exactly, whether the map preserves distances or not. Noise adds t·v to UᵀGU. This makes the
// result the linear estimate of least mean squared error for records that vary as the known ones
// do.
func (s Distances) Locate() (*mat.Dense, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("locating records by distances: %w", err)
	}
	centre, around := centred(s.Known)
	var svd mat.SVD
	if !svd.Factorize(around, mat.SVDThin) {
		return nil, errors.New("locating records by distances: the singular values of the known ones were not found")
	}
	rank := svd.Rank(independent)
	if rank == 0 {
		return nil, fmt.Errorf("locating records by distances: %w", ErrAllEqual)
	}
	t, d := around.Dims()
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	turn := u.Slice(0, t, 0, rank)
	between, from := s.products()
	var half, inner, seen, out mat.Dense
	half.Mul(turn.T(), between)
	inner.Mul(&half, turn)
	weights, err := inverse(&inner, float64(t)*s.Variance)
	if err != nil {
		return nil, fmt.Errorf("locating records by distances: %w", err)
	}
	seen.Mul(from, turn)
	half.Reset()
	half.Mul(&seen, weights)
	values := svd.Values(nil)
	half.Apply(func(_, j int, x float64) float64 { return x * values[j] }, &half)
	out.Mul(&half, v.Slice(0, d, 0, rank).T())
	out.Apply(func(_, j int, x float64) float64 { return x + centre[j] }, &out)
	return &out, nil
}

// products returns the products of sketches around the mean of the known ones: between the known
// ones, t × t, and of others with them, m × t.
func (s Distances) products() (between, from *mat.Dense) {
	t, _ := s.Between.Dims()
	means := make([]float64, t)
	for i := range t {
		means[i] = average(s.Between.RawRowView(i))
	}
	whole := average(means)
	of := func(told *mat.Dense) *mat.Dense {
		out := mat.DenseCopyOf(told)
		for i := range out.RawMatrix().Rows {
			row := out.RawRowView(i)
			mean := average(row)
			for j := range row {
				row[j] = (mean + means[j] - row[j] - whole) / 2
			}
		}
		return out
	}
	return of(s.Between), of(s.From)
}

// inverse returns the pseudoinverse of a symmetric matrix with more added to its eigenvalues.
// Eigenvalues that are zero, or negative by rounding, stay zero.
func inverse(m *mat.Dense, more float64) (*mat.Dense, error) {
	n, _ := m.Dims()
	symmetric := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			symmetric.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetric, true) {
		return nil, errors.New("eigenvalues were not found")
	}
	values := eigen.Values(nil)
	var vectors, out mat.Dense
	eigen.VectorsTo(&vectors)
	scaled := mat.DenseCopyOf(&vectors)
	scaled.Apply(func(_, j int, x float64) float64 {
		if !(values[j] > independent*values[n-1]) {
			return 0
		}
		return x / (values[j] + more)
	}, scaled)
	out.Mul(scaled, vectors.T())
	return &out, nil
}

// SquaredDistances returns the squared distances between the rows of a and those of b, less what
// noise adds to them on average.
func SquaredDistances(a, b *mat.Dense, noise float64) *mat.Dense {
	var out mat.Dense
	out.Mul(a, b.T())
	of, from := squaredNorms(a), squaredNorms(b)
	for i, x := range of {
		row := out.RawRowView(i)
		for j, y := range from {
			row[j] = x + y - 2*row[j] - noise
		}
	}
	return &out
}

func squaredNorms(rows *mat.Dense) []float64 {
	out := make([]float64, rows.RawMatrix().Rows)
	for i := range out {
		out[i] = dot(rows.RawRowView(i), rows.RawRowView(i))
	}
	return out
}

// centred returns the mean row, and the rows minus it.
func centred(rows *mat.Dense) (mean []float64, around *mat.Dense) {
	m, d := rows.Dims()
	mean, around = make([]float64, d), mat.DenseCopyOf(rows)
	for j := range d {
		mean[j] = average(mat.Col(nil, j, rows))
		for i := range m {
			around.Set(i, j, rows.At(i, j)-mean[j])
		}
	}
	return mean, around
}
