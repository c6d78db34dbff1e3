package cluster

import (
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
)

const suggestMost = 9

func suggest(t *testing.T, points *mat.Dense, v float64, seed uint64) Suggestion {
	t.Helper()
	s, err := Suggest(t.Context(), points, SuggestOptions{
		Most: suggestMost, Records: erring(points, v), Options: Options{Rand: source(seed), Workers: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func erring(points *mat.Dense, v float64) estimate.Records {
	_, d := points.Dims()
	return estimate.Records{K: d, Noise: estimate.Noise{Variance: v}, Identity: true}
}

// suggestTwice returns the suggestions if the noise is known to be v, and if it is taken to be
// zero, for the same groupings.
func suggestTwice(t *testing.T, points *mat.Dense, v float64, seed uint64) (knowing, raw Suggestion) {
	t.Helper()
	found, err := groupings(t.Context(), points, Options{Rand: source(seed), Workers: 2, Restarts: 5}.withDefaults(), suggestMost)
	if err != nil {
		t.Fatal(err)
	}
	if knowing, err = choose(points, found, erring(points, v)); err == nil {
		raw, err = choose(points, found, erring(points, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
	return knowing, raw
}

// Choosing among groupings gives the suggestion of Suggest.
func TestSuggestComparesGroupings(t *testing.T) {
	_, points := noised(source(53), 600, 8, 3, 6, 0.2, 1)
	knowing, raw := suggestTwice(t, points, 1, 4)
	for v, got := range []Suggestion{raw, knowing} {
		if want := suggest(t, points, float64(v), 4); !reflect.DeepEqual(got, want) {
			t.Errorf("noise %d: %+v, want %+v", v, got, want)
		}
	}
}

// Suggestions are right in at least 7 of 8 trials of each kind, with noise several times the spread
// within clusters. The raw index, which takes the noise for spread within clusters, is wrong in a
// third of all trials, so the test is not easy.
func TestSuggestFindsTheNumber(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation; others look at the workers")
	}
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
			knowing, raw := suggestTwice(t, points, test.v, 51)
			if knowing.Clusters == test.clusters {
				right++
			}
			if raw.Clusters != test.clusters {
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

// Nothing is suggested for points that only noise tells apart.
func TestSuggestNothing(t *testing.T) {
	rng := source(52)
	for trial := range 4 {
		_, points := noised(rng, 3000, 10, 1, 0, 0, 1)
		knowing, raw := suggestTwice(t, points, 1, uint64(trial))
		if knowing.Clusters != 0 || knowing.Undefined == "" {
			t.Errorf("%d clusters of noise: %v", knowing.Clusters, knowing.Index)
		}
		if raw.Clusters == 0 {
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
