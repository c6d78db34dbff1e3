package linear

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// SVM is the linear support vector machine: it minimises |w|²/2 + C·Σ loss over the points. Here w
// includes the bias, as the weight of a coordinate that is 1 in every point. The loss of a point is
// how far it falls short of distance 1 on its side, or the square of that. C is Cost over the mean
// squared length of the points, that coordinate included, so that one Cost fits points of any
// scale; 1 is Joachims's choice in SVMlight.
//
// The dual is solved coordinate by coordinate in random order (Hsieh, Chang, Lin, Keerthi and
// Sundararajan 2008, algorithm 1), without their shrinking. It keeps three numbers per point.
type SVM struct {
	Cost      float64    // relative to the points' lengths. Default 1
	Squared   bool       // squared loss (their L2-SVM), else the hinge (L1-SVM)
	Tolerance float64    // stop when no two coordinates' projected gradients in a pass differ by more. Default 0.01
	Passes    int        // maximum number of passes over the points. Default 1000
	Rand      *rand.Rand // required: draws the order of the coordinates in each pass
}

func (s SVM) withDefaults() SVM {
	if s.Cost == 0 {
		s.Cost = 1
	}
	if s.Tolerance == 0 {
		s.Tolerance = 0.01
	}
	if s.Passes == 0 {
		s.Passes = 1000
	}
	return s
}

func (s SVM) check() error {
	switch {
	case !(s.Cost >= 0) || math.IsInf(s.Cost, 0):
		return fmt.Errorf("svm: cost %g: must be finite and at least 0 (0: default)", s.Cost)
	case !(s.Tolerance >= 0) || math.IsInf(s.Tolerance, 0):
		return fmt.Errorf("svm: tolerance %g: must be finite and at least 0 (0: default)", s.Tolerance)
	case s.Passes < 0:
		return fmt.Errorf("svm: %d passes: must be at least 0 (0: default)", s.Passes)
	case s.Rand == nil:
		return errors.New("svm: no source of randomness")
	}
	return nil
}

func (s SVM) train(ctx context.Context, tasks []task, done func()) ([]Scorer, error) {
	return each(ctx, tasks, done, func(ctx context.Context, t task) (Scorer, error) {
		found, err := s.solve(ctx, t)
		return Scorer{Planes: []Plane{found.plane}, Unfinished: !found.converged}, err
	})
}

// solution is a plane, with its dual variables as the certificate of optimality.
type solution struct {
	plane     Plane
	alpha     []float64 // dual variables, one per row
	cost      float64   // C
	converged bool
}

func (s SVM) solve(ctx context.Context, t task) (solution, error) {
	s = s.withDefaults()
	_, d := t.Points.Dims()
	w := Plane{Weights: make([]float64, d)}
	alpha, err := reuse(t.Room, &t.shared().alpha, len(t.rows), len(t.Labels))
	if err != nil {
		return solution{}, err
	}
	lengths, err := reuse(t.Room, &t.shared().lengths, len(t.rows), len(t.Labels))
	if err != nil {
		return solution{}, err
	}
	mean := 0.0
	for i := range lengths {
		lengths[i] = dot(t.point(i), t.point(i)) + 1
		mean += lengths[i] / float64(len(lengths))
	}
	s.Cost /= mean
	found := solution{alpha: alpha, cost: s.Cost}
	order, err := t.order()
	if err != nil {
		return solution{}, err
	}
	for range s.Passes {
		s.Rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		low, high := math.Inf(1), math.Inf(-1)
		if err := t.pass(ctx, order, func(i int, x []float64) {
			y := t.sign(i)
			upper, diagonal := s.box(t.weight(y))
			gradient := y*w.At(x) - 1 + diagonal*alpha[i]
			projected := gradient
			switch {
			case alpha[i] == 0:
				projected = min(gradient, 0)
			case alpha[i] == upper:
				projected = max(gradient, 0)
			}
			low, high = min(low, projected), max(high, projected)
			if projected == 0 {
				return
			}
			before := alpha[i]
			alpha[i] = min(max(before-gradient/(lengths[i]+diagonal), 0), upper)
			step := (alpha[i] - before) * y
			add(w.Weights, step, x)
			w.Bias += step
		}); err != nil {
			return solution{}, err
		}
		if found.converged = high-low <= s.Tolerance; found.converged {
			break
		}
	}
	found.plane = w
	return found, nil
}

// box returns the upper bound of a dual variable, and the loss's contribution to the diagonal.
func (s SVM) box(weight float64) (upper, diagonal float64) {
	if cost := s.Cost * weight; s.Squared {
		return math.Inf(1), 1 / (2 * cost)
	} else {
		return cost, 0
	}
}
