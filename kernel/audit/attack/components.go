package attack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Components returns the independent components, m × k', of sketches of m records, with unit
// variance. It uses symmetric FastICA with the contrast log cosh (Hyvärinen 1999) and needs neither
// R nor a record. The order and signs of the components are undetermined. k' is the number of
// directions in which the sketches vary.
func Components(ctx context.Context, y *mat.Dense, random *rand.Rand) (*mat.Dense, error) {
	white, err := whiten(y)
	if err != nil {
		return nil, fmt.Errorf("finding independent components: %w", err)
	}
	m, k := white.Dims()
	w := mat.NewDense(k, k, nil)
	for i := range k {
		for j := range k {
			w.Set(i, j, random.NormFloat64())
		}
	}
	if w, err = orthogonal(w); err != nil {
		return nil, fmt.Errorf("finding independent components: %w", err)
	}
	const rounds, settled = 500, 1e-8
	var s mat.Dense
	for range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.Mul(white, w.T())
		slopes := make([]float64, k)
		for i := range m {
			row := s.RawRowView(i)
			for j, v := range row {
				row[j] = math.Tanh(v)
				slopes[j] += 1 - row[j]*row[j]
			}
		}
		var next mat.Dense
		next.Mul(s.T(), white)
		for i := range k {
			for j := range k {
				next.Set(i, j, (next.At(i, j)-slopes[i]*w.At(i, j))/float64(m))
			}
		}
		turned, err := orthogonal(&next)
		if err != nil {
			return nil, fmt.Errorf("finding independent components: %w", err)
		}
		least := 1.0
		for i := range k {
			least = math.Min(least, math.Abs(dot(turned.RawRowView(i), w.RawRowView(i))))
		}
		w = turned
		if least > 1-settled {
			break
		}
	}
	out := mat.NewDense(m, k, nil)
	out.Mul(white, w.T())
	return out, nil
}

// whiten centres y and transforms it to uncorrelated coordinates of unit variance. Directions
// without variance are dropped.
func whiten(y *mat.Dense) (*mat.Dense, error) {
	if y == nil || y.IsEmpty() {
		return nil, errors.New("no sketches")
	}
	m, k := y.Dims()
	centred := mat.DenseCopyOf(y)
	for j := range k {
		var mean float64
		for i := range m {
			mean += y.At(i, j) / float64(m)
		}
		for i := range m {
			centred.Set(i, j, y.At(i, j)-mean)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(centred, mat.SVDThin) {
		return nil, errors.New("the principal components were not found")
	}
	rank := svd.Rank(1e-9)
	if rank == 0 {
		return nil, errors.New("all sketches are equal")
	}
	var u mat.Dense
	svd.UTo(&u)
	white := mat.DenseCopyOf(u.Slice(0, m, 0, rank))
	white.Scale(math.Sqrt(float64(m)), white)
	return white, nil
}

// orthogonal returns the orthogonal matrix nearest to w.
func orthogonal(w *mat.Dense) (*mat.Dense, error) {
	var svd mat.SVD
	if !svd.Factorize(w, mat.SVDFull) {
		return nil, errors.New("no nearest orthogonal matrix was found")
	}
	var u, v, out mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	out.Mul(&u, v.T())
	return &out, nil
}

// Matches returns, for each of the d columns of truth, the largest absolute correlation with a
// component. It is 0 for a constant column.
func Matches(truth, components *mat.Dense) ([]float64, error) {
	m, d := truth.Dims()
	if rows, _ := components.Dims(); rows != m {
		return nil, fmt.Errorf("matching components: %d records and %d rows", m, rows)
	}
	_, k := components.Dims()
	out := make([]float64, d)
	for j := range d {
		x := mat.Col(nil, j, truth)
		for c := range k {
			if r := math.Abs(correlation(x, mat.Col(nil, c, components))); r > out[j] {
				out[j] = r
			}
		}
	}
	return out, nil
}

// correlation returns 0 if a or b is constant.
func correlation(a, b []float64) float64 {
	var ma, mb float64
	for i := range a {
		ma, mb = ma+a[i]/float64(len(a)), mb+b[i]/float64(len(b))
	}
	var ab, aa, bb float64
	for i := range a {
		x, y := a[i]-ma, b[i]-mb
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}
