package release_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
)

// TestMatrixMakesTheSketch: Matrix returns the R that the builder used, on both sides and in every
// family.
func TestMatrixMakesTheSketch(t *testing.T) {
	for _, entry := range []string{
		"{side: records, family: sparse, k: 8, s: 2}", "{side: records, family: hadamard, k: 3}", "{side: records, family: gaussian, k: 5}",
		"{side: records, family: identity}", "{side: columns, family: sparse, k: 8, s: 1}", "{side: columns, family: achlioptas, k: 6}",
	} {
		p := familyPlan(t, entry, releasetest.NoPromise)
		t.Run(string(p.Sketch().Side)+" "+p.Spec().String(), func(t *testing.T) {
			root := familySeed(3)
			ids := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
			values := make([]int64, len(ids)*p.Values)
			for i := range values {
				values[i] = int64(i*37%11 - 5)
			}
			b, err := p.NewBuilder(root, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Add(ids, values); err != nil {
				t.Fatal(err)
			}
			got := b.Exact().Sketch
			r, err := p.Matrix(root, ids)
			if err != nil {
				t.Fatal(err)
			}
			x := mat.NewDense(len(ids), p.Values, nil)
			for i, v := range values {
				x.RawMatrix().Data[i] = float64(v)
			}
			var want mat.Dense
			if p.Sketch().Side == sketch.Records {
				want.Mul(x, r)
			} else {
				want.Mul(r.T(), x)
			}
			rows, cols := want.Dims()
			if rows != got.Rows || cols != got.Cols {
				t.Fatalf("%d × %d, want %d × %d", got.Rows, got.Cols, rows, cols)
			}
			scale := p.Spec().Scale()
			for i, v := range got.Data {
				if w := want.RawMatrix().Data[i]; math.Abs(float64(v)*scale-w) > 1e-9*(1+math.Abs(w)) {
					t.Fatalf("entry %d: %v, want %v", i, float64(v)*scale, w)
				}
			}
		})
	}
}
