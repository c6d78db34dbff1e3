package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Options says what KMeans looks for.
type Options struct {
	Clusters      int        // required: how many, from 1 to the number of points
	Restarts      int        // independent starts, of which the best counts; default 10
	MaxIterations int        // Lloyd iterations of one start; default 300
	Tolerance     float64    // stop when the summed squared movement of the centroids is at most this part of a point's mean squared distance from the mean of all; default 1e-6
	Rand          *rand.Rand // required: the same source gives the same result
}

func (o Options) withDefaults() Options {
	if o.Restarts == 0 {
		o.Restarts = 10
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 300
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-6
	}
	return o
}

func (o Options) check(points int) error {
	switch {
	case o.Rand == nil:
		return errors.New("no source of randomness")
	case o.Clusters < 1:
		return fmt.Errorf("%d clusters: at least 1 is needed", o.Clusters)
	case o.Clusters > points:
		return fmt.Errorf("%d clusters of %d points: ask for fewer clusters", o.Clusters, points)
	case o.Restarts < 1 || o.MaxIterations < 1:
		return fmt.Errorf("%d restarts of %d iterations: at least 1 of each is needed", o.Restarts, o.MaxIterations)
	case !(o.Tolerance > 0) || math.IsInf(o.Tolerance, 0):
		return fmt.Errorf("tolerance %g is not above 0", o.Tolerance)
	}
	return nil
}

// Result is the best grouping that was found.
type Result struct {
	Centroids  *mat.Dense // Clusters × dimension
	Labels     []int      // the cluster of each point, from 0
	Sizes      []int      // points in each cluster; 0 where one stayed empty for lack of distinct points
	Inertia    float64    // summed squared distance of the points from their centroids
	Iterations int        // Lloyd iterations of the start that won
}

// KMeans groups the rows of points (m × dimension) into Clusters groups so that
// the summed squared distance to the group's mean is small: Lloyd's iteration
// from seeds drawn by k-means++ (Arthur and Vassilvitskii 2007, without their
// greedy variant), the best of several restarts. A cluster that loses all its
// points starts again at the point farthest from its centroid.
//
// It reads points and does not change or keep it. Values that are not finite are
// refused. The context is looked at in every pass over the points.
func KMeans(ctx context.Context, points *mat.Dense, opts Options) (Result, error) {
	opts = opts.withDefaults()
	m, _ := points.Dims()
	if err := opts.check(m); err != nil {
		return Result{}, fmt.Errorf("clustering: %w", err)
	}
	l, err := newLloyd(ctx, points.RawMatrix(), opts)
	if err != nil {
		return Result{}, fmt.Errorf("clustering: %w", err)
	}
	var best Result
	for restart := range opts.Restarts {
		iterations, err := l.run()
		if err != nil {
			return Result{}, fmt.Errorf("clustering: restart %d: %w", restart+1, err)
		}
		if inertia := l.inertia(); restart == 0 || inertia < best.Inertia {
			best = l.result(inertia, iterations)
		}
	}
	return best, nil
}

// block is how many points are compared with all centroids at once.
const block = 2048

// lloyd holds one problem and the buffers that its restarts share.
type lloyd struct {
	ctx       context.Context
	points    blas64.General
	opts      Options
	mean      []float64      // of all points
	spread    float64        // mean squared distance from mean
	centroids blas64.General // c
	sums      blas64.General // per cluster
	offsets   blas64.General // c − mean
	biases    []float64      // (c − mean)·(c + mean)
	scores    blas64.General // block × clusters
	labels    []int
	sizes     []int
	nearest   []float64 // squared distance to the nearest seed so far
}

func newLloyd(ctx context.Context, points blas64.General, opts Options) (*lloyd, error) {
	n := opts.Clusters
	l := &lloyd{
		ctx:       ctx,
		points:    points,
		opts:      opts,
		mean:      make([]float64, points.Cols),
		centroids: general(n, points.Cols),
		sums:      general(n, points.Cols),
		offsets:   general(n, points.Cols),
		biases:    make([]float64, n),
		scores:    general(min(block, points.Rows), n),
		labels:    make([]int, points.Rows),
		sizes:     make([]int, n),
		nearest:   make([]float64, points.Rows),
	}
	for i := range points.Rows {
		floats.Add(l.mean, row(points, i))
	}
	floats.Scale(1/float64(points.Rows), l.mean)
	for i := range points.Rows {
		l.spread += squaredDistance(row(points, i), l.mean) / float64(points.Rows)
	}
	// Anything that is not finite, or too large to square, ends up in the spread.
	if math.IsNaN(l.spread) || math.IsInf(l.spread, 0) {
		return nil, errors.New("a point has a coordinate that is not finite or too large")
	}
	return l, nil
}

