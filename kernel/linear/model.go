package linear

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/room"
)

// Plane is a hyperplane: a point x is on its positive side if Weights·x + Bias is above 0.
type Plane struct {
	Weights []float64 // one per coordinate
	Bias    float64
}

// At returns Weights·x + Bias: the signed distance of x times the length of Weights.
func (p Plane) At(x []float64) float64 { return dot(p.Weights, x) + p.Bias }

// Scorer separates one class from the others: by one plane, or by planes that vote.
type Scorer struct {
	Planes []Plane
	Votes  []int // of each plane; nil if there is one plane, whose value is the score
	// Unfinished reports that training stopped at its maximum number of passes, before the plane
	// was within the tolerance of the best one.
	Unfinished bool
}

// Score is above 0 if the class is predicted. For planes that vote it is the balance of the votes,
// from -1 to 1.
func (s Scorer) Score(x []float64) float64 {
	if s.Votes == nil {
		return s.Planes[0].At(x)
	}
	var balance, all float64
	for i, p := range s.Planes {
		all += float64(s.Votes[i])
		switch at := p.At(x); {
		case at > 0:
			balance += float64(s.Votes[i])
		case at < 0:
			balance -= float64(s.Votes[i])
		}
	}
	return balance / all
}

// Model predicts classes.
type Model struct {
	Classes int
	Scorers []Scorer // one per class; for two classes a single one, of the second against the first
}

// Predict returns the class with the highest score for a point of dimension d; among equal scores,
// the first.
func (m Model) Predict(x []float64) int {
	if m.Classes == 2 {
		if m.Scorers[0].Score(x) > 0 {
			return 1
		}
		return 0
	}
	best, highest := 0, m.Scorers[0].Score(x)
	for class := 1; class < len(m.Scorers); class++ {
		if score := m.Scorers[class].Score(x); score > highest {
			best, highest = class, score
		}
	}
	return best
}

// margin is the score of a class minus the highest of the others. For two classes it is the one
// score, with the class's sign.
func (m Model) margin(x []float64, class int) float64 {
	if m.Classes == 2 {
		return float64(2*class-1) * m.Scorers[0].Score(x)
	}
	own, highest := m.Scorers[class].Score(x), math.Inf(-1)
	for other, s := range m.Scorers {
		if other != class {
			highest = max(highest, s.Score(x))
		}
	}
	return own - highest
}

// Trainer is a method for separating two classes: Perceptron, SVM or Ridge.
type Trainer interface {
	check() error
	train(ctx context.Context, tasks []task, done func()) ([]Scorer, error) // calls done after each task
}

// Train trains a model on all the data. It returns a DataError if there is nothing to learn from.
func Train(ctx context.Context, d Data, by Trainer) (Model, error) {
	if err := errors.Join(d.check(), by.check()); err != nil {
		return Model{}, fmt.Errorf("training a classifier: %w", err)
	}
	d.space = &scratch{}
	rows, err := room.Of[int](d.Room, len(d.Labels))
	if err != nil {
		return Model{}, fmt.Errorf("training a classifier: %w", err)
	}
	for i := range rows {
		rows[i] = i
	}
	m, err := train(ctx, d, rows, by, func() {})
	if err != nil {
		return Model{}, fmt.Errorf("training a classifier: %w", err)
	}
	return m, nil
}

// train trains on some points, and calls done after each class.
func train(ctx context.Context, d Data, rows []int, by Trainer, done func()) (Model, error) {
	scorers, err := by.train(ctx, d.tasks(rows), done)
	return Model{Classes: d.Classes, Scorers: scorers}, err
}

// each trains the tasks one by one.
func each(ctx context.Context, tasks []task, done func(), train func(context.Context, task) (Scorer, error)) (out []Scorer, err error) {
	for _, t := range tasks {
		s, err := train(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
		done()
	}
	return out, nil
}
