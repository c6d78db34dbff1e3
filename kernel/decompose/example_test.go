package decompose_test

import (
	"context"
	"fmt"

	"github.com/cosketch/cosketch/kernel/decompose"
	"gonum.org/v1/gonum/mat"
)

// Correlations that were estimated one by one need not be consistent: these three cannot be.
func ExampleCorrelation() {
	estimated := mat.NewSymDense(3, []float64{
		1, .9, -.9,
		.9, 1, .9,
		-.9, .9, 1,
	})
	repaired, err := decompose.Correlation(context.Background(), estimated)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d below zero: %.2f\n%.2f\n", repaired.Negative, repaired.Least, mat.Formatted(repaired.Matrix))
	// Output:
	// 1 below zero: -0.80
	// ⎡ 1.00   0.50  -0.50⎤
	// ⎢ 0.50   1.00   0.50⎥
	// ⎣-0.50   0.50   1.00⎦
}
