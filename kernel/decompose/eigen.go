package decompose

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/parallel"
)

// Eigen is a symmetric n × n matrix as the sum of Values[i]·Vectors[i]·Vectors[i]ᵀ.
type Eigen struct {
	Values  []float64   // in decreasing order
	Vectors [][]float64 // orthonormal; the entry of each with the largest absolute value is positive
}

// MaxEigen is the maximum number of rows of a matrix to decompose. The work grows with their cube,
// and takes about ten seconds there.
const MaxEigen = 2000

// Symmetric decomposes a matrix. It returns an error if an entry is not finite.
//
// Householder reflections make the matrix tridiagonal, then rotations with implicit shifts make it
// diagonal (Golub and Van Loan, Matrix Computations, 8.3). Both are in a fixed order with every
// product rounded before it is added. So the result is the same on every machine and for any number
// of processors. It uses all of them.
func Symmetric(ctx context.Context, a mat.Symmetric) (Eigen, error) {
	n := a.SymmetricDim()
	if n > MaxEigen {
		return Eigen{}, fmt.Errorf("decomposing a matrix: %d rows: at most %d are possible", n, MaxEigen)
	}
	rows, largest := make([][]float64, n), 0.0
	for i := range n {
		rows[i] = make([]float64, n)
		for j := range n {
			v := a.At(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return Eigen{}, fmt.Errorf("decomposing a matrix: entry (%d, %d) is not finite", i, j)
			}
			rows[i][j], largest = v, math.Max(largest, math.Abs(v))
		}
	}
	if largest == 0 {
		largest = 1
	}
	for i := range n { // so that squares of entries neither overflow nor underflow
		for j := range n {
			rows[i][j] /= largest
		}
	}
	t, err := reduce(ctx, rows)
	if err != nil {
		return Eigen{}, err
	}
	if err := t.diagonalise(ctx); err != nil {
		return Eigen{}, err
	}
	return t.sorted(largest), nil
}

// tridiagonal is a symmetric matrix as Qᵀ T Q with T tridiagonal and Q orthogonal.
type tridiagonal struct {
	diagonal []float64
	beside   []float64   // beside[i] is entry (i, i+1); the last is 0
	vectors  [][]float64 // Q by rows
}

// reflector is I − scale·vvᵀ, v being zero before index first.
type reflector struct {
	first int
	v     []float64
	scale float64
}

// reduce makes the matrix tridiagonal. It overwrites rows.
func reduce(ctx context.Context, rows [][]float64) (*tridiagonal, error) {
	n := len(rows)
	t := &tridiagonal{diagonal: make([]float64, n), beside: make([]float64, n), vectors: make([][]float64, n)}
	var reflectors []reflector
	p := make([]float64, n)
	for c := range n {
		if c%16 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t.diagonal[c] = rows[c][c]
		if c == n-1 {
			break
		}
		h, reduced := reflection(rows[c][c+1:])
		t.beside[c] = reduced
		if h.scale == 0 {
			continue
		}
		h.first = c + 1
		reflectors = append(reflectors, h)
		// A ← A − v wᵀ − w vᵀ with p = scale·Av and w = p − (scale·pᵀv/2) v.
		rest, w := rows[c+1:], p[:n-c-1]
		split(len(rest), len(rest), func(from, to int) {
			for i := from; i < to; i++ {
				w[i] = float64(h.scale * dot(rest[i][c+1:], h.v))
			}
		})
		add(w, -float64(h.scale*dot(w, h.v))/2, h.v)
		split(len(rest), len(rest), func(from, to int) {
			for i := from; i < to; i++ {
				row, x, y := rest[i][c+1:], h.v[i], w[i]
				for j, v := range h.v {
					row[j] -= float64(x*w[j]) + float64(y*v)
				}
			}
		})
	}
	split(n, n, func(from, to int) { // rows of the identity, times the reflectors
		for i := from; i < to; i++ {
			t.vectors[i] = make([]float64, n)
			t.vectors[i][i] = 1
			for _, h := range slices.Backward(reflectors) {
				if h.first <= i { // else it does not change the row
					part := t.vectors[i][h.first:]
					add(part, -float64(h.scale*dot(part, h.v)), h.v)
				}
			}
		}
	})
	return t, ctx.Err()
}

// reflection is the reflector that zeroes all of x except its first entry, and the new first entry.
func reflection(x []float64) (reflector, float64) {
	tail := dot(x[1:], x[1:])
	if tail == 0 {
		return reflector{}, x[0]
	}
	length := math.Sqrt(float64(x[0]*x[0]) + tail)
	if x[0] > 0 {
		length = -length
	}
	v := slices.Clone(x)
	v[0] -= length // of the same sign: no cancellation
	return reflector{v: v, scale: 2 / (float64(v[0]*v[0]) + tail)}, length
}

// maxShifts bounds the iterations for one eigenvalue; two are usual.
const maxShifts = 100