// run seeds and iterates until labels or centroids stop moving.
func (l *lloyd) run() (iterations int, err error) {
	if err := l.seed(); err != nil {
		return 0, err
	}
	for i := range l.labels {
		l.labels[i] = -1
	}
	for iterations < l.opts.MaxIterations {
		iterations++
		changed, err := l.assign()
		if err != nil || !changed {
			return iterations, err
		}
		l.refill()
		if l.update() <= l.opts.Tolerance*l.spread {
			break
		}
	}
	_, err = l.assign() // labels belong to the final centroids
	return iterations, err
}

// seed draws centroids by k-means++: each next one is a point drawn with
// probability proportional to its squared distance from the nearest so far.
func (l *lloyd) seed() error {
	m := l.points.Rows
	pick := l.opts.Rand.IntN(m)
	for c := range l.opts.Clusters {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		centroid := row(l.centroids, c)
		copy(centroid, row(l.points, pick))
		var total float64
		for i := range m {
			d := squaredDistance(row(l.points, i), centroid)
			if c == 0 || d < l.nearest[i] {
				l.nearest[i] = d
			}
			total += l.nearest[i]
		}
		pick = draw(l.opts.Rand, l.nearest, total)
	}
	return nil
}

// draw picks an index with probability weights[i]/total, any one if all are 0.
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

// assign labels each point with its nearest centroid and reports whether a label
// changed. The nearest centroid c of x has the least |x−c|² − |x−mean|², which is
// (c−mean)·(c+mean) − 2x·(c−mean): free of cancellation far from the origin, and
// a matrix product for a block of points.
func (l *lloyd) assign() (changed bool, err error) {
	for c := range l.opts.Clusters {
		offset, centroid := row(l.offsets, c), row(l.centroids, c)
		l.biases[c] = 0
		for j, v := range centroid {
			offset[j] = v - l.mean[j]
			l.biases[c] += offset[j] * (v + l.mean[j])
		}
		l.sizes[c] = 0
	}
	for start := 0; start < l.points.Rows; start += block {
		if err := l.ctx.Err(); err != nil {
			return false, err
		}
		rows := min(block, l.points.Rows-start)
		part, scores := l.points, l.scores
		part.Rows, part.Data = rows, part.Data[start*part.Stride:]
		scores.Rows = rows
		blas64.Gemm(blas.NoTrans, blas.Trans, -2, part, l.offsets, 0, scores)
		for i := range rows {
			s := row(scores, i)
			best := 0
			for c := range s {
				s[c] += l.biases[c]
				if s[c] < s[best] {
					best = c
				}
			}
			changed = changed || l.labels[start+i] != best
			l.labels[start+i] = best
			l.sizes[best]++
		}
	}
	return changed, nil
}

// refill moves the point farthest from its centroid into each empty cluster. It
// leaves a cluster empty when every point sits on its centroid.
func (l *lloyd) refill() {
	for c, size := range l.sizes {
		if size > 0 {
			continue
		}
		far, distance := -1, 0.0
		for i, label := range l.labels {
			if l.sizes[label] < 2 {
				continue
			}
			if d := squaredDistance(row(l.points, i), row(l.centroids, label)); d > distance {
				far, distance = i, d
			}
		}
		if far < 0 {
			return
		}
		l.sizes[l.labels[far]]--
		l.labels[far], l.sizes[c] = c, 1
	}
}

// update moves the centroids to the means of their points and returns the summed
// squared movement. An empty cluster's centroid stays.
func (l *lloyd) update() (movement float64) {
	clear(l.sums.Data)
	for i, label := range l.labels {
		floats.Add(row(l.sums, label), row(l.points, i))
	}
	for c, size := range l.sizes {
		if size == 0 {
			continue
		}
		sum, centroid := row(l.sums, c), row(l.centroids, c)
		floats.Scale(1/float64(size), sum)
		movement += squaredDistance(sum, centroid)
		copy(centroid, sum)
	}
	return movement
}

// inertia is computed by differences, not from the scores, to lose no digits.
func (l *lloyd) inertia() (sum float64) {
	for i, label := range l.labels {
		sum += squaredDistance(row(l.points, i), row(l.centroids, label))
	}
	return sum
}

func (l *lloyd) result(inertia float64, iterations int) Result {
	centroids := mat.NewDense(l.centroids.Rows, l.centroids.Cols, append([]float64(nil), l.centroids.Data...))
	return Result{
		Centroids:  centroids,
		Labels:     append([]int(nil), l.labels...),
		Sizes:      append([]int(nil), l.sizes...),
		Inertia:    inertia,
		Iterations: iterations,
	}
}

func general(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}

func row(m blas64.General, i int) []float64 {
	return m.Data[i*m.Stride : i*m.Stride+m.Cols]
}

func squaredDistance(x, y []float64) float64 {
	var sum float64
	for i, v := range x {
		d := v - y[i]
		sum += d * d
	}
	return sum
}
