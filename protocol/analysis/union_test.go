package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// horizontal is the terms of a study in which all parties have the same columns of different
// records; each %s stands for the entries of sketches, the privacy or the analyses.
const horizontal = `partition: horizontal
records: {id: [patient]}
columns:
  - {name: height, kind: numeric, bounds: [100, 220]}
  - {name: pulse, kind: numeric, centre: 70, spread: 12}
sketches:
%s
privacy: %s
analyses: [%s]
`

// wards returns files of a horizontal study. Every party numbers its patients from 1, so equal ids
// are different people.
func wards(rng *rand.Rand, sizes ...int) files {
	out := files{}
	for i, name := range []string{"north", "south", "west"} {
		var f file
		for row := range sizes[i] {
			tall := rng.NormFloat64()
			f.add(fmt.Sprint(row+1), 160+15*tall, 70-7*tall+8*rng.NormFloat64())
		}
		out[name] = f
	}
	return out
}

// TestAddingIsPooling: the sum of the parties' sketches answers like the sketch of all their
// records; equal ids are different people.
func TestAddingIsPooling(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: columns, family: sparse, k: 32, s: 2, helpers: {ones: 0.5}}", noPromise, "{kind: inner-product}, {kind: distance}, {kind: correlation}"))
	data := wards(rand.New(rand.NewPCG(2, 1)), 40, 25, 60)
	for _, present := range []files{data, {"north": data["north"], "west": data["west"]}} {
		result, _ := ship(t, s, 3, present).run(t)
		pooled := make([][]float64, 2)
		for c := range pooled {
			pooled[c] = make([]float64, 32)
			for party, listed := range s.Parties {
				f := present[listed.Name]
				for i, v := range sketched(t, s, 3, party, 0, f, func(row int) float64 { return rounded(s, c, f.values[row][c]) }) {
					pooled[c][i] += v
				}
			}
		}
		xx, yy, xy := dot(pooled[0], pooled[0]), dot(pooled[1], pooled[1]), dot(pooled[0], pooled[1])
		products, distances := answer{t, result.Analyses[0]}, answer{t, result.Analyses[1]}
		closeTo(t, "inner product", products.estimate("height", "pulse"), xy)
		closeTo(t, "squared norm", products.estimate("pulse", "pulse"), yy)
		closeTo(t, "distance", distances.estimate("height", "pulse"), xx+yy-2*xy)
		if len(products.Features) != 2 || products.Features[0].Party != "" {
			t.Errorf("features of the union: %v", products.Features)
		}
		if p := (answer{t, result.Analyses[2]}).find("height", "pulse"); *p.Estimate >= 0 || *p.Low < -1 || *p.High > 1 {
			t.Errorf("correlation of the union: %v in [%v, %v]", *p.Estimate, *p.Low, *p.High)
		}
	}
}

// TestAddingTakesOffTheNoiseOfEveryParty averages the squared norm of the union's pulses, which are
// all 70 and so 0 around their centre. What is left after subtracting the noise has mean 0. The
// limit of 5 standard errors fails by chance with probability 6e-7; the seeds are fixed. Power: one
// party's noise more or less would be far outside.
func TestAddingTakesOffTheNoiseOfEveryParty(t *testing.T) {
	const seeds, k = 300, 64
	s := parse(t, fmt.Sprintf(horizontal, fmt.Sprintf("  - {side: columns, family: sparse, k: %d, helpers: {ones: 0}}", k),
		"{unit: attribute, mechanism: laplace, epsilon: 1}", "{kind: inner-product}"))
	all := files{}
	for _, name := range []string{"north", "south", "west"} {
		all[name] = file{ids: []string{"1"}, values: [][]float64{{100, 70}}}
	}
	two := files{"south": all["south"], "west": all["west"]}
	for _, present := range []files{all, two} {
		var mean, square float64
		for n := range seeds {
			result, _ := ship(t, s, n, present).run(t)
			p := answer{t, result.Analyses[0]}.find("pulse", "pulse")
			mean, square = mean+*p.Estimate/seeds, square+*p.Estimate**p.Estimate/seeds
		}
		se := math.Sqrt((square - mean*mean) / seeds)
		if math.Abs(mean) > 5*se {
			t.Errorf("%d parties: squared norm of nothing is %.3g on average, %.1f standard errors off", len(present), mean, mean/se)
		}
		const one = k * 2 * 2 * 2 // variance 2b² a coordinate, b = 2: a change of a centred value moves it by 2
		if one < 10*se {
			t.Errorf("%d parties: one party's noise, %d, would pass beside a standard error of %.3g", len(present), one, se)
		}
	}
}
