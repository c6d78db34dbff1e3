package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The stated probability that an estimate is undefined is the frequency among draws: correlations
// of sums whose variances are 4 to 8 standard errors.
func TestStandingsAreTrue(t *testing.T) {
	const records, draws = 1000, 4000
	rng := rand.New(rand.NewPCG(9, 1))
	for _, signal := range []float64{3, 4, 5, 6} {
		noise := MomentNoise{Square: records * records / signal / signal, Product: records * records / signal / signal / 2, Sum: 1}
		build := func(draw func() float64) *Summed {
			second := mat.NewSymDense(2, nil)
			for i := range 2 {
				second.SetSym(i, i, records+draw()*math.Sqrt(noise.Square))
			}
			s, err := NewSummed(SummedOf{Records: records, Second: second, Sums: []float64{0, 0}, Noise: noise})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		expected, kept := build(func() float64 { return 0 }), 1.0
		for i := range 2 {
			kept *= 1 - expected.Standing(i).Lost(1)
		}
		lost := 0.0
		for range draws {
			if !build(rng.NormFloat64).Correlation(0, 1, 0).Defined() {
				lost++
			}
		}
		if want := 1 - kept; math.Abs(lost/draws-want) > 5*math.Sqrt(want*(1-want)/draws)+1e-3 {
			t.Errorf("variances of %g errors: %.3f are lost, forecast %.3f", signal, lost/draws, want)
		}
		if twice := expected.Standing(0).Lost(2); !(twice > expected.Standing(0).Lost(1)) {
			t.Errorf("twice the noise loses %g", twice)
		}
	}
}
