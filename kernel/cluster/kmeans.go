package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/distance"
	"github.com/cosketch/cosketch/kernel/room"
)

// Options are the options of KMeans.
type Options struct {
	Clusters      int               // required: number of clusters, from 1 to the number of points
	Restarts      int               // independent starts, of which the best is returned; default 10
	MaxIterations int               // Lloyd iterations of one start, or mini-batches; default 300
	Tolerance     float64           // stop when the summed squared movement of the centroids is at most this part of the mean squared distance of a point from the centre of all; default 1e-6
	Rand          *rand.Rand        // required: the same source gives the same result
	Workers       int               // goroutines; the result does not depend on them. Default 1
	BatchAbove    int               // above this number of points mini-batches are used; default 2^20
	Known         *Model            // the model of mini-batches of the same points that Found received: it is not computed again. May be nil
	Found         func(Model) error // receives the model of mini-batches before the last passes over all points; its error ends the run. May be nil
	Memory        int64             // bytes for packed copies of the points, not counting what is known of each point; the rest is packed anew in every pass, with the same result. Default: unlimited
	Room          room.Allocator    // allocates what is known of each point, 28 bytes. Default: memory
}

// Model is the centroids of mini-batches, before all points are labelled.
type Model struct {
	Centroids  *mat.Dense // Clusters × dimension
	Iterations int        // of the part that was clustered first
	Batches    int
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
	if o.Workers == 0 {
		o.Workers = 1
	}
	if o.BatchAbove == 0 {
		o.BatchAbove = 1 << 20
	}
	return o
}

// keeps reports whether packed copies of so many points are kept between passes.
func (o Options) keeps(points, dimension int) bool {
	return o.Memory == 0 || 4*int64(dimension+1)*int64(points) <= o.Memory
}

func (o Options) check(points int) error {
	switch {
	case o.Rand == nil:
		return errors.New("no source of randomness")
	case o.Clusters < 1:
		return fmt.Errorf("%d clusters: at least 1 is needed", o.Clusters)
	case o.Clusters > points:
		return fmt.Errorf("%d clusters of %d points: ask for fewer clusters", o.Clusters, points)
	case points > math.MaxInt32:
		return fmt.Errorf("%d points: at most %d are possible", points, math.MaxInt32)
	case o.Restarts < 1 || o.MaxIterations < 1:
		return fmt.Errorf("%d restarts of %d iterations: at least 1 of each is needed", o.Restarts, o.MaxIterations)
	case !(o.Tolerance > 0) || math.IsInf(o.Tolerance, 0):
		return fmt.Errorf("tolerance %g: must be finite and above 0", o.Tolerance)
	case o.Memory < 0:
		return fmt.Errorf("%d bytes of memory: want at least 0 (0: no limit)", o.Memory)
	case o.Workers < 1 || o.BatchAbove < 1:
		return fmt.Errorf("%d workers, mini-batches above %d points: at least 1 of each is needed", o.Workers, o.BatchAbove)
	}
	return nil
}

// Result is the best grouping found.
type Result struct {
	Centroids  *mat.Dense // Clusters × dimension
	Labels     []int      // the cluster of each point, from 0
	Sizes      []int      // points in each cluster; 0 if it stayed empty for lack of distinct points
	Inertia    float64    // summed squared distance of the points from their centroids
	Iterations int        // Lloyd iterations of the best start
	Batches    int        // mini-batches that followed; 0 if every iteration used all points

	extended bool // by Extend: centroids are not the means of these points
}

// KMeans groups the rows of points (m × dimension) into Clusters groups so that the summed squared
// distance to the group's mean is small. It is Lloyd's iteration from seeds drawn by greedy
// k-means++, the best of several restarts (Arthur and Vassilvitskii 2007; their section 4 mentions
// the greedy variant: of 2 + ln Clusters points drawn, the one that leaves least is taken). A
// cluster that loses all its points starts again at the point farthest from its centroid.
//
// Of more points than BatchAbove a random part is clustered in this way. Mini-batches of all points
// then move its centroids, each with a learning rate of one over the points that it has seen
// (Sculley 2010), and all points are labelled at the end.
//
// A point's label is the centroid at the least distance.Squared, the first of equal ones. Distances
// are computed in float32 first, with a bound that tells if that does not decide. The bounds of
// Elkan and Hamerly are not used: they save distances, but computing all of them in tiles takes
// less time than reading the points.
//
// KMeans neither changes nor keeps points. It reads them in order, so that they may be in a mapped
// file: of mini-batches of points that do not fit into Memory, 32 are drawn at once. Values that
// are not finite are an error. The context is checked in every pass over the points. The result is
// the same for any number of workers, and on every machine.
func KMeans(ctx context.Context, points *mat.Dense, opts Options) (Result, error) {
	opts = opts.withDefaults()
	m, _ := points.Dims()
	err := opts.check(m)
	var best Result
	switch {
	case err != nil:
	case m > opts.BatchAbove:
		best, err = batched(ctx, points, opts)
	default:
		best, err = full(ctx, points, opts)
	}
	if err != nil {
		return Result{}, fmt.Errorf("clustering: %w", err)
	}
	return best, nil
}

