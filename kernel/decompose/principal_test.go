package decompose

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestPrincipal(t *testing.T) {
	a := random(rand.New(rand.NewPCG(1, 5)), 12, 1)
	values, vectors, err := Principal(context.Background(), a, 4)
	if err != nil {
		t.Fatal(err)
	}
	var reference mat.EigenSym
	if !reference.Factorize(a, true) {
		t.Fatal("no reference")
	}
	want := reference.Values(nil)
	for c, v := range values {
		if math.Abs(v-want[11-c]) > 1e-12*math.Abs(want[11]) {
			t.Errorf("eigenvalue %d is %v, want %v", c, v, want[11-c])
		}
		x, ax := vectors.ColView(c), mat.NewVecDense(12, nil)
		ax.MulVec(a, x)
		ax.AddScaledVec(ax, -v, x)
		if mat.Norm(ax, 2) > 1e-10 || math.Abs(mat.Norm(x, 2)-1) > 1e-12 {
			t.Errorf("eigenvector %d is off by %g", c, mat.Norm(ax, 2))
		}
		if mat.Max(x) < -mat.Min(x) {
			t.Errorf("eigenvector %d has its largest entry below zero", c)
		}
	}
	for _, q := range []int{0, 13} {
		if _, _, err := Principal(context.Background(), a, q); err == nil {
			t.Errorf("%d eigenvectors", q)
		}
	}
	if _, _, err := Principal(context.Background(), mat.NewSymDense(MaxDim+1, nil), 1); err == nil {
		t.Error("too large a matrix")
	}
}
