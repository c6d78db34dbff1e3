package linear

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Perceptron corrects a plane by each point on its wrong side.
//
// The voted one (Freund and Schapire 1999, figure 1) keeps every plane, with one vote for each
// point that it got right before its first error, and lets them vote. Memory is bounded: above
// MostPlanes, each two successive planes are merged. The one with more votes gets the votes of
// both. Up to MostPlanes it is exact.
type Perceptron struct {
	Epochs int        // passes over the points. Default 10
	Voted  bool       // let all planes vote; otherwise the last one decides
	Rand   *rand.Rand // required: draws the order of the points in each pass
}

// MostPlanes is the maximum number of planes that a voted perceptron keeps.
const MostPlanes = 512

func (p Perceptron) withDefaults() Perceptron {
	if p.Epochs == 0 {
		p.Epochs = 10
	}
	return p
}

func (p Perceptron) check() error {
	switch {
	case p.Epochs < 0:
		return fmt.Errorf("perceptron: %d epochs: must be at least 0 (0: default)", p.Epochs)
	case p.Rand == nil:
		return errors.New("perceptron: no source of randomness")
	}
	return nil
}

func (p Perceptron) train(ctx context.Context, tasks []task, done func()) ([]Scorer, error) {
	return each(ctx, tasks, done, p.one)
}

// one passes over the points, in a new order each time, until a pass has no error. The bias is the
// weight of a coordinate that is 1 in every point.
func (p Perceptron) one(ctx context.Context, t task) (Scorer, error) {
	p = p.withDefaults()
	_, d := t.Points.Dims()
	now := Plane{Weights: make([]float64, d)}
	var kept voters
	votes := 0
	order, err := t.order()
	if err != nil {
		return Scorer{}, err
	}
	for epoch := range p.Epochs {
		p.Rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		wrong := false
		if err := t.pass(ctx, order, func(i int, x []float64) {
			y := t.sign(i)
			if y*now.At(x) > 0 {
				votes++
				return
			}
			if p.Voted && votes > 0 {
				kept.add(now, votes)
			}
			wrong, votes = true, 1 // Freund and Schapire give a new plane its first vote immediately
			step := y * t.weight(y)
			add(now.Weights, step, x)
			now.Bias += step
		}); err != nil {
			return Scorer{}, err
		}
		if !wrong {
			votes += (p.Epochs - 1 - epoch) * len(order) // the remaining passes would have no error either
			break
		}
	}
	if !p.Voted {
		return Scorer{Planes: []Plane{now}}, nil
	}
	kept.add(now, votes)
	return Scorer{Planes: kept.planes, Votes: kept.votes}, nil
}

// voters are planes in order of creation, with their votes.
type voters struct {
	planes []Plane
	votes  []int
}

func (v *voters) add(p Plane, votes int) {
	if len(v.planes) == MostPlanes {
		v.merge()
	}
	v.planes = append(v.planes, Plane{slices.Clone(p.Weights), p.Bias})
	v.votes = append(v.votes, votes)
}

// merge merges each two neighbours.
func (v *voters) merge() {
	half := len(v.planes) / 2
	for i := range half {
		a, b := 2*i, 2*i+1
		if v.votes[b] > v.votes[a] {
			v.planes[a] = v.planes[b]
		}
		v.planes[i], v.votes[i] = v.planes[a], v.votes[a]+v.votes[b]
	}
	v.planes, v.votes = slices.Delete(v.planes, half, len(v.planes)), v.votes[:half]
}
