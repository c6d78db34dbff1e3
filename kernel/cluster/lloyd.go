package cluster

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cpu"
	"github.com/cosketch/cosketch/kernel/distance"
	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/kernel/room"
)

// lloyd holds one problem and the buffers that its restarts share.
type lloyd struct {
	ctx       context.Context
	points    blas64.General
	opts      Options
	frame     distance.Frame
	panels    []float32      // all points, packed; nil: packed anew in every pass
	norms     []float32      // of the packed points
	spread    float64        // mean squared distance from the frame's centre
	centroids blas64.General // c
	rows      []float32      // c, packed
	labels    []int32
	sizes     []int
	sums      blas64.General // sums over the points that summed assigns to each cluster
	summed    []int32        // label under which a point is in sums, or none
	closest   []float32      // seeding: squared distance to the nearest seed, in the frame
}

// none is the label of a point that has none yet.
const none = -1

// panelsEach is the number of panels in a piece of work: distance.ChunkRows points.
const panelsEach = distance.ChunkRows / distance.Lanes

// newLloyd packs the points and computes their norms. It keeps the packed points if keep is true.
func newLloyd(ctx context.Context, points blas64.General, opts Options, keep bool) (*lloyd, error) {
	frame, err := distance.NewFrame(opts.Workers, points)
	if err != nil {
		return nil, err
	}
	n := opts.Clusters
	l := &lloyd{
		ctx: ctx, points: points, opts: opts, frame: frame,
		centroids: general(n, points.Cols),
		rows:      make([]float32, (n+distance.Rows-1)/distance.Rows*frame.GroupSize()),
		sizes:     make([]int, n),
		sums:      general(n, points.Cols),
	}
	if l.norms, err = room.Of[float32](opts.Room, points.Rows); err != nil {
		return nil, err
	}
	if l.labels, err = room.Of[int32](opts.Room, points.Rows); err != nil {
		return nil, err
	}
	if l.summed, err = room.Of[int32](opts.Room, points.Rows); err != nil {
		return nil, err
	}
	pieces := (points.Rows + distance.ChunkRows - 1) / distance.ChunkRows
	spreads := make([]float64, pieces)
	size := frame.PanelSize()
	if keep {
		l.panels = make([]float32, (points.Rows+distance.Lanes-1)/distance.Lanes*size)
	}
	scratch := l.scratch()
	err = parallel.ShareUntil(ctx, pieces, opts.Workers, func(worker, piece int) {
		for p := piece * panelsEach; p < min((piece+1)*panelsEach, l.panelCount()); p++ {
			to := scratch[worker]
			if keep {
				to = l.panels[p*size:][:size]
			}
			for i, norm := range frame.Panel(to, points, p*distance.Lanes, distance.Plain) {
				if at := p*distance.Lanes + i; at < points.Rows {
					l.norms[at] = float32(norm)
					spreads[piece] += norm
				}
			}
		}
	})
	l.spread = frame.Original(sum(spreads)) / float64(points.Rows)
	return l, err
}

func (l *lloyd) panelCount() int { return (l.points.Rows + distance.Lanes - 1) / distance.Lanes }

// scratch returns a panel for each worker, if no packed points are kept.
func (l *lloyd) scratch() [][]float32 {
	out := make([][]float32, l.opts.Workers)
	if l.panels == nil {
		for i := range out {
			out[i] = make([]float32, l.frame.PanelSize())
		}
	}
	return out
}

// each calls do for every panel, with its number and the number of its piece. Workers share the
// pieces.
func (l *lloyd) each(do func(piece, p int, panel []float32)) error {
	scratch, size := l.scratch(), l.frame.PanelSize()
	return parallel.ShareUntil(l.ctx, (l.panelCount()+panelsEach-1)/panelsEach, l.opts.Workers, func(worker, piece int) {
		for p := piece * panelsEach; p < min((piece+1)*panelsEach, l.panelCount()) && l.ctx.Err() == nil; p++ {
			panel := scratch[worker]
			if l.panels != nil {
				panel = l.panels[p*size:][:size]
			} else {
				l.frame.Panel(panel, l.points, p*distance.Lanes, distance.Plain)
			}
			do(piece, p, panel)
		}
	})
}

// run iterates from the centroids until labels or centroids stop moving.
func (l *lloyd) run() (iterations int, err error) {
	l.clearSums()
	for i := range l.labels {
		l.labels[i] = none
	}
	for iterations < l.opts.MaxIterations {
		iterations++
		changed, err := l.assign()
		if err != nil {
			return iterations, err
		}
		if !changed {
			l.means() // the same means, without the accumulated rounding of their sums
			return iterations, nil
		}
		l.refill()
		if l.update() <= l.opts.Tolerance*l.spread {
			break
		}
	}
	_, err = l.assign() // labels belong to the final centroids
	return iterations, err
}

// assign labels each point with its nearest centroid and reports whether a label
// changed.
func (l *lloyd) assign() (changed bool, err error) {
	var most float64 // squared norm of a centroid
	size := l.frame.GroupSize()
	for g := range len(l.rows) / size {
		for _, norm := range l.frame.Group(l.rows[g*size:][:size], l.centroids, g*distance.Rows, distance.Normed) {
			most = max(most, norm)
		}
	}
	level := cpu.Best()
	pieces := (l.panelCount() + panelsEach - 1) / panelsEach
	changes, counts := make([]bool, pieces), make([]int32, pieces*l.opts.Clusters)
	err = l.each(func(piece, p int, panel []float32) {
		var leaders distance.BestRows
		distance.Least(level, &leaders, l.rows, panel)
		count := counts[piece*l.opts.Clusters:][:l.opts.Clusters]
		for i := range min(distance.Lanes, l.points.Rows-p*distance.Lanes) {
			at := p*distance.Lanes + i
			label := leaders.Row[i]
			if !(leaders.Second[i]-leaders.Least[i] > l.frame.Slack(float64(l.norms[at]), most)) {
				label = l.nearest(at)
			}
			changes[piece] = changes[piece] || l.labels[at] != label
			l.labels[at] = label
			count[label]++
		}
	})
	if err != nil {
		return false, err
	}
	clear(l.sizes)
	for piece, moved := range changes {
		changed = changed || moved
		for c, n := range counts[piece*l.opts.Clusters:][:l.opts.Clusters] {
			l.sizes[c] += int(n)
		}
	}
	return changed, nil
}

