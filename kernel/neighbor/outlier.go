package neighbor

import (
	"math"

	"github.com/cosketch/cosketch/kernel/room"
)

// FarthestDistance is the distance of each point of a graph to its farthest neighbour, not squared. A point
// far from all others has a high value.
func (g Graph) FarthestDistance() []float64 {
	out := make([]float64, g.Len())
	g.reach(out)
	return out
}

func (g Graph) reach(out []float64) {
	for i := range out {
		out[i] = math.Sqrt(g.Squared[(i+1)*g.Neighbors-1])
	}
}

// regular keeps the density of coinciding points finite. Breunig et al. leave it infinite;
// scikit-learn adds this to the mean of distances, and so do we.
const regular = 1e-10

// LocalOutlierFactor scores the points of a graph made by Join (Breunig et al. 2000, definitions 5
// to 7): the mean density of a point's neighbours over its own. The density is one over the mean of
// max(distance of the neighbour, the neighbour's own reach). The factor is about 1 inside a
// cluster, however dense that is; higher outside.
//
// Here a point has exactly Neighbors neighbours, those with lower indices if several are equally
// far; the definition includes all of these. Working space comes from the Giver; nil: memory.
func (g Graph) LocalOutlierFactor(from room.Allocator) ([]float64, error) {
	reach, err := room.Of[float64](from, g.Len())
	if err != nil {
		return nil, err
	}
	density, err := room.Of[float64](from, g.Len())
	if err != nil {
		return nil, err
	}
	g.reach(reach)
	for i := range density {
		index, squared := g.Of(i)
		var sum float64
		for j, other := range index {
			sum += math.Max(math.Sqrt(squared[j]), reach[other])
		}
		density[i] = 1 / (sum/float64(g.Neighbors) + regular)
	}
	out := reach // no longer needed
	for i := range out {
		index, _ := g.Of(i)
		var sum float64
		for _, other := range index {
			sum += density[other]
		}
		out[i] = sum / float64(g.Neighbors) / density[i]
	}
	return out, nil
}
