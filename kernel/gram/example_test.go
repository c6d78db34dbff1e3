package gram_test

import (
	"context"
	"fmt"

	"github.com/cosketch/cosketch/kernel/gram"
	"gonum.org/v1/gonum/mat"
)

// The inner products of the three columns of a sketch of four rows, from exact integers.
func ExampleOf() {
	products, err := gram.Of(context.Background(), []int64{
		1, 0, 2,
		1, 1, 0,
		0, 1, -2,
		3, 0, 1,
	}, 4, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mat.Formatted(products))
	// Output:
	// ⎡11   1   5⎤
	// ⎢ 1   2  -2⎥
	// ⎣ 5  -2   9⎦
}
