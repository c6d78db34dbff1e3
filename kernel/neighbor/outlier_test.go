package neighbor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Five points on a line, computed by hand from the paper's definitions with 2 neighbours.
func TestLocalOutlierFactorByHand(t *testing.T) {
	p := mat.NewDense(5, 1, []float64{0, 1, 2, 3, 10})
	g, err := Join(t.Context(), p, Options{Neighbors: 2})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int32{1, 2, 0, 2, 1, 3, 2, 1, 3, 2}; !slices.Equal(g.Index, want) {
		t.Fatalf("neighbours %v, want %v", g.Index, want)
	}
	if want := []float64{2, 1, 1, 2, 8}; !slices.Equal(g.FarthestDistance(), want) {
		t.Errorf("reach %v, want %v", g.FarthestDistance(), want)
	}
	// Mean reachability distances: 0: (max(1,1)+max(2,1))/2, 1: (max(1,2)+max(1,1))/2,
	// 2: (max(1,1)+max(1,2))/2, 3: (max(1,1)+max(2,1))/2, 4: (max(7,2)+max(8,1))/2.
	density := []float64{1 / 1.5, 1 / 1.5, 1 / 1.5, 1 / 1.5, 1 / 7.5}
	want := []float64{1, 1, 1, 1, density[3] / density[4]}
	scores, err := g.LocalOutlierFactor(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, score := range scores {
		if math.Abs(score-want[i]) > 1e-9 {
			t.Errorf("factor of point %d is %g, want %g", i, score, want[i])
		}
	}
}

// The factor's purpose: a point beside a dense cluster, with a thin cluster elsewhere, stands out
// by its factor, not by its distance.
func TestLocalOutlierFactorIsLocal(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	p := mat.NewDense(401, 2, nil)
	for i := range 400 {
		scale, offset := 0.01, 0.0
		if i >= 200 {
			scale, offset = 3, 50
		}
		p.SetRow(i, []float64{offset + scale*rng.NormFloat64(), scale * rng.NormFloat64()})
	}
	p.SetRow(400, []float64{0.3, 0})
	g, err := Join(t.Context(), p, Options{Neighbors: 20})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := g.LocalOutlierFactor(nil)
	if err != nil {
		t.Fatal(err)
	}
	reach := g.FarthestDistance()
	if slices.Max(scores) != scores[400] || scores[400] < 3 {
		t.Errorf("the factor of the point beside the dense cluster is %g, the largest %g", scores[400], slices.Max(scores))
	}
	if slices.Max(reach[200:400]) < reach[400] {
		t.Error("the point stands out by its distance alone: the test shows nothing")
	}
}

// Coinciding points have finite scores.
func TestScoresOfDuplicates(t *testing.T) {
	p := mat.NewDense(40, 1, nil)
	p.Set(39, 0, 1)
	g, err := Join(t.Context(), p, Options{Neighbors: 5})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := g.LocalOutlierFactor(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, score := range scores {
		if i < 39 && score != 1 || i == 39 && math.Abs(score/1e10-1) > 1e-6 {
			t.Errorf("factor of point %d is %g", i, score)
		}
	}
}
