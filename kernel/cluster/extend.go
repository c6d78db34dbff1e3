package cluster

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/room"
)

// Extend assigns points to the nearest of the centroids that were found on some of them. Centroids,
// iterations and batches stay; labels, sizes and inertia are those of the points. Use it if some
// points are better than others at telling where clusters are. workers is the number of goroutines.
// The result depends neither on it nor on from, which allocates what is known of each point.
func Extend(ctx context.Context, points *mat.Dense, found Result, workers int, from room.Allocator) (Result, error) {
	clusters, d := found.Centroids.Dims()
	if _, own := points.Dims(); own != d {
		return Result{}, fmt.Errorf("extending clusters: points of %d coordinates for centroids of %d", own, d)
	}
	l, err := newLloyd(ctx, points.RawMatrix(), Options{Clusters: clusters, Workers: max(workers, 1), Room: from}, false)
	if err != nil {
		return Result{}, fmt.Errorf("extending clusters: %w", err)
	}
	for c := range clusters {
		copy(l.centroids.Data[c*d:][:d], found.Centroids.RawRowView(c))
	}
	if _, err := l.assign(); err != nil {
		return Result{}, fmt.Errorf("extending clusters: %w", err)
	}
	out, err := l.result(nil, l.inertia(), found.Iterations)
	if err != nil {
		return Result{}, fmt.Errorf("extending clusters: %w", err)
	}
	out.Batches, out.extended = found.Batches, true
	return out, nil
}