// full is k-means with all points in every iteration.
func full(ctx context.Context, points *mat.Dense, opts Options) (best Result, err error) {
	l, err := newLloyd(ctx, points.RawMatrix(), opts, opts.keeps(points.Dims()))
	if err != nil {
		return Result{}, err
	}
	for restart := range opts.Restarts {
		if err := l.seed(); err != nil {
			return Result{}, fmt.Errorf("restart %d: %w", restart+1, err)
		}
		iterations, err := l.run()
		if err != nil {
			return Result{}, fmt.Errorf("restart %d: %w", restart+1, err)
		}
		if inertia := l.inertia(); restart == 0 || inertia < best.Inertia {
			if best, err = l.result(best.Labels, inertia, iterations); err != nil {
				return Result{}, err
			}
		}
	}
	return best, nil
}

// Mini-batches: the size of the part that is clustered first, the points of a batch, and the number
// of consecutive batches with little movement that end the run.
const (
	partSize  = 1 << 16
	batchSize = 1 << 14
	calm      = 10
)

// batched is k-means of a random part, then of mini-batches, then one iteration over
// all points.
func batched(ctx context.Context, points *mat.Dense, opts Options) (Result, error) {
	l, err := newLloyd(ctx, points.RawMatrix(), opts, false)
	if err != nil {
		return Result{}, err
	}
	model := opts.Known
	if model == nil {
		if model, err = l.locate(); err != nil {
			return Result{}, err
		}
		if opts.Found != nil {
			if err := opts.Found(*model); err != nil {
				return Result{}, err
			}
		}
	}
	if rows, cols := model.Centroids.Dims(); rows != l.centroids.Rows || cols != l.centroids.Cols {
		return Result{}, fmt.Errorf("a model of %d clusters of %d coordinates: want %d of %d", rows, cols, l.centroids.Rows, l.centroids.Cols)
	}
	copy(l.centroids.Data, model.Centroids.RawMatrix().Data)
	if _, err := l.assign(); err != nil {
		return Result{}, err
	}
	l.refill()
	l.means()
	if _, err := l.assign(); err != nil {
		return Result{}, err
	}
	out, err := l.result(nil, l.inertia(), model.Iterations)
	out.Batches = model.Batches
	return out, err
}

// locate clusters a part of the points, and moves its centroids by mini-batches of all points.
func (l *lloyd) locate() (*Model, error) {
	opts := l.opts
	drawn, err := l.sample(min(max(partSize, 20*opts.Clusters), opts.BatchAbove))
	if err != nil {
		return nil, err
	}
	part, err := full(l.ctx, drawn, opts)
	if err != nil {
		return nil, fmt.Errorf("a part of the points: %w", err)
	}
	copy(l.centroids.Data, part.Centroids.RawMatrix().Data)
	seen := make([]float64, opts.Clusters)
	for c, size := range part.Sizes {
		seen[c] = float64(size)
	}
	batches, quiet := 0, 0
	ahead := l.ahead()
	for batches < opts.MaxIterations && quiet < calm {
		some, err := ahead.next(opts.MaxIterations - batches)
		if err != nil {
			return nil, err
		}
		batches++
		moved, err := l.batch(some, seen)
		if err != nil {
			return nil, err
		}
		if quiet++; moved > opts.Tolerance*l.spread {
			quiet = 0
		}
	}
	return &Model{mat.NewDense(l.centroids.Rows, l.centroids.Cols, slices.Clone(l.centroids.Data)), part.Iterations, batches}, nil
}

