package decompose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/full"
)

// random is a symmetric n × n matrix with entries of standard deviation scale.
func random(rng *rand.Rand, n int, scale float64) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			a.SetSym(i, j, scale*rng.NormFloat64())
		}
	}
	return a
}

// eigenvalues come from gonum, ascending.
func eigenvalues(t *testing.T, a mat.Symmetric) []float64 {
	t.Helper()
	var e mat.EigenSym
	if !e.Factorize(a, false) {
		t.Fatal("gonum found no eigenvalues")
	}
	return e.Values(nil)
}

// The decomposition reproduces the matrix, with orthonormal vectors, whatever the size of its
// entries.
func TestSymmetricGivesTheMatrixBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, test := range []struct {
		n     int
		scale float64
	}{{1, 1}, {2, 1e-200}, {5, 1e200}, {40, 1}, {17, 1e-3}} {
		a := random(rng, test.n, test.scale)
		e, err := Symmetric(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		for i := range test.n {
			for j := range test.n {
				var sum, inner float64
				for l := range test.n {
					sum += e.Values[l] * e.Vectors[l][i] * e.Vectors[l][j]
					inner += e.Vectors[i][l] * e.Vectors[j][l]
				}
				want := 0.0
				if i == j {
					want = 1
				}
				if math.Abs(sum-a.At(i, j)) > 1e-12*float64(test.n)*test.scale || math.Abs(inner-want) > 1e-12 {
					t.Fatalf("n = %d: entry %d,%d is %g, want %g; vectors multiply to %g", test.n, i, j, sum, a.At(i, j), inner)
				}
			}
		}
	}
}

// Semidefinite: the squared distance moved is the sum of the squared negative eigenvalues, which is
// the least distance of any positive semidefinite matrix.
func TestSemidefiniteIsTheNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 7, 30} {
		a := random(rng, n, 3)
		r, err := Semidefinite(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		var negative int
		var square float64
		before := eigenvalues(t, a)
		for _, v := range before {
			if v < 0 {
				negative++
				square += v * v
			}
		}
		if r.Negative != negative || math.Abs(r.Moved-math.Sqrt(square)) > 1e-9 || math.Abs(r.Least-before[0]) > 1e-9 {
			t.Errorf("n = %d: %d negative, moved %g, least %g; want %d, %g, %g", n, r.Negative, r.Moved, r.Least, negative, math.Sqrt(square), before[0])
		}
		if least := eigenvalues(t, r.Matrix)[0]; least < -1e-10 {
			t.Errorf("n = %d: repaired, with eigenvalue %g", n, least)
		}
		if math.Abs(r.Norm-mat.Norm(a, 2)) > 1e-9 {
			t.Errorf("n = %d: norm %g, want %g", n, r.Norm, mat.Norm(a, 2))
		}
	}
}

// A matrix that needs no repair is unchanged, to the bit.
func TestNothingToRepair(t *testing.T) {
	a := mat.NewSymDense(3, []float64{1, 0.3, -0.2, 0.3, 1, 0.1, -0.2, 0.1, 1})
	for _, repair := range []func(context.Context, mat.Symmetric) (Repair, error){Semidefinite, Correlation} {
		r, err := repair(context.Background(), a)
		if err != nil || r.Negative != 0 || r.Moved != 0 || !mat.Equal(a, r.Matrix) {
			t.Errorf("moved by %g, %v", r.Moved, err)
		}
	}
	if r, err := Semidefinite(context.Background(), mat.NewSymDense(2, nil)); err != nil || r.Moved != 0 {
		t.Errorf("zero moved by %g, %v", r.Moved, err)
	}
}

