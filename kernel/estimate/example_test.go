package estimate_test

import (
	"context"
	"fmt"

	"github.com/cosketch/cosketch/kernel/estimate"
)

// Two noised columns of a sketch of 64 rows: the noise is subtracted from the estimate, and
// included in the interval.
func ExampleFromIntegers() {
	data := make([]int64, 64*2)
	for i := range 64 {
		data[2*i], data[2*i+1] = int64(100+i%7), int64(90-i%5)
	}
	noise := estimate.Noise{Variance: 4}
	g, err := estimate.FromIntegers(context.Background(), estimate.Integers{K: 64, N: 2, Data: data, Unit: 1}, []estimate.Noise{noise, noise})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.SquaredNorm(estimate.Column(0), estimate.DefaultLevel))
	fmt.Println(g.InnerProduct(estimate.Column(0), estimate.Column(1), estimate.DefaultLevel))
	// Output:
	// 678363 [493262, 991878]
	// 580044 [406480, 827686]
}