// nearest compares all distances of a point in float64.
func (l *lloyd) nearest(point int) (label int32) {
	x, least := distance.Row(l.points, point), math.Inf(1)
	for c := range l.opts.Clusters {
		if d := distance.Squared(x, distance.Row(l.centroids, c)); d < least {
			label, least = int32(c), d
		}
	}
	return label
}

// refill moves the point farthest from its centroid into each empty cluster. It
// leaves a cluster empty when every point sits on its centroid.
func (l *lloyd) refill() {
	var away []float64 // of each point from its centroid
	for c, size := range l.sizes {
		if size > 0 {
			continue
		}
		if away == nil {
			away = make([]float64, len(l.labels))
			for i, label := range l.labels {
				away[i] = distance.Squared(distance.Row(l.points, i), distance.Row(l.centroids, int(label)))
			}
		}
		far, most := none, 0.0
		for i, label := range l.labels {
			if away[i] > most && l.sizes[label] > 1 {
				far, most = i, away[i]
			}
		}
		if far == none {
			return
		}
		away[far] = 0
		l.sizes[l.labels[far]]--
		l.labels[far], l.sizes[c] = int32(c), 1
	}
}

// Sums consist of parts, each over a range of points, that are added in order: enough parts to keep
// workers busy, but no more memory than these numbers.
const (
	mostParts   = 16
	partNumbers = 1 << 24
)

func partsOf(numbers int) int { return min(mostParts, max(partNumbers/numbers, 1)) }

// Sums returns about how many bytes the sums of so many clusters of a dimension take.
func Sums(clusters, dimension int) int64 {
	numbers := max(clusters, 1) * max(dimension, 1)
	return 8 * int64(numbers) * int64(partsOf(numbers)+4)
}

// update moves the centroids to the means of their points and returns the summed squared movement.
// An empty cluster's centroid stays. It only reads points that changed their cluster.
func (l *lloyd) update() (movement float64) {
	parts := partsOf(len(l.sums.Data))
	each := (l.points.Rows + parts - 1) / parts
	sums := make([]blas64.General, parts)
	parallel.Share(parts, l.opts.Workers, func(_, part int) {
		own := general(l.sums.Rows, l.sums.Cols)
		for i := part * each; i < min((part+1)*each, l.points.Rows); i++ {
			old, label := l.summed[i], l.labels[i]
			if old == label {
				continue
			}
			if old != none {
				floats.Sub(distance.Row(own, int(old)), distance.Row(l.points, i))
			}
			floats.Add(distance.Row(own, int(label)), distance.Row(l.points, i))
			l.summed[i] = label
		}
		sums[part] = own
	})
	for _, part := range sums {
		floats.Add(l.sums.Data, part.Data)
	}
	mean := make([]float64, l.points.Cols)
	for c, size := range l.sizes {
		if size == 0 {
			continue
		}
		centroid := distance.Row(l.centroids, c)
		for j, v := range distance.Row(l.sums, c) {
			mean[j] = v / float64(size)
		}
		movement += distance.Squared(mean, centroid)
		copy(centroid, mean)
	}
	return movement
}

// means moves the centroids to the means of their points, summing anew.
func (l *lloyd) means() {
	l.clearSums()
	l.update()
}

// clearSums removes all points from the sums.
func (l *lloyd) clearSums() {
	clear(l.sums.Data)
	for i := range l.summed {
		l.summed[i] = none
	}
}

// inertia is computed by differences, not from scores, to lose no digits.
func (l *lloyd) inertia() float64 {
	parts := make([]float64, (l.points.Rows+distance.ChunkRows-1)/distance.ChunkRows)
	parallel.Share(len(parts), l.opts.Workers, func(_, part int) {
		for i := part * distance.ChunkRows; i < min((part+1)*distance.ChunkRows, l.points.Rows); i++ {
			parts[part] += distance.Squared(distance.Row(l.points, i), distance.Row(l.centroids, int(l.labels[i])))
		}
	})
	return sum(parts)
}

// sum adds in order, so that every machine gives the same result.
func sum(x []float64) (total float64) {
	for _, v := range x {
		total += v
	}
	return total
}

// result returns the current grouping. It reuses the given labels unless they are nil.
func (l *lloyd) result(labels []int, inertia float64, iterations int) (_ Result, err error) {
	if labels == nil {
		if labels, err = room.Of[int](l.opts.Room, len(l.labels)); err != nil {
			return Result{}, err
		}
	}
	for i, label := range l.labels {
		labels[i] = int(label)
	}
	return Result{
		Centroids:  mat.NewDense(l.centroids.Rows, l.centroids.Cols, append([]float64(nil), l.centroids.Data...)),
		Labels:     labels,
		Sizes:      append([]int(nil), l.sizes...),
		Inertia:    inertia,
		Iterations: iterations,
	}, nil
}

func general(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}
