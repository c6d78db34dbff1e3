package linear

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// overlapping returns two classes that no plane separates.
func overlapping(rng *rand.Rand, n, d int) Data {
	out := Data{Points: mat.NewDense(n, d, nil), Classes: 2}
	for i := range n {
		label := 0
		if i%3 == 0 {
			label = 1
		}
		out.Labels = append(out.Labels, label)
		for j := range d {
			out.Points.Set(i, j, rng.NormFloat64()+0.7*float64(label))
		}
	}
	return out
}

// TestOptimality checks the conditions of Karush, Kuhn and Tucker. w is the sum of the points
// weighted by their dual variables. These are in their box. Each point's margin is above, at or
// below 1 if its variable is at 0, between, or at the upper bound. Primal and dual objective are
// equal.
func TestOptimality(t *testing.T) {
	for _, squared := range []bool{false, true} {
		for _, cost := range []float64{0.01, 1, 30} {
			rng := rand.New(rand.NewPCG(9, 9))
			d := overlapping(rng, 200, 5)
			task := task{d, all(200), 1}
			s := SVM{Cost: cost, Squared: squared, Tolerance: 1e-8, Passes: 200_000, Rand: rng}
			found, err := s.solve(context.Background(), task)
			if err != nil {
				t.Fatal(err)
			}
			if !found.converged {
				t.Fatalf("squared %v, cost %v: not converged", squared, cost)
			}
			w, alpha, cost := found.plane, found.alpha, found.cost
			s.Cost = cost
			sum := Plane{Weights: make([]float64, 5)}
			primal := (dot(w.Weights, w.Weights) + w.Bias*w.Bias) / 2
			dual := -primal
			for i, a := range alpha {
				y := task.sign(i)
				add(sum.Weights, a*y, task.point(i))
				sum.Bias += a * y
				margin := y * w.At(task.point(i))
				upper, diagonal := s.box(1)
				short := max(0, 1-margin)
				if squared {
					primal += cost * short * short
					dual += a - diagonal*a*a/2
				} else {
					primal += cost * short
					dual += a
				}
				const tolerance = 1e-6
				switch slack := margin - 1 + diagonal*a; {
				case a < 0 || a > upper:
					t.Fatalf("variable %v outside of 0 to %v", a, upper)
				case a == 0 && slack < -tolerance, a == upper && slack > tolerance, a > 0 && a < upper && math.Abs(slack) > tolerance:
					t.Errorf("squared %v, cost %v, point %d: variable %v of %v with slack %v", squared, cost, i, a, upper, slack)
				}
			}
			for j := range sum.Weights {
				if math.Abs(sum.Weights[j]-w.Weights[j]) > 1e-9*(1+cost) {
					t.Errorf("weight %d is %v, the sum %v", j, w.Weights[j], sum.Weights[j])
				}
			}
			if math.Abs(sum.Bias-w.Bias) > 1e-9*(1+cost) {
				t.Errorf("bias %v, the sum %v", w.Bias, sum.Bias)
			}
			if gap := (primal - dual) / primal; math.Abs(gap) > 1e-6 {
				t.Errorf("squared %v, cost %v: primal %v, dual %v", squared, cost, primal, dual)
			}
		}
	}
}

// TestNoPlaneIsBetter: at the default tolerance, no small change of the plane lowers the objective
// by more than a hundredth.
func TestNoPlaneIsBetter(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 8))
	d := overlapping(rng, 300, 4)
	task := task{d, all(300), 1}
	var cost float64
	objective := func(p Plane) float64 {
		sum := (dot(p.Weights, p.Weights) + p.Bias*p.Bias) / 2
		for i := range task.rows {
			sum += cost * max(0, 1-task.sign(i)*p.At(task.point(i)))
		}
		return sum
	}
	found, err := SVM{Rand: rng}.solve(context.Background(), task)
	if err != nil {
		t.Fatal(err)
	}
	best := found.plane
	cost = found.cost
	at := objective(best)
	for range 2000 {
		other := Plane{append([]float64(nil), best.Weights...), best.Bias + 0.1*rng.NormFloat64()}
		for j := range other.Weights {
			other.Weights[j] += 0.1 * rng.NormFloat64()
		}
		if objective(other) < at*(1-1e-2) {
			t.Fatalf("objective %v beside %v", objective(other), at)
		}
	}
}

// TestScaleDoesNotMatter: points in other units, including the bias's coordinate, have the same
// classes. Training that stops early reports it.
func TestScaleDoesNotMatter(t *testing.T) {
	d := overlapping(rand.New(rand.NewPCG(9, 7)), 300, 4)
	wide := Data{Points: mat.NewDense(300, 5, nil), Labels: d.Labels, Classes: 2}
	for i := range 300 {
		copy(wide.Points.RawRowView(i), d.Points.RawRowView(i))
		wide.Points.Set(i, 4, 1)
	}
	large := Data{Points: mat.DenseCopyOf(wide.Points), Labels: d.Labels, Classes: 2}
	large.Points.Scale(1000, large.Points)
	wide.Points.Scale(10, wide.Points)
	predict := func(d Data) (out []int) {
		m, err := Train(context.Background(), d, SVM{Squared: true, Tolerance: 1e-6, Rand: rand.New(rand.NewPCG(1, 1))})
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.Labels {
			out = append(out, m.Predict(d.Points.RawRowView(i)))
		}
		return out
	}
	a, b, differ := predict(wide), predict(large), 0
	for i := range a {
		if a[i] != b[i] {
			differ++
		}
	}
	if differ > 3 { // of 300, as the bias's own coordinate is the same in both
		t.Errorf("%d of 300 points change their class", differ)
	}
	m, err := Train(context.Background(), d, SVM{Passes: 1, Tolerance: 1e-9, Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil || !m.Scorers[0].Unfinished {
		t.Errorf("cut off after one pass, and called finished: %v", err)
	}
}

// all lists the numbers from 0 to n-1.
func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
