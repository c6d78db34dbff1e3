package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestMeansApart: if means come from a sketch of sums only, their interval for people like these
// takes the spread of values from the sketch that has products.
func TestMeansApart(t *testing.T) {
	const terms = `partition: horizontal
records: {id: [patient], missing: count}
columns:
  - {name: age, kind: numeric, centre: 50, spread: 20}
  - {name: pressure, kind: numeric, bounds: [0, 300]}
sketches:
  - {side: moments, products: false, clip: own, standardise: own, share: 1}
  - {side: moments, clip: own, standardise: own, fourth: true, share: 2}
privacy: {unit: record, mechanism: gaussian, epsilon: 16, delta: 1e-6}
analyses: [{kind: mean}, {kind: covariance}]
`
	const n, sd = 3000, 4.
	rng := rand.New(rand.NewPCG(16, 1))
	data, sum, present := files{}, [2]float64{}, [2]float64{}
	for _, name := range []string{"north", "south", "west"} {
		var f file
		for i := range n {
			row := []float64{47 + sd*rng.NormFloat64(), 130 + sd*rng.NormFloat64()}
			if i%10 == 0 {
				row[1] = math.NaN()
			}
			for c, x := range row {
				if !math.IsNaN(x) {
					sum[c], present[c] = sum[c]+x, present[c]+1
				}
			}
			f.ids, f.values = append(f.ids, fmt.Sprint(name, i)), append(f.values, row)
		}
		data[name] = f
	}
	result, _ := ship(t, parse(t, terms), 5, data).run(t)
	means := result.Analyses[0]
	if means.Sketch != 0 || result.Analyses[1].Sketch != 1 {
		t.Fatalf("means are of sketch %d, covariances of %d", means.Sketch, result.Analyses[1].Sketch)
	}
	for c, mean := range means.Means {
		covers(t, means.Features[c].Column, mean, sum[c]/present[c])
		own, people := *mean.High-*mean.Low, *mean.PopulationHigh-*mean.PopulationLow
		sampling := 2 * 1.96 * sd / math.Sqrt(present[c])
		if got := math.Sqrt(people*people - own*own); math.Abs(got/sampling-1) > 0.2 {
			t.Errorf("%s: sampling adds %g to an interval of %g, want %g", means.Features[c].Column, got, own, sampling)
		}
	}
}
