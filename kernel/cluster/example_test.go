package cluster_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/cosketch/cosketch/kernel/cluster"
	"gonum.org/v1/gonum/mat"
)

func ExampleKMeans() {
	points := mat.NewDense(6, 2, []float64{0, 0, 0, 1, 1, 0, 9, 9, 9, 8, 8, 9})
	found, err := cluster.KMeans(context.Background(), points, cluster.Options{Clusters: 2, Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v, inertia %.3f\n", found.Sizes, found.Inertia)
	fmt.Println(found.Labels[0] == found.Labels[2], found.Labels[0] == found.Labels[3])
	// Output:
	// [3 3], inertia 2.667
	// true false
}

// Columns are joined from the nearest to the farthest. If distances have errors, a merge that could
// as well have come later is marked.
func ExampleHierarchy() {
	distances := mat.NewSymDense(4, []float64{
		0, 1, 5, 6,
		1, 0, 5, 6,
		5, 5, 0, 2,
		6, 6, 2, 0,
	})
	tree, err := cluster.Hierarchy(context.Background(), distances, cluster.HierarchyOptions{Linkage: cluster.Average})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range tree.Merges {
		fmt.Printf("%d and %d at %g, %d points\n", m.A, m.B, m.Height, m.Size)
	}
	// Output:
	// 0 and 1 at 1, 2 points
	// 2 and 3 at 2, 2 points
	// 4 and 5 at 5.5, 4 points
}
