package linear_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/cosketch/cosketch/kernel/linear"
	"gonum.org/v1/gonum/mat"
)

// Forty points of two overlapping classes: how often is a new point's class predicted correctly?
func ExampleCrossValidate() {
	rng := rand.New(rand.NewPCG(1, 2))
	points, labels := mat.NewDense(40, 2, nil), make([]int, 40)
	for i := range 40 {
		labels[i] = i % 2
		points.Set(i, 0, rng.NormFloat64()+2*float64(labels[i]))
		points.Set(i, 1, rng.NormFloat64())
	}
	v, err := linear.CrossValidate(context.Background(), linear.Data{Points: points, Labels: labels, Classes: 2},
		linear.Ridge{}, linear.Folds{Rand: rng})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("accuracy", v.Accuracy)
	fmt.Println("always the same class", v.Baseline)
	// Output:
	// accuracy 0.825 [0.6805, 0.912546]
	// always the same class 0.5 [0.351995, 0.648005]
}