// sample copies random points, drawn with replacement.
func (l *lloyd) sample(size int) (*mat.Dense, error) {
	return gather(l.opts.Room, l.points, l.draw(size))
}

// draw draws the indices of random points.
func (l *lloyd) draw(size int) []int32 {
	at := make([]int32, size)
	for i := range at {
		at[i] = int32(l.opts.Rand.IntN(l.points.Rows))
	}
	return at
}

// gather copies points. It reads them in the order of their indices.
func gather(from room.Allocator, points blas64.General, at []int32) (*mat.Dense, error) {
	data, err := room.Of[float64](from, len(at)*points.Cols)
	if err != nil {
		return nil, err
	}
	out := mat.NewDense(len(at), points.Cols, data)
	for _, i := range ascending(at) {
		out.SetRow(int(i), distance.Row(points, int(at[i])))
	}
	return out, nil
}

// ascending returns the indices that sort the numbers.
func ascending(of []int32) []int32 {
	order := make([]int32, len(of))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(of[a], of[b]), cmp.Compare(a, b)) })
	return order
}

// ahead draws the points of several batches in advance. If points do not fit into memory, they are
// read once for all these batches.
type ahead struct {
	*lloyd
	size, batches int       // points of a batch; batches that are copied at once
	copies        []float64 // batch by batch, in the order of the points
	places        []int32   // batch by batch, for each copy: its index in the batch
	left          int       // copied batches that were not taken yet
	filled        int
	one           *mat.Dense // the current batch
}

// mostAhead is the number of batches that are copied at once.
const mostAhead = 32

func (l *lloyd) ahead() *ahead {
	a := &ahead{lloyd: l, size: min(batchSize, l.points.Rows), batches: 1}
	if !l.opts.keeps(l.points.Rows, 2*l.points.Cols) { // columns of float64
		a.batches = mostAhead
	}
	return a
}

// next returns another batch; at most so many may still be needed.
func (a *ahead) next(most int) (*mat.Dense, error) {
	if a.batches == 1 {
		return a.sample(a.size)
	}
	if a.left == 0 {
		if err := a.fill(min(a.batches, most)); err != nil {
			return nil, err
		}
	}
	batch := a.filled - a.left
	a.left--
	for i, place := range a.places[batch*a.size:][:a.size] {
		a.one.SetRow(int(place), a.copies[(batch*a.size+i)*a.points.Cols:][:a.points.Cols])
	}
	return a.one, nil
}

// fill draws batches and copies their points.
func (a *ahead) fill(batches int) (err error) {
	if a.copies == nil {
		if a.copies, err = room.Of[float64](a.opts.Room, batches*a.size*a.points.Cols); err != nil {
			return err
		}
		a.places = make([]int32, batches*a.size)
		one, err := room.Of[float64](a.opts.Room, a.size*a.points.Cols)
		if err != nil {
			return err
		}
		a.one = mat.NewDense(a.size, a.points.Cols, one)
	}
	drawn, counts := a.draw(batches*a.size), make([]int, batches)
	for n, i := range ascending(drawn) {
		if n%4096 == 0 && a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		batch := int(i) / a.size
		to := batch*a.size + counts[batch]
		counts[batch]++
		copy(a.copies[to*a.points.Cols:][:a.points.Cols], distance.Row(a.points, int(drawn[i])))
		a.places[to] = int32(int(i) % a.size)
	}
	a.left, a.filled = batches, batches
	return nil
}

// batch moves each centroid towards the mean of those of some points that are nearest to it, and
// returns the summed squared movement.
func (l *lloyd) batch(some *mat.Dense, seen []float64) (moved float64, err error) {
	opts := l.opts
	opts.Clusters = l.centroids.Rows
	opts.Room = nil // it is small, and there are many batches
	b, err := newLloyd(l.ctx, some.RawMatrix(), opts, opts.keeps(some.Dims()))
	if err != nil {
		return 0, err
	}
	copy(b.centroids.Data, l.centroids.Data)
	if _, err := b.assign(); err != nil {
		return 0, err
	}
	b.means()
	for c, size := range b.sizes {
		if size == 0 {
			continue
		}
		seen[c] += float64(size)
		rate := float64(size) / seen[c]
		to, mean := distance.Row(l.centroids, c), distance.Row(b.centroids, c)
		for j, v := range mean {
			step := float64(rate * (v - to[j]))
			to[j] += step
			moved += float64(step * step)
		}
	}
	return moved, nil
}
