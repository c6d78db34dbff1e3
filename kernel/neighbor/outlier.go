package neighbor

import (
	"math"

	"github.com/cosketch/cosketch/kernel/room"
)

// Reach is how far each point of a graph has to go for its farthest neighbour: the
// distance itself, not squared. A point far from all others scores high.
func (g Graph) Reach() []float64 {
	out := make([]float64, g.Len())
	g.reach(out)
	return out
}

func (g Graph) reach(out []float64) {
	for i := range out {
		out[i] = math.Sqrt(g.Squared[(i+1)*g.Neighbors-1])
	}
}

// regular keeps the density of points that lie on each other finite. Breunig et al.
// leave it infinite; scikit-learn adds this to the mean of distances, and so do we.
const regular = 1e-10

// LocalOutlierFactor scores the points of a graph that Join made (Breunig et al. 2000,
// definitions 5 to 7): the mean density of a point's neighbours over its own. The
// density is one over the mean of max(distance of the neighbour, the neighbour's own
// reach). About 1 inside a cluster, however dense that is; higher outside.
//
// A point has exactly Neighbors neighbours here, the first by index where several are
// as far; in the definition all that are as far count. What is known of each point is put where
// there is room; nil: in memory.
func (g Graph) LocalOutlierFactor(from room.Giver) ([]float64, error) {
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
	out := reach // which is needed no more
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
