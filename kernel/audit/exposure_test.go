package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

func sparse(k, s int) projection.Spec {
	return projection.Spec{Family: projection.Sparse, K: k, S: s}
}

func signs(k int) projection.Spec { return projection.Spec{Family: projection.Rademacher, K: k} }

func mustExpose(t *testing.T, shape Shape) Exposure {
	t.Helper()
	e, err := Expose(shape)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRule(t *testing.T) {
	columns := func(p projection.Spec, records, functions int) Shape {
		return Shape{Side: sketch.Columns, Projection: p, Records: records, Functions: functions}
	}
	records := func(p projection.Spec, d int) Shape {
		return Shape{Side: sketch.Records, Projection: p, Columns: d}
	}
	for _, test := range []struct {
		shape  Shape
		reason string // empty: acceptable
	}{
		{columns(signs(100), 1000, 0), ""},
		{columns(signs(101), 1000, 0), "a tenth of 1000 records"},
		{columns(signs(50), 1000, 2), ""},
		{columns(signs(51), 1000, 2), "2 sketched functions"},
		{columns(sparse(50, 1), 1000, 1), ""},
		{columns(sparse(51, 1), 1000, 1), "fewer than 20 records per coordinate"},
		{columns(projection.Spec{Family: projection.Identity, K: 1000}, 1000, 1), "a tenth"},
		{records(signs(10), 100), ""},
		{records(sparse(10, 2), 100), ""},
		{records(signs(11), 100), "a tenth of 100 columns"},
		{records(projection.Spec{Family: projection.Identity, K: 30}, 30), "a tenth"},
		{columns(projection.Spec{Family: projection.Achlioptas, K: 100}, 1000, 0), ""},
		{columns(projection.Spec{Family: projection.Gaussian, K: 101}, 1000, 0), "a tenth of 1000 records"},
		{records(projection.Spec{Family: projection.Hadamard, K: 10}, 100), ""},
		{records(projection.Spec{Family: projection.Hadamard, K: 32}, 30), "a tenth"},
		{Shape{Side: sketch.Records, Projection: signs(10), Columns: 100, Attributes: 99}, "a tenth of 99 columns"},
		{Shape{Side: sketch.Records, Projection: signs(1), Columns: 100, Attributes: 50, Discrete: true}, "binary and categorical"},
		{Shape{Side: sketch.Columns, Projection: signs(1), Records: 1000, Discrete: true}, "binary and categorical"},
		{Shape{Side: sketch.Moments, Projection: projection.Spec{Family: projection.Identity, K: 1}, Records: 1_000_000, Columns: 1}, "between two releases"},
		{Shape{Side: sketch.Cells, Projection: signs(1), Records: 1_000_000, Columns: 1}, "a single record"},
		{Shape{Side: sketch.Codes, Projection: signs(2), Records: 1_000_000, Columns: 1}, "a single record"},
	} {
		ok, reason := mustExpose(t, test.shape).Acceptable()
		if ok != (test.reason == "") || ok != (reason == "") || !strings.Contains(reason, test.reason) {
			t.Errorf("%v of %d records, %d columns: %v, %q, want %q",
				test.shape.Projection, test.shape.Records, test.shape.Columns, ok, reason, test.reason)
		}
	}
}

func TestExposeRefuses(t *testing.T) {
	for _, test := range []struct {
		shape Shape
		want  string
	}{
		{Shape{Side: sketch.Columns, Projection: signs(1)}, "0 records"},
		{Shape{Side: sketch.Columns, Projection: signs(1), Records: 5, Functions: -1}, "-1 functions"},
		{Shape{Side: sketch.Records, Projection: signs(1)}, "0 columns"},
		{Shape{Projection: signs(1), Records: 1}, "unknown side"},
		{Shape{Side: sketch.Columns, Records: 5}, "unknown projection family"},
		{Shape{Side: sketch.Columns, Projection: signs(0), Records: 5}, "k must be between 1"},
		{Shape{Side: sketch.Columns, Projection: sparse(4, 5), Records: 5}, "s must"},
	} {
		if _, err := Expose(test.shape); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}

// Known values for 569 records, then a simulation of each s.
func TestShareAlone(t *testing.T) {
	for k, want := range map[int]float64{256: 0.11, 512: 0.33, 8192: 0.93} {
		got := mustExpose(t, Shape{Side: sketch.Columns, Projection: sparse(k, 1), Records: 569}).Alone
		if math.Abs(got-want) > 0.005 {
			t.Errorf("k = %d: %.3f of the records alone, want %.2f", k, got, want)
		}
	}
	const records, k, trials = 300, 256, 200
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range []int{1, 2, 4} {
		alone := 0
		for range trials {
			loads := make([]int, k)
			places := make([][]int, records)
			for i := range places {
				for block := range s {
					place := block*k/s + rng.IntN(k/s)
					places[i] = append(places[i], place)
					loads[place]++
				}
			}
			for _, own := range places {
				for _, place := range own {
					if loads[place] == 1 {
						alone++
						break
					}
				}
			}
		}
		got := float64(alone) / (records * trials)
		want := mustExpose(t, Shape{Side: sketch.Columns, Projection: sparse(k, s), Records: records}).Alone
		// 60,000 records, weakly dependent. The tolerance is 5 standard errors or more.
		if math.Abs(got-want) > 0.012 {
			t.Errorf("s = %d: %.4f of the records alone, expected %.4f", s, got, want)
		}
	}
}

// An attacker who knows R solves R·x = u by least squares of least norm. This recovers the share
// k/m of the variance, here within .03 on the average of 40 matrices (standard error below .005).
func TestLeastSquaresRecoversTheShare(t *testing.T) {
	const records, trials = 120, 40
	rng := rand.New(rand.NewPCG(3, 4))
	for _, k := range []int{12, 40, 90} {
		var recovered float64
		for range trials {
			r := mat.NewDense(k, records, nil)
			x := mat.NewVecDense(records, nil)
			for j := range records {
				x.SetVec(j, rng.NormFloat64())
				for i := range k {
					r.Set(i, j, float64(1-2*rng.IntN(2)))
				}
			}
			var u, guess, miss mat.VecDense
			u.MulVec(r, x)
			if err := guess.SolveVec(r, &u); err != nil {
				t.Fatal(err)
			}
			miss.SubVec(x, &guess)
			recovered += (1 - mat.Dot(&miss, &miss)/mat.Dot(x, x)) / trials
		}
		want := mustExpose(t, Shape{Side: sketch.Columns, Projection: signs(k), Records: records}).RSquared
		t.Logf("k = %d: R² = %.3f, stated %.3f", k, recovered, want)
		if math.Abs(recovered-want) > 0.03 {
			t.Errorf("k = %d: least squares recovers R² = %.3f, stated %.3f", k, recovered, want)
		}
	}
}

func ExampleExpose() {
	e, err := Expose(Shape{
		Side:       sketch.Columns,
		Projection: projection.Spec{Family: projection.Sparse, K: 256, S: 1},
		Records:    569,
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(e)
	fmt.Println(e.Acceptable())
	// Output:
	// columns sketch, sparse k=256 s=1, of 569 records: releases 0.45 numbers for each number held; whoever knows R recovers about 45 % of the variance, and reads 11 % of the records as they are
	// false k = 256 with 1 sketched functions of each column is more than a tenth of 569 records
}

// A projection to at least as many coordinates as there are values to hide is flagged, whatever the
// rule says of narrower ones.
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		shape Shape
		want  string
	}{
		{Shape{Side: sketch.Records, Projection: signs(32), Columns: 32}, "k = 32 is at least the number of values of a record, 32"},
		{Shape{Side: sketch.Records, Projection: sparse(64, 1), Columns: 32}, "can be inverted"},
		{Shape{Side: sketch.Records, Projection: projection.Spec{Family: projection.Identity, K: 3}, Columns: 3}, "the sketch is the data: 3 values"},
		{Shape{Side: sketch.Records, Projection: signs(31), Columns: 32}, ""},
		{Shape{Side: sketch.Columns, Projection: signs(500), Records: 500, Columns: 2}, "k = 500 is at least the number of records, 500"},
		{Shape{Side: sketch.Columns, Projection: signs(499), Records: 500, Columns: 2}, ""},
		{Shape{Side: sketch.Moments, Projection: signs(5), Records: 2, Columns: 5}, ""},
	} {
		e, err := Expose(c.shape)
		if err != nil {
			t.Fatal(err)
		}
		flags := e.Flags()
		if e.Invertible() != (c.want != "") || len(flags) > 1 || (len(flags) == 1) != (c.want != "") || c.want != "" && !strings.Contains(flags[0], c.want) {
			t.Errorf("%+v: %q, want %q", c.shape, flags, c.want)
		}
	}
}
