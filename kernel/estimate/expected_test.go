package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The expected standard error, before anything is sketched, is the observed error of sketches. With
// 2,000 draws the ratio of their RMSE to it is within 1 ± 1/√4000, so 8 % is five standard errors.
// Omitting the noise would miss by far more.
func TestExpectedDeviations(t *testing.T) {
	const records, k, draws = 300, 40, 2000
	rng := rand.New(rand.NewPCG(3, 1))
	x, y := make([]float64, records), make([]float64, records)
	for i := range records {
		x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	columns := [][]float64{x, y}
	products := mat.NewSymDense(2, []float64{dot(x, x), dot(x, y), dot(x, y), dot(y, y)})
	noise := []Noise{{Variance: 5}, {Variance: 8}}
	g, err := Expected(products, k, noise)
	if err != nil {
		t.Fatal(err)
	}
	forecasts := map[string]Estimate{
		"product":  g.InnerProduct(Column(0), Column(1), 0),
		"distance": g.SquaredDistance(Column(0), Column(1), 0),
		"norm":     g.SquaredNorm(Column(0), 0),
	}
	squares := map[string]float64{}
	for range draws {
		sketched := rademacher(rng, k, columns)
		for j := range sketched {
			for i := range sketched[j] {
				sketched[j][i] += math.Sqrt(noise[j].Variance) * rng.NormFloat64()
			}
		}
		drawn, err := fromReals(sketched, noise)
		if err != nil {
			t.Fatal(err)
		}
		for name, e := range map[string]Estimate{
			"product":  drawn.InnerProduct(Column(0), Column(1), 0),
			"distance": drawn.SquaredDistance(Column(0), Column(1), 0),
			"norm":     drawn.SquaredNorm(Column(0), 0),
		} {
			d := e.Interval.Estimate - forecasts[name].Interval.Estimate
			squares[name] += d * d / draws
		}
	}
	for name, want := range forecasts {
		if ratio := math.Sqrt(squares[name]) / want.StandardError; math.Abs(ratio-1) > 0.08 {
			t.Errorf("%s: RMSE over the expected deviation is %.3f", name, ratio)
		}
	}
}

func TestExpectedRefuses(t *testing.T) {
	one := mat.NewSymDense(1, []float64{1})
	for name, err := range map[string]error{
		"k":      second(Expected(one, 0, []Noise{{}})),
		"noises": second(Expected(one, 4, nil)),
		"noise":  second(Expected(one, 4, []Noise{{Variance: -1}})),
		"number": second(Expected(mat.NewSymDense(1, []float64{math.NaN()}), 4, []Noise{{}})),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func second(_ *Gram, err error) error { return err }
