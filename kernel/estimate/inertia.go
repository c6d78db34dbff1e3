package estimate

import (
	"fmt"
	"math"
)

// Clustering describes the clusters for Group.Inertia.
type Clustering struct {
	Clusters int // required: the number of non-empty clusters
	// Optimism is by how much labels that depend on the noise make the summed squared distances
	// smaller. Variance is the variance of its error. Zero if the labels do not depend on the
	// noise, or there is none.
	Optimism, Variance float64
}

// Inertia estimates the summed squared distance of records from the mean of their cluster. The
// group holds the differences of the sketches from the mean sketch of their cluster, W being the
// sum of their squares.
//
// If labels do not depend on the noise, it adds kv for each record and subtracts kv for each mean,
// which contains the noise of its records. So W − (n − clusters)kv is unbiased. Optimism is added
// to that. The interval is that of WithinDistance: Inertia is (n − clusters)/2 times its value for
// the differences.
func (g *Group) Inertia(c Clustering, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	n, k, noise := float64(g.size), float64(g.records.K), g.records.Noise
	free := n - float64(c.Clusters)
	if !(free > 0) {
		return undefined(fmt.Sprintf("%d clusters need more than %d records", c.Clusters, g.size))
	}
	v, factor := noise.Variance, 2*n/free
	m := meanDistance{
		raw: 2 * g.squares / free, bias: 2*float64(k*v) - 2*c.Optimism/free,
		noise: 4 * c.Variance / free / free, records: g.records,
	}
	if square := g.covariance(); square != nil {
		off := float64(v * (free/n - (1 - 1/float64(g.sample)))) // noise left in differences from means
		for i := range g.records.K {
			square[i*g.records.K+i] -= off
		}
		m.square = sumOfSquares(scaledVector(square, factor), g.records.K)
	}
	own := float64(8*float64(v*m.net()))/free + float64(k*(8*float64(v*v)/free+4*float64(noise.FourthCumulant*n)/free/free))
	m.noise += float64(own * g.records.within())
	e := m.estimate(level).Times(free / 2)
	if e.Defined() {
		e.Low = math.Max(e.Low, 0)
	}
	return e
}
