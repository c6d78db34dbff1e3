package attack

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func source(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 0x9e3779b97f4a7c15)) }

func normal(r *rand.Rand, rows, cols int, deviation float64) *mat.Dense {
	out := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			out.Set(i, j, deviation*r.NormFloat64())
		}
	}
	return out
}

// signs returns a matrix R of d × k with entries ±1/√k.
func signs(r *rand.Rand, d, k int) *mat.Dense {
	out := mat.NewDense(d, k, nil)
	for i := range d {
		for j := range k {
			out.Set(i, j, float64(2*r.IntN(2)-1)/math.Sqrt(float64(k)))
		}
	}
	return out
}

// see sketches x by R and adds noise of a standard deviation.
func see(r *rand.Rand, x, matrix *mat.Dense, deviation float64) View {
	var y mat.Dense
	y.Mul(x, matrix)
	rows, cols := y.Dims()
	y.Add(&y, normal(r, rows, cols, deviation))
	return View{R: matrix, Y: &y, Variance: deviation * deviation}
}

func recovered(t *testing.T, truth *mat.Dense, guess *mat.Dense, err error) Recovery {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	out, err := Compare(truth, guess, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMinimumNormMissesWhatIsNotThere: the error is 1 − k/d for independent columns, and zero from
// k = d on.
func TestMinimumNormMissesWhatIsNotThere(t *testing.T) {
	r := source(1)
	x := normal(r, 200, 100, 1)
	for _, k := range []int{20, 50, 80, 100, 150} {
		guess, err := see(r, x, signs(r, 100, k), 0).MinimumNorm()
		got := recovered(t, x, guess, err)
		if want := math.Max(0, 1-float64(k)/100); math.Abs(got.Error-want) > 0.02 {
			t.Errorf("k = %d: error %.3f, want %.3f", k, got.Error, want)
		}
	}
}

// TestMinimumNormOfEqualRows: if two columns have the same row of R, half of the variance of each
// is recovered; the others are recovered exactly.
func TestMinimumNormOfEqualRows(t *testing.T) {
	r := source(11)
	x, matrix := normal(r, 300, 10, 1), signs(r, 10, 40)
	matrix.SetRow(7, mat.Row(nil, 3, matrix))
	guess, err := see(r, x, matrix, 0).MinimumNorm()
	got := recovered(t, x, guess, err)
	for j, part := range got.RSquared {
		want := 1.0
		if j == 3 || j == 7 {
			want = 0.5
		}
		if math.Abs(part-want) > 0.1 {
			t.Errorf("column %d: %.3f of its variance, want %.1f", j, part, want)
		}
	}
	wide := signs(r, 10, 4)
	for j := range 10 {
		wide.Set(j, 2, 0) // a coordinate that no column reaches
	}
	guess, err = see(r, x, wide, 0).MinimumNorm()
	if got := recovered(t, x, guess, err); math.Abs(got.Error-0.7) > 0.1 {
		t.Errorf("three coordinates of ten: %.3f is missed, want 0.7", got.Error)
	}
}

// TestRidgeKnowsTheCovariance: records of 200 values are recovered from 20 numbers each if the data
// are known to have rank 10. Without this knowledge a tenth is recovered. Noise prevents the
// recovery.
func TestRidgeKnowsTheCovariance(t *testing.T) {
	r := source(2)
	basis := normal(r, 10, 200, 1)
	var x mat.Dense
	x.Mul(normal(r, 300, 10, 1), basis)
	var covariance mat.SymDense
	covariance.SymOuterK(1, basis.T())
	known := Knowledge{Mean: make([]float64, 200), Covariance: &covariance}
	matrix := signs(r, 200, 20)
	plain, err := see(r, &x, matrix, 0).MinimumNorm()
	if got := recovered(t, &x, plain, err).Error; got < 0.5 {
		t.Errorf("least norm misses %.3f only", got)
	}
	guess, err := see(r, &x, matrix, 0).Ridge(known)
	if got := recovered(t, &x, guess, err).Error; got > 0.01 {
		t.Errorf("with the covariance %.4f is missed, want at most 0.01", got)
	}
	noisy, err := see(r, &x, matrix, 100).Ridge(known)
	if got := recovered(t, &x, noisy, err).Error; got < 0.8 {
		t.Errorf("under noise %.3f only is missed", got)
	}
}

// TestPursuitFindsBooleanRecords: of records of 200 bits, ten of them ones, 80 numbers recover more
// than four in five exactly. Noise prevents it.
func TestPursuitFindsBooleanRecords(t *testing.T) {
	r := source(3)
	x := mat.NewDense(200, 200, nil)
	for i := range 200 {
		for _, j := range r.Perm(200)[:10] {
			x.Set(i, j, 1)
		}
	}
	known := Sparse{Most: 10, Boolean: true}
	matrix := normal(r, 200, 80, 1/math.Sqrt(80))
	guess, err := see(r, x, matrix, 0).Pursuit(context.Background(), known)
	got := recovered(t, x, guess, err)
	if got.Exact < 0.8 || got.Baseline != 0.95 {
		t.Errorf("%.3f of the records, baseline of values %.3f", got.Exact, got.Baseline)
	}
	noisy, err := see(r, x, matrix, 1).Pursuit(context.Background(), known)
	if got := recovered(t, x, noisy, err).Exact; got > 0.05 {
		t.Errorf("under noise %.3f of the records", got)
	}
}

// TestBoxFindsWholeValues: bits are recovered from fewer numbers than there are bits.
func TestBoxFindsWholeValues(t *testing.T) {
	r := source(4)
	x := mat.NewDense(50, 60, nil)
	ranges := make([]Range, 60)
	for j := range ranges {
		ranges[j] = Range{Low: 0, High: 1, Whole: true}
		for i := range 50 {
			x.Set(i, j, float64(r.IntN(2)))
		}
	}
	s := see(r, x, signs(r, 60, 45), 0)
	guess, err := s.Box(context.Background(), ranges)
	boxed := recovered(t, x, guess, err)
	plain, err := s.MinimumNorm()
	if boxed.Exact < 0.9 || recovered(t, x, plain, err).Exact > 0 {
		t.Errorf("%.3f of the records within bounds", boxed.Exact)
	}
}

// TestKnownPairs: as many records as columns determine R; half as many determine half of it.
func TestKnownPairs(t *testing.T) {
	r := source(5)
	matrix := signs(r, 100, 30)
	for _, c := range []struct {
		pairs int
		want  float64
	}{{100, 0}, {130, 0}, {50, 0.5}, {1, 0.99}} {
		x := normal(r, c.pairs, 100, 1)
		found, err := KnownPairs(x, see(r, x, matrix, 0).Y)
		if err != nil {
			t.Fatal(err)
		}
		var off mat.Dense
		off.Sub(found, matrix)
		if got := math.Pow(mat.Norm(&off, 2)/mat.Norm(matrix, 2), 2); math.Abs(got-c.want) > 0.05 {
			t.Errorf("%d pairs: %.3f of R is missed, want %.2f", c.pairs, got, c.want)
		}
	}
}

// TestComponents: non-Gaussian sources are recovered completely from as many sketched dimensions as
// sources. From half as many, one of them is recovered nearly.
func TestComponents(t *testing.T) {
	r := source(6)
	const m = 5000
	x := mat.NewDense(m, 4, nil)
	for i := range m {
		phase := 2 * math.Pi * float64(i) / 97
		x.SetRow(i, []float64{math.Sin(phase), float64(i%31)/31 - 0.5, r.ExpFloat64() - 1, 4 * (2*float64(r.IntN(2)) - 1)})
	}
	found, err := Components(context.Background(), see(r, x, normal(r, 4, 4, 0.5), 0).Y, r)
	if err != nil {
		t.Fatal(err)
	}
	matches, err := Matches(x, found)
	if err != nil {
		t.Fatal(err)
	}
	for j, got := range matches {
		if got < 0.99 {
			t.Errorf("column %d: correlation %.3f with a component", j, got)
		}
	}
	half, err := Components(context.Background(), see(r, x, normal(r, 4, 2, 0.7), 0).Y, r)
	if err != nil {
		t.Fatal(err)
	}
	if matches, err = Matches(x, half); err != nil || matches[3] < 0.9 {
		t.Errorf("the strong source from half the dimensions: %.3f, %v", matches[3], err)
	}
}

// TestLink: noisy copies are linked to their records; noise for a whole record prevents it.
func TestLink(t *testing.T) {
	r := source(7)
	x := normal(r, 500, 50, 1)
	var copies mat.Dense
	copies.Add(x, normal(r, 500, 50, 0.5))
	for _, c := range []struct {
		k           int
		deviation   float64
		least, most float64
	}{{10, 0, 0.6, 0.95}, {50, 0, 0.99, 1}, {50, 20, 0, 0.02}} {
		got, err := see(r, x, signs(r, 50, c.k), c.deviation).Link(context.Background(), &copies)
		if err != nil {
			t.Fatal(err)
		}
		if got.First < c.least || got.First > c.most || got.Ten < got.First || got.Chance != 1./500 {
			t.Errorf("k = %d, noise %g: %+v", c.k, c.deviation, got)
		}
	}
}

// TestFilter: an outlier of twenty standard deviations stands out of a column's sketch with half as
// many numbers as records.
func TestFilter(t *testing.T) {
	r := source(8)
	const n, k = 1000, 500
	x := normal(r, n, 1, 1)
	x.Set(17, 0, 20)
	rows := signs(r, n, k)
	var u mat.Dense
	u.Mul(rows.T(), x)
	found, err := Filter(rows, &u)
	if err != nil {
		t.Fatal(err)
	}
	spread := FilterError(mat.Col(nil, 0, &u))
	if z := found.At(17, 0) / spread; z < 9 {
		t.Errorf("the outlier stands out by %.1f", z)
	}
	beyond := 0
	for i := range n {
		if math.Abs(found.At(i, 0)) > 6*spread {
			beyond++
		}
	}
	if beyond != 1 {
		t.Errorf("%d records stand out", beyond)
	}
}

func TestRefused(t *testing.T) {
	r := source(9)
	x, matrix := normal(r, 5, 4, 1), signs(r, 4, 3)
	s := see(r, x, matrix, 0)
	for name, run := range map[string]func() error{
		"empty":           func() error { _, err := (View{}).MinimumNorm(); return err },
		"shapes":          func() error { _, err := View{R: signs(r, 4, 2), Y: s.Y}.MinimumNorm(); return err },
		"variance":        func() error { _, err := View{R: matrix, Y: s.Y, Variance: math.NaN()}.MinimumNorm(); return err },
		"knowledge":       func() error { _, err := s.Ridge(Knowledge{}); return err },
		"too sparse":      func() error { _, err := s.Pursuit(context.Background(), Sparse{}); return err },
		"ranges":          func() error { _, err := s.Box(context.Background(), nil); return err },
		"no pairs":        func() error { _, err := KnownPairs(&mat.Dense{}, &mat.Dense{}); return err },
		"unequal pairs":   func() error { _, err := KnownPairs(x, signs(r, 4, 3)); return err },
		"zero pairs":      func() error { _, err := KnownPairs(mat.NewDense(2, 2, nil), mat.NewDense(2, 2, nil)); return err },
		"equal sketches":  func() error { _, err := Components(context.Background(), mat.NewDense(5, 2, nil), r); return err },
		"rows":            func() error { _, err := Matches(x, mat.NewDense(2, 2, nil)); return err },
		"copies":          func() error { _, err := s.Link(context.Background(), signs(r, 4, 4)); return err },
		"rows of R":       func() error { _, err := Filter(signs(r, 4, 2), x); return err },
		"shape of guess":  func() error { _, err := Compare(x, matrix, 0); return err },
		"cancelled links": func() error { _, err := s.Link(cancelled(), x); return err },
	} {
		if run() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
