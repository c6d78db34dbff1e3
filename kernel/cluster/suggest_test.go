package cluster

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
)

func suggest(t *testing.T, points *mat.Dense, v float64, seed uint64) Suggestion {
	t.Helper()
	_, d := points.Dims()
	s, err := Suggest(t.Context(), points, SuggestOptions{
		Most: 9, Records: estimate.Records{K: d, Noise: estimate.Noise{Variance: v}, Identity: true}, Options: Options{Rand: source(seed), Workers: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Suggestions are right in at least 7 of 8 trials of each kind, where the noise is
// several times what there is within clusters. The raw index, which takes the noise for
// what is left there, is wrong in a third of all: the test is not an easy one.
func TestSuggestFindsTheNumber(t *testing.T) {
	wrong, all := 0, 0
	for _, test := range []struct {
		clusters         int
		apart, within, v float64
	}{
		{2, 5, 0.3, 1}, {4, 6, 0.2, 1}, {6, 7, 0.2, 1}, {7, 8, 0.1, 1},
	} {
		rng := source(50)
		right := 0
		const trials, n, d = 8, 3000, 16
		for range trials {
			_, points := noised(rng, n, d, test.clusters, test.apart, test.within, test.v)
			if suggest(t, points, test.v, 51).Clusters == test.clusters {
				right++
			}
			if suggest(t, points, 0, 51).Clusters != test.clusters {
				wrong++
			}
			all++
		}
		t.Logf("%+v: right %d of %d", test, right, trials)
		if right < 7 {
			t.Errorf("%+v: right in %d of %d trials", test, right, trials)
		}
	}
	t.Logf("raw: wrong %d of %d", wrong, all)
	if wrong < all/3 {
		t.Errorf("the raw index is wrong in only %d of %d: the test shows little", wrong, all)
	}
}

// Points that only noise tells apart suggest nothing.
func TestSuggestNothing(t *testing.T) {
	rng := source(52)
	for trial := range 4 {
		_, points := noised(rng, 3000, 10, 1, 0, 0, 1)
		if s := suggest(t, points, 1, uint64(trial)); s.Clusters != 0 || s.Undefined == "" {
			t.Errorf("%d clusters of noise: %v", s.Clusters, s.Index)
		}
		if s := suggest(t, points, 0, uint64(trial)); s.Clusters == 0 {
			t.Error("the same points without noise suggest nothing either")
		}
	}
	if s := suggest(t, mat.NewDense(5, 1, []float64{1, 2, 3, 4, 5}), 0, 1); s.Undefined == "" {
		t.Errorf("5 points suggest %d clusters", s.Clusters)
	}
}

// Three distinct points are three clusters.
func TestSuggestOfDistinctPoints(t *testing.T) {
	points := mat.NewDense(300, 1, nil)
	for i := range 300 {
		points.Set(i, 0, math.Exp(float64(i%3)))
	}
	if s := suggest(t, points, 0, 53); s.Clusters != 3 {
		t.Errorf("%d clusters, want 3: %v", s.Clusters, s.Index)
	}
}
