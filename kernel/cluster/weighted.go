package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/distance"
)

// Weighted groups the rows of points (m × dimension) as KMeans does, each point counting as much as
// its weight: Lloyd's iteration from seeds drawn by k-means++, the best of several restarts. It is
// for a few thousand points, such as cells. Sizes of the Result count points. Weights that are not
// above 0 and values that are not finite are an error.
func Weighted(ctx context.Context, points *mat.Dense, weights []float64, opts Options) (Result, error) {
	opts = opts.withDefaults()
	m, d := points.Dims()
	if err := opts.check(m); err != nil {
		return Result{}, fmt.Errorf("clustering weighted points: %w", err)
	}
	if len(weights) != m {
		return Result{}, fmt.Errorf("clustering weighted points: %d weights of %d points", len(weights), m)
	}
	for i, w := range weights {
		if !(w > 0) || math.IsInf(w, 0) || slices.ContainsFunc(points.RawRowView(i), func(v float64) bool { return math.IsNaN(v) || math.Abs(v) > 1e100 }) {
			return Result{}, errors.New("clustering weighted points: a weight is not above 0, or a coordinate not finite or too large")
		}
	}
	w := &weighted{points: points, weights: weights, opts: opts, labels: make([]int, m), centroids: mat.NewDense(opts.Clusters, d, nil)}
	w.spread()
	var best Result
	for restart := range opts.Restarts {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		iterations := w.run()
		if inertia := w.inertia(); restart == 0 || inertia < best.Inertia {
			best = w.result(inertia, iterations)
		}
	}
	return best, nil
}

// weighted is one problem and the current grouping.
type weighted struct {
	points    *mat.Dense
	weights   []float64
	opts      Options
	tolerance float64 // on the squared movement of all centroids
	labels    []int
	centroids *mat.Dense
}

// spread converts the tolerance to squared distance, by the mean squared distance from the mean.
func (w *weighted) spread() {
	_, d := w.points.Dims()
	mean, total := make([]float64, d), floats.Sum(w.weights)
	for i, weight := range w.weights {
		floats.AddScaled(mean, weight/total, w.points.RawRowView(i))
	}
	var squares float64
	for i, weight := range w.weights {
		squares += weight / total * distance.Squared(w.points.RawRowView(i), mean)
	}
	w.tolerance = w.opts.Tolerance * squares
}

func (w *weighted) run() (iterations int) {
	w.seed()
	for iterations < w.opts.MaxIterations {
		iterations++
		w.assign()
		if w.update() <= w.tolerance {
			break
		}
	}
	w.assign()
	return iterations
}

// seed draws centroids by k-means++, with probability proportional to weight times squared
// distance.
func (w *weighted) seed() {
	nearest := make([]float64, len(w.weights))
	chances := slices.Clone(w.weights)
	for c := range w.opts.Clusters {
		pick := draw(w.opts.Rand, chances, floats.Sum(chances))
		w.centroids.SetRow(c, w.points.RawRowView(pick))
		for i := range chances {
			far := distance.Squared(w.points.RawRowView(i), w.points.RawRowView(pick))
			if c == 0 || far < nearest[i] {
				nearest[i] = far
			}
			chances[i] = w.weights[i] * nearest[i]
		}
	}
}

func (w *weighted) assign() {
	for i := range w.labels {
		w.labels[i] = Nearest(w.centroids, w.points.RawRowView(i))
	}
}

// Nearest returns the row of centroids that is nearest to a point, the first of equal ones.
func Nearest(centroids *mat.Dense, point []float64) (best int) {
	least := math.Inf(1)
	rows, _ := centroids.Dims()
	for c := range rows {
		if d := distance.Squared(centroids.RawRowView(c), point); d < least {
			best, least = c, d
		}
	}
	return best
}

// update moves the centroids to the means of their points, and the centroid of an empty cluster to
// the point that adds most to the inertia. It returns the summed squared movement.
func (w *weighted) update() (movement float64) {
	clusters, d := w.centroids.Dims()
	sums, totals := mat.NewDense(clusters, d, nil), make([]float64, clusters)
	for i, label := range w.labels {
		floats.AddScaled(sums.RawRowView(label), w.weights[i], w.points.RawRowView(i))
		totals[label] += w.weights[i]
	}
	for c := range clusters {
		next := sums.RawRowView(c)
		if totals[c] > 0 {
			floats.Scale(1/totals[c], next)
		} else {
			copy(next, w.points.RawRowView(w.farthest()))
		}
		movement += distance.Squared(next, w.centroids.RawRowView(c))
		w.centroids.SetRow(c, next)
	}
	return movement
}

func (w *weighted) farthest() (at int) {
	most := -1.0
	for i, label := range w.labels {
		if cost := w.weights[i] * distance.Squared(w.points.RawRowView(i), w.centroids.RawRowView(label)); cost > most {
			at, most = i, cost
		}
	}
	return at
}

func (w *weighted) inertia() (sum float64) {
	for i, label := range w.labels {
		sum += w.weights[i] * distance.Squared(w.points.RawRowView(i), w.centroids.RawRowView(label))
	}
	return sum
}

func (w *weighted) result(inertia float64, iterations int) Result {
	out := Result{Centroids: mat.DenseCopyOf(w.centroids), Labels: slices.Clone(w.labels), Sizes: make([]int, w.opts.Clusters), Inertia: inertia, Iterations: iterations}
	for _, label := range w.labels {
		out.Sizes[label]++
	}
	return out
}

// draw draws an index by weights of this sum, or uniformly if all are 0.
func draw(source *rand.Rand, weights []float64, total float64) int {
	if !(total > 0) {
		return source.IntN(len(weights))
	}
	left := source.Float64() * total
	last := 0
	for i, w := range weights {
		if w > 0 {
			last = i
			if left < w {
				return i
			}
			left -= w
		}
	}
	return last // rounding used up the total
}
