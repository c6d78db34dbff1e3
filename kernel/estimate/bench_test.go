package estimate

import (
	"math/rand/v2"
	"testing"
)

// The cost of one pair of an analysis for the aggregator: a study of 1,000 columns has half a
// million pairs.
func BenchmarkPair(b *testing.B) {
	rng := rand.New(rand.NewPCG(71, 1))
	parties := population(rng, 500, 0.1, false)
	columns, vs := stack(parties, true), variables(parties, true)
	sketch := gaussianSketch(rng, 256, columns)
	g := mustGram(b, sketch, addGaussian(rng, sketch, Noise{Variance: 0.01}))
	x, y := vs[0][0], vs[1][0]
	for name, estimate := range map[string]func(){
		"distance":    func() { g.SquaredDistance(Column(x.Value), Column(y.Value), 0) },
		"product":     func() { g.InnerProduct(Column(x.Value), Column(y.Value), 0) },
		"covariance":  func() { g.Covariance(x, y, 0) },
		"correlation": func() { g.CorrelationE2(x, y, 0) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				estimate()
			}
		})
	}
}
