package analysis

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

// normalPairs returns an analysis whose numbers are normal around the truth, with a standard error
// of 1.
func normalPairs(rng *rand.Rand, truth []float64) Analysis {
	a := Analysis{Kind: study.InnerProduct, Level: 0.95, Features: make([]Feature, len(truth)+1)}
	for i, mean := range truth {
		x, deviation := mean+rng.NormFloat64(), 1.0
		low, high := x-1.959964*deviation, x+1.959964*deviation
		a.Pairs = append(a.Pairs, Pair{I: i, J: len(truth), Number: Number{Estimate: &x, StandardError: &deviation, Low: &low, High: &high}})
	}
	return a
}

// In at most 5 % of results something stands out that is truly 0, whatever else does. 4,000
// results: if the true rate is 5 %, a count above 270 has probability 3e-7.
func TestEvidenceHoldsTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	truth := make([]float64, 40) // half of them far from 0
	for i := range 20 {
		truth[i] = 8
	}
	wrong, found, single := 0, 0, 0
	const results = 4000
	for range results {
		a := normalPairs(rng, truth)
		e, ok := a.Evidence()
		if !ok || e.Of != 40 || e.Least {
			t.Fatalf("%+v %t", e, ok)
		}
		bad := false
		for _, p := range e.Pairs {
			if truth[p.I] == 0 {
				bad = true
			} else {
				found++
			}
		}
		if bad {
			wrong++
		}
		for _, p := range a.Pairs[20:] {
			if p.ExcludesZero() {
				single++
				break
			}
		}
	}
	if wrong > 270 {
		t.Errorf("in %d of %d results something stands out that is not there", wrong, results)
	}
	if single < results/2 {
		t.Errorf("each by itself only %d of %d have something that is not there: the test could not fail", single, results)
	}
	if share := float64(found) / (20 * results); share < 0.99 {
		t.Errorf("%.3f of what is there stands out", share)
	}
}

// The clearest come first. Pairs without a number or an answer still count as compared.
func TestEvidenceIsInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	a := normalPairs(rng, []float64{0, 30, -90, 60})
	a.Pairs[0].Number = Number{Undefined: "drowned"}
	e, ok := a.Evidence()
	if !ok || e.Of != 4 || len(e.Pairs) != 3 || e.Pairs[0].I != 2 || e.Pairs[1].I != 3 || e.Pairs[2].I != 1 {
		t.Errorf("%+v", e)
	}
	if _, ok := (Analysis{Kind: study.KMeans}).Evidence(); ok {
		t.Error("an analysis without pairs has evidence")
	}
	exact := 3.0
	n := Number{Estimate: &exact, StandardError: new(float64), Low: &exact, High: &exact}
	if c := n.chance(0.95); c != 0 || math.IsNaN(c) {
		t.Errorf("an exact number by chance: %v", c)
	}
}
