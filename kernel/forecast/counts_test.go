package forecast_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
)

// Forecasts of counts match the errors of estimates from noisy counts: of the number of records of
// a cell, and of the rank of a median by a tree and by one table.
func TestCountsErrAsForecast(t *testing.T) {
	const records, trials = 15_000, 400
	noise := estimate.CountNoise{Variance: 90 * 90}
	c := forecast.Counts{Records: records, Noise: noise}
	rng := rand.New(rand.NewPCG(3, 9))
	noised := func(n float64) float64 { return n + 90*rng.NormFloat64() }
	uniform := func(bins int) []float64 {
		out := make([]float64, bins)
		for i := range out {
			out[i] = noised(records / float64(bins))
		}
		return out
	}
	var cell, tree, flat float64
	for range trials {
		table, err := estimate.NewCounted(uniform(12), 12, 1, noise, records, 0)
		if err != nil {
			t.Fatal(err)
		}
		off := table.Cell(5, 0).Interval.Estimate/(records/12) - 1
		cell += off * off / trials
		var levels [][]float64
		for l := range 8 {
			levels = append(levels, uniform(2<<l))
		}
		r, err := estimate.NewTree(levels, noise, estimate.Noisy{Value: records})
		if err != nil {
			t.Fatal(err)
		}
		edges := make([]float64, 257)
		for i := range edges {
			edges[i] = float64(i) / 256
		}
		e, _ := r.Quantile(0.37, edges, 0)
		tree += (e.Interval.Estimate - 0.37) * (e.Interval.Estimate - 0.37) / trials
		if r, err = estimate.NewBins(uniform(32), false, noise, records); err != nil {
			t.Fatal(err)
		}
		for i := range edges[:33] {
			edges[i] = float64(i) / 32
		}
		e, _ = r.Quantile(0.5, edges[:33], 0)
		flat += (e.Interval.Estimate - 0.5) * (e.Interval.Estimate - 0.5) / trials
	}
	for _, of := range []struct {
		name        string
		said, erred float64
	}{
		{"a cell", c.Cell(12).StandardError, math.Sqrt(cell)}, {"a rank by a tree", c.Rank(0.37, 8, 256, false).StandardError, math.Sqrt(tree)},
		{"a rank by one table", c.Rank(0.5, 0, 32, false).StandardError, math.Sqrt(flat)},
	} {
		t.Logf("%s: said %.4f, erred %.4f", of.name, of.said, of.erred)
		if of.said < 0.7*of.erred || of.said > 1.4*of.erred {
			t.Errorf("%s: said %.4f, erred %.4f", of.name, of.said, of.erred)
		}
	}
	if few := (forecast.Counts{Records: 30, Noise: noise}); few.Rank(0.5, 8, 256, true).HalfWidth < 1 || few.Cell(12).HalfWidth < 1 {
		t.Errorf("thirty records: %+v, %+v", few.Rank(0.5, 8, 256, true), few.Cell(12))
	}
}
