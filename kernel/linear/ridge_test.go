package linear

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestNormalEquations: the gradient of the objective vanishes, for the bias too, for the primal and
// the dual, and for targets that are not ±1.
func TestNormalEquations(t *testing.T) {
	for _, c := range []struct {
		n, d    int
		penalty float64
		other   float64
	}{{700, 5, 1, 0}, {700, 5, 1e-3, 0.2}, {20, 60, 1, 0}, {20, 60, 10, 0.1}, {30, 30, 0.5, 0}} {
		d := overlapping(rand.New(rand.NewPCG(4, uint64(c.n))), c.n, c.d)
		d.Noise.Other = c.other
		one := task{d, all(c.n), 1}
		s, err := Ridge{Penalty: c.penalty}.train(context.Background(), []task{one}, func() {})
		if err != nil {
			t.Fatal(err)
		}
		p := s[0].Planes[0]
		gradient, bias := make([]float64, c.d), 0.0
		for j, w := range p.Weights {
			gradient[j] = c.penalty * w
		}
		for i := range one.rows {
			residual := p.At(one.point(i)) - one.target(i)
			add(gradient, residual, one.point(i))
			bias += residual
		}
		for j, g := range gradient {
			if math.Abs(g) > 1e-8*float64(c.n) {
				t.Errorf("%+v: gradient %v at weight %d", c, g, j)
			}
		}
		if math.Abs(bias) > 1e-8*float64(c.n) {
			t.Errorf("%+v: gradient %v at the bias", c, bias)
		}
	}
}

func TestRidgeIsBounded(t *testing.T) {
	d := overlapping(rand.New(rand.NewPCG(4, 4)), mostEquations+1, 1)
	wide := task{d, all(len(d.Labels)), 1}
	if _, err := (Ridge{}).train(context.Background(), []task{wide}, func() {}); err != nil {
		t.Errorf("many records of one feature: %v", err)
	}
	var unfit *DataError
	wide.Points = mat.NewDense(1, mostEquations+1, nil) // refused before any row is read
	if _, err := (Ridge{}).train(context.Background(), []task{wide}, func() {}); !errors.As(err, &unfit) {
		t.Errorf("too large a system: %v", err)
	}
}

// TestTargetsAreUnbiased sums over the possible outcomes of a randomised label.
func TestTargetsAreUnbiased(t *testing.T) {
	for _, classes := range []int{2, 3, 7} {
		p := 0.4 / float64(classes)
		for truth := range classes {
			for class := range classes {
				mean := 0.0
				for out := range classes {
					probability := p
					if out == truth {
						probability = 1 - float64(classes-1)*p
					}
					one := task{Data{Labels: []int{out}, Classes: classes, Noise: Randomised{p}}, []int{0}, class}
					mean += probability * one.target(0)
				}
				want := -1.0
				if truth == class {
					want = 1
				}
				if math.Abs(mean-want) > 1e-12 {
					t.Errorf("%d classes, class %d of true %d: mean target %v", classes, class, truth, mean)
				}
			}
		}
	}
}

// Weights are 1-α and α as in the package comment, up to a common factor.
func TestWeightsOfNoisyLabels(t *testing.T) {
	for _, classes := range []int{2, 3, 7} {
		p := 0.4 / float64(classes)
		positive, negative := float64(classes-1)*p, p // rates at which labels flip
		alpha := (1 - positive + negative) / 2
		one := task{Data: Data{Classes: classes, Noise: Randomised{p}}}
		if got, want := one.weight(1)/one.weight(-1), (1-alpha)/alpha; math.Abs(got-want) > 1e-12 {
			t.Errorf("%d classes: weights in ratio %v, want %v", classes, got, want)
		}
	}
}