// diagonalise makes diagonal the eigenvalues and vectors the eigenvectors.
func (t *tridiagonal) diagonalise(ctx context.Context) error {
	const eps = 0x1p-53
	n := len(t.diagonal)
	d, e := t.diagonal, t.beside
	// An entry beside the diagonal is set to 0 if it is small next to its neighbours on the
	// diagonal. In a matrix of low rank those vanish too, and rounding of the large entries keeps
	// it from shrinking further. So it is also set to 0 if it is small next to the matrix: reducing
	// lost as much already (EISPACK's tql2).
	floor := 0.0
	for i := range n {
		floor = math.Max(floor, eps*(math.Abs(d[i])+math.Abs(e[i])))
	}
	var turns []turn
	for l := range n {
		for shifts := 0; ; shifts++ {
			m := l // end of the block that starts at l
			for m < n-1 && math.Abs(e[m]) > math.Max(floor, eps*(math.Abs(d[m])+math.Abs(d[m+1]))) {
				m++
			}
			if m == l {
				break
			}
			if shifts == maxShifts {
				return fmt.Errorf("decomposing a matrix: no convergence after %d steps for one eigenvalue", maxShifts)
			}
			turns = t.chase(l, m, turns)
			if len(turns) > 16*n {
				t.turn(turns)
				turns = turns[:0]
				if err := ctx.Err(); err != nil {
					return err
				}
			}
		}
	}
	t.turn(turns)
	return ctx.Err()
}

// turn is a rotation of rows i and i+1.
type turn struct {
	i        int
	cos, sin float64
}

// chase runs one iteration with an implicit shift on rows l to m and appends its turns.
func (t *tridiagonal) chase(l, m int, turns []turn) []turn {
	d, e := t.diagonal, t.beside
	// The shift: the eigenvalue of the leading 2 × 2 that is nearer to its first entry.
	slope := (d[l+1] - d[l]) / (2 * e[l])
	root := math.Sqrt(float64(slope*slope) + 1)
	if slope < 0 {
		root = -root
	}
	x := d[m] - d[l] + e[l]/(slope+root)
	sin, cos, moved := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		bulge, side := float64(sin*e[i]), float64(cos*e[i])
		length := math.Sqrt(float64(bulge*bulge) + float64(x*x))
		e[i+1] = length
		if length == 0 { // the block splits here
			d[i+1] -= moved
			e[m] = 0
			return turns
		}
		sin, cos = bulge/length, x/length
		x = d[i+1] - moved
		r := float64((d[i]-x)*sin) + float64(2*float64(cos*side))
		moved = float64(sin * r)
		d[i+1] = x + moved
		x = float64(cos*r) - side
		turns = append(turns, turn{i, cos, sin})
	}
	d[l] -= moved
	e[l], e[m] = x, 0
	return turns
}

// turn applies rotations to the vectors, in stripes that fit into a processor's cache.
func (t *tridiagonal) turn(turns []turn) {
	n := len(t.vectors)
	const stripe = 64
	split((n+stripe-1)/stripe, len(turns)*stripe/16, func(from, to int) {
		for s := from; s < to; s++ {
			first, last := s*stripe, min((s+1)*stripe, n)
			for _, r := range turns {
				x, y := t.vectors[r.i][first:last], t.vectors[r.i+1][first:last]
				for j, v := range x {
					w := y[j]
					y[j] = float64(r.sin*v) + float64(r.cos*w)
					x[j] = float64(r.cos*v) - float64(r.sin*w)
				}
			}
		}
	})
}

// sorted is the decomposition with all values multiplied by a factor.
func (t *tridiagonal) sorted(factor float64) Eigen {
	order := make([]int, len(t.diagonal))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case t.diagonal[a] > t.diagonal[b]:
			return -1
		case t.diagonal[a] < t.diagonal[b]:
			return 1
		}
		return 0
	})
	var out Eigen
	for _, i := range order {
		v, most := t.vectors[i], 0
		for j := range v {
			if math.Abs(v[j]) > math.Abs(v[most]) {
				most = j
			}
		}
		if v[most] < 0 {
			for j := range v {
				v[j] = -v[j]
			}
		}
		out.Values, out.Vectors = append(out.Values, float64(t.diagonal[i]*factor)), append(out.Vectors, v)
	}
	return out
}

// dot sums four interleaved parts and then those, in a fixed order.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += float64(x[i] * y[i])
		b += float64(x[i+1] * y[i+1])
		c += float64(x[i+2] * y[i+2])
		d += float64(x[i+3] * y[i+3])
	}
	for ; i < len(x); i++ {
		a += float64(x[i] * y[i])
	}
	return (a + b) + (c + d)
}

// add adds t·y to x.
func add(x []float64, t float64, y []float64) {
	y = y[:len(x)]
	for i := range x {
		x[i] += float64(t * y[i])
	}
}

// split calls do with parts of a range of n pieces, on all processors if the total work is worth
// it. Work is that of a piece, in additions.
func split(n, work int, do func(from, to int)) {
	const least = 1 << 14 // total additions worth splitting
	workers := runtime.GOMAXPROCS(0)
	if n*work < least || workers < 2 {
		do(0, n)
		return
	}
	parallel.For(workers, func(w int) { do(n*w/workers, n*(w+1)/workers) })
}