// Higham's (2002) example: the nearest correlation matrix to that of a path of
// three ones.
func TestCorrelationOfHigham(t *testing.T) {
	r, err := Correlation(context.Background(), mat.NewSymDense(3, []float64{1, 1, 0, 1, 1, 1, 0, 1, 1}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		i, j int
		v    float64
	}{{0, 1, 0.7607}, {1, 2, 0.7607}, {0, 2, 0.1573}, {0, 0, 1}} {
		if got := r.Matrix.At(want.i, want.j); math.Abs(got-want.v) > 5e-5 {
			t.Errorf("entry %d,%d is %.4f, want %.4f", want.i, want.j, got, want.v)
		}
	}
	if math.Abs(r.Moved-0.5278) > 5e-5 {
		t.Errorf("moved %.4f, want 0.5278", r.Moved)
	}
}

// Whatever the entries, the result is a correlation matrix. It is no further away than plain
// clipping with the diagonal scaled.
func TestCorrelationIsOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{2, 10, 25} {
		a := random(rng, n, 0.6)
		for i := range n {
			for j := i; j < n; j++ {
				a.SetSym(i, j, math.Max(-1, math.Min(1, a.At(i, j))))
			}
		}
		r, err := Correlation(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		if least := eigenvalues(t, r.Matrix)[0]; least < -1e-9 {
			t.Errorf("n = %d: eigenvalue %g", n, least)
		}
		for i := range n {
			if r.Matrix.At(i, i) != 1 {
				t.Errorf("n = %d: diagonal %g", n, r.Matrix.At(i, i))
			}
		}
		ones(a)
		plain, err := Semidefinite(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		if simple := distance(a, scaled(plain.Matrix)); r.Moved > simple {
			t.Errorf("n = %d: moved %g, clipping and scaling moves %g", n, r.Moved, simple)
		}
	}
}

func TestRefusesAndStops(t *testing.T) {
	if _, err := Semidefinite(context.Background(), mat.NewSymDense(MaxDim+1, nil)); err == nil {
		t.Error("a matrix that is too large")
	}
	nan := mat.NewSymDense(2, []float64{1, math.NaN(), math.NaN(), 1})
	if _, err := Correlation(context.Background(), nan); err == nil {
		t.Error("an entry that is no number")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Correlation(ctx, random(rand.New(rand.NewPCG(1, 4)), 9, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func BenchmarkCorrelation(b *testing.B) {
	a := random(rand.New(rand.NewPCG(1, 5)), MaxDim, 0.2)
	for b.Loop() {
		if _, err := Correlation(context.Background(), a); err != nil {
			b.Fatal(err)
		}
	}
}

// The decomposition is correct for sizes with and without parallel work, for repeated eigenvalues
// and for matrices that split into blocks. It is the same for any number of processors.
func TestSymmetricDecomposes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	repeated := func(n int) *mat.SymDense { // I + 1·1ᵀ: eigenvalue 1, n − 1 times
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				a.SetSym(i, j, 1)
			}
			a.SetSym(i, i, 2)
		}
		return a
	}
	blocks := random(rng, 60, 1)
	for i := range 30 {
		for j := 30; j < 60; j++ {
			blocks.SetSym(i, j, 0)
		}
	}
	for name, a := range map[string]*mat.SymDense{
		"one": random(rng, 1, 1), "two": random(rng, 2, 1e200), "small": random(rng, 5, 1e-200), "large": random(rng, 150, 1),
		"repeated": repeated(40), "diagonal": mat.NewSymDense(3, []float64{3, 0, 0, 0, -1, 0, 0, 0, 2}), "blocks": blocks, "zero": mat.NewSymDense(4, nil),
	} {
		n := a.SymmetricDim()
		e, err := Symmetric(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		scale := math.Max(math.Abs(e.Values[0]), math.Abs(e.Values[n-1])) + 1e-300
		for i, v := range e.Vectors {
			if i > 0 && e.Values[i] > e.Values[i-1] {
				t.Errorf("%s: values are not in order", name)
			}
			for j, w := range e.Vectors {
				want := 0.0
				if i == j {
					want = 1
				}
				if got := dot(v, w); math.Abs(got-want) > 1e-12 {
					t.Errorf("%s: vectors %d and %d have product %g", name, i, j, got)
				}
			}
			for r := range n {
				if got := dot(mat.Row(nil, r, a), v); math.Abs(got-e.Values[i]*v[r]) > 1e-12*scale {
					t.Errorf("%s: vector %d is not one: %g instead of %g", name, i, got, e.Values[i]*v[r])
				}
			}
		}
		before := runtime.GOMAXPROCS(1)
		again, err := Symmetric(context.Background(), a)
		runtime.GOMAXPROCS(before)
		if err != nil || !reflect.DeepEqual(e, again) {
			t.Errorf("%s: one processor alone finds another result: %v", name, err)
		}
	}
}

// sketched are the correlations of n columns whose sketch has k rows: a matrix of rank k. If
// graded, columns have very different sizes beforehand.
func sketched(rng *rand.Rand, n, k int, graded bool) *mat.SymDense {
	x := mat.NewDense(n, k, nil)
	for i := range n {
		for j := range k {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	var a mat.SymDense
	a.SymOuterK(1, x)
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := a.At(i, j) / math.Sqrt(a.At(i, i)*a.At(j, j))
			if i == j {
				v = 1
			}
			if graded {
				v *= math.Exp2(-float64(20*i/n) - float64(20*j/n))
			}
			out.SetSym(i, j, v)
		}
	}
	return out
}

// Matrices of low rank are decomposed as accurately as others: residuals, orthogonality and values
// are within the rounding of the whole matrix, and repairs leave them unchanged.
func TestMatricesOfLowRank(t *testing.T) {
	full.Statistical(t)
	rng := rand.New(rand.NewPCG(8, 3))
	for _, test := range []struct {
		n, k   int
		graded bool
	}{
		{100, 1, false}, {100, 13, false}, {150, 75, false}, {200, 20, false}, {200, 100, true}, {300, 64, false}, {300, 64, true}, {300, 150, false}, {400, 50, false}, {400, 200, false},
	} {
		name := fmt.Sprintf("n = %d, rank %d, graded %v", test.n, test.k, test.graded)
		a := sketched(rng, test.n, test.k, test.graded)
		e, err := Symmetric(context.Background(), a)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n, norm := test.n, e.Values[0]
		for i, want := range eigenvalues(t, a) {
			if got := e.Values[n-1-i]; math.Abs(got-want) > 1e-14*float64(n)*norm {
				t.Errorf("%s: value %d is %g, gonum's is %g", name, n-1-i, got, want)
			}
		}
		if v := e.Values[test.k]; math.Abs(v) > 1e-14*float64(n)*norm {
			t.Errorf("%s: value %d is %g", name, test.k, v)
		}
		q := mat.NewDense(n, n, nil)
		for i, v := range e.Vectors {
			q.SetRow(i, v)
		}
		var inner, left, right mat.Dense
		inner.Mul(q, q.T())
		left.Mul(q, a)
		right.Mul(mat.NewDiagDense(n, e.Values), q)
		left.Sub(&left, &right)
		for i := range n {
			inner.Set(i, i, inner.At(i, i)-1)
		}
		if off := mat.Max(&inner) - mat.Min(&inner); off > 1e-14*float64(n) {
			t.Errorf("%s: vectors are %g from orthonormal", name, off)
		}
		if off := mat.Max(&left) - mat.Min(&left); off > 1e-14*float64(n)*norm {
			t.Errorf("%s: residual %g", name, off)
		}
		for what, nearest := range map[string]func(context.Context, mat.Symmetric) (Repair, error){"semidefinite": Semidefinite, "correlation": Correlation} {
			if test.graded && what == "correlation" {
				continue
			}
			r, err := nearest(context.Background(), a)
			if err != nil {
				t.Errorf("%s: %s: %v", name, what, err)
			} else if r.Negative != 0 || r.Moved > 1e-14*float64(n)*norm {
				t.Errorf("%s: %s finds %d values below zero and moves it by %g", name, what, r.Negative, r.Moved)
			}
		}
	}
}

// A matrix of low rank with errors has negative eigenvalues, and is repaired too.
func TestRepairOfLowRankWithErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	const n = 200
	a := sketched(rng, n, 40, false)
	for i := range n {
		for j := range i {
			if rng.IntN(50) == 0 {
				a.SetSym(i, j, a.At(i, j)+0.2*rng.NormFloat64())
			}
		}
	}
	for what, nearest := range map[string]func(context.Context, mat.Symmetric) (Repair, error){"semidefinite": Semidefinite, "correlation": Correlation} {
		r, err := nearest(context.Background(), a)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		values := eigenvalues(t, r.Matrix)
		if r.Negative < 10 || values[0] < -1e-7*values[n-1] {
			t.Errorf("%s: %d values below zero, and afterwards the least is %g", what, r.Negative, values[0])
		}
	}
}

func BenchmarkSymmetric(b *testing.B) {
	rng := rand.New(rand.NewPCG(8, 2))
	for _, n := range []int{200, 500, 1000, MaxEigen} {
		a := random(rng, n, 1)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := Symmetric(context.Background(), a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
