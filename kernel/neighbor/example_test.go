package neighbor_test

import (
	"context"
	"fmt"

	"github.com/cosketch/cosketch/kernel/neighbor"
	"gonum.org/v1/gonum/mat"
)

func ExampleSearch() {
	points := mat.NewDense(4, 2, []float64{0, 0, 3, 4, 1, 1, 10, 10})
	queries := mat.NewDense(1, 2, []float64{0, 1})
	graph, err := neighbor.Search(context.Background(), points, queries, neighbor.Options{Neighbors: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(graph.Of(0))
	// Output:
	// [0 2] [1 1]
}
