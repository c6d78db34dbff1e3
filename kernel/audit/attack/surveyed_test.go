package attack

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// survey returns the distances of sketches; the first t records are known.
func survey(x *mat.Dense, view View, t int) (Distances, *mat.Dense) {
	m, d := x.Dims()
	_, k := view.R.Dims()
	known, others := view.Y.Slice(0, t, 0, k), view.Y.Slice(t, m, 0, k)
	noise := 2 * float64(k) * view.Variance
	return Distances{
		Known:   mat.DenseCopyOf(x.Slice(0, t, 0, d)),
		Between: SquaredDistances(mat.DenseCopyOf(known), mat.DenseCopyOf(known), noise),
		From:    SquaredDistances(mat.DenseCopyOf(others), mat.DenseCopyOf(known), noise), Variance: view.Variance,
	}, mat.DenseCopyOf(x.Slice(t, m, 0, d))
}

// TestLocate: through a rotation, and through a projection to more dimensions than there are
// values, d + 1 known records determine every other one exactly, and fewer determine a part. A
// projection to fewer dimensions reveals k/d. Noise prevents it.
func TestLocate(t *testing.T) {
	r := source(21)
	const d = 12
	x := normal(r, 400, d, 1)
	rotation, err := orthogonal(normal(r, d, d, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		matrix    *mat.Dense
		deviation float64
		known     int
		low, high float64 // missed share of the squared norm
	}{
		{rotation, 0, d + 1, 0, 1e-18},
		{rotation, 0, 60, 0, 1e-18},
		{rotation, 0, 7, 0.4, 0.8},
		{rotation, 0.05, 60, 0.0005, 0.02},
		{rotation, 5, 60, 0.8, 1.1},
		{signs(r, d, 2*d), 0, d + 1, 0, 1e-16},
		{signs(r, d, d/2), 0, 60, 0.4, 0.6},
		{signs(r, d, d/2), 2, 60, 0.8, 1.1},
	} {
		told, others := survey(x, see(r, x, c.matrix, c.deviation), c.known)
		guess, err := told.Locate()
		got := recovered(t, others, guess, err).Error
		if !(got >= c.low && got <= c.high) {
			t.Errorf("k = %d, noise %g, %d known: %.3g is missed, want %g to %g", c.matrix.RawMatrix().Cols, c.deviation, c.known, got, c.low, c.high)
		}
	}
}

// TestLocateWeighs: treating noisy distances as exact misses more than guessing the mean does.
func TestLocateWeighs(t *testing.T) {
	r := source(22)
	x := normal(r, 300, 10, 1)
	told, others := survey(x, see(r, x, signs(r, 10, 20), 1), 15)
	guess, err := told.Locate()
	weighed := recovered(t, others, guess, err).Error
	told.Variance = 0
	guess, err = told.Locate()
	if naive := recovered(t, others, guess, err).Error; weighed > 0.95 || naive < 1.2 {
		t.Errorf("%.3f is missed, and %.3f by taking distances for exact", weighed, naive)
	}
}

func TestLocateRefuses(t *testing.T) {
	three, equal := normal(source(23), 3, 2, 1), mat.NewDense(3, 2, nil)
	square := SquaredDistances(three, three, 0)
	for _, s := range []Distances{
		{}, {Known: three, Between: square}, {Known: three, Between: three, From: square}, {Known: three, Between: square, From: three},
		{Known: equal, Between: square, From: square},
		{Known: mat.NewDense(1, 2, nil), Between: mat.NewDense(1, 1, nil), From: mat.NewDense(4, 1, nil)},
	} {
		if _, err := s.Locate(); err == nil {
			t.Errorf("%+v is located", s)
		}
	}
	if got := SquaredDistances(three, three, 0.5).At(1, 1); math.Abs(got+0.5) > 1e-12 {
		t.Errorf("a record is %g from itself, less noise of 0.5", got)
	}
}
