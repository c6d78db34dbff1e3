package parallel_test

import (
	"context"
	"fmt"

	"github.com/cosketch/cosketch/kernel/parallel"
)

// Pieces go to whichever worker is free, and each worker has its own space.
func ExampleShareUntil() {
	const pieces, workers = 100, 4
	sums := make([]int, workers)
	err := parallel.ShareUntil(context.Background(), pieces, workers, func(worker, piece int) { sums[worker] += piece })
	total := 0
	for _, s := range sums {
		total += s
	}
	fmt.Println(total, err)
	// Output:
	// 4950 <nil>
}
