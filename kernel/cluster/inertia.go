package cluster

import (
	"fmt"
	"iter"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/distance"
	"github.com/cosketch/cosketch/kernel/estimate"
)

// Inertia estimates the inertia of a grouping of sketched records (the rows of points) for the
// records without noise and projection: see the package comment. The labels are those of the
// result. It returns an error if the records do not fit the points.
func Inertia(points *mat.Dense, found Result, records estimate.Records, level estimate.Level) (estimate.Estimate, error) {
	if _, d := points.Dims(); d != records.K {
		return estimate.Estimate{}, fmt.Errorf("inertia: points of %d coordinates for records of %d", d, records.K)
	}
	group, err := records.NewGroup()
	if err != nil {
		return estimate.Estimate{}, err
	}
	means := found.means(points)
	difference := make([]float64, records.K)
	for i := range order(len(found.Labels)) {
		floats.SubTo(difference, points.RawRowView(i), means.RawRowView(found.Labels[i]))
		if err := group.Add(difference); err != nil {
			return estimate.Estimate{}, err
		}
	}
	c := estimate.Clustering{Clusters: found.nonEmpty()}
	c.Optimism, c.Variance = optimism(points, found, means, records.Noise.Variance)
	return group.Inertia(c, level), nil
}

// order yields 0..n, first points spread over all of them, since the first ones of a group decide
// the width of its intervals. The others follow in order, so that points on a disk are read once.
func order(n int) iter.Seq[int] {
	const first = 4096
	step := max(n/first, 1)
	return func(yield func(int) bool) {
		for i := 0; i < n; i += step {
			if !yield(i) {
				return
			}
		}
		for i := range n {
			if i%step != 0 && !yield(i) {
				return
			}
		}
	}
}

// nonEmpty is the number of clusters that have points.
func (r Result) nonEmpty() (count int) {
	for _, size := range r.Sizes {
		if size > 0 {
			count++
		}
	}
	return count
}

// means returns the mean of the points of each cluster; for an empty one, its centroid.
func (r Result) means(points *mat.Dense) *mat.Dense {
	means := mat.DenseCopyOf(r.Centroids)
	for c, size := range r.Sizes {
		if size > 0 {
			clear(means.RawRowView(c))
		}
	}
	for i, label := range r.Labels {
		floats.Add(means.RawRowView(label), points.RawRowView(i))
	}
	for c, size := range r.Sizes {
		if size > 0 {
			floats.Scale(1/float64(size), means.RawRowView(c))
		}
	}
	return means
}

// The distance from a face within which points count, in standard deviations of the noise, and the
// number of points to look at: so many multiplications' worth, but at least leastSeen.
const (
	nearFace  = 0.25
	faceWork  = 1 << 28
	leastSeen = 4096
)

// Faces depend on the noise too, the more so the fewer points hold them, which Stein's identity for
// fixed faces leaves out. What is missing is about 15 k/n of the optimism in simulations of 2 to 8
// clusters of 300 to 4,000 points of 4 to 64 coordinates: 13 to 18 k/n for 2 and 3 clusters, up to
// 25 for 8. It is added; half of it and a further part of the optimism count as the standard error.
const (
	following = 15
	doubt     = 0.15
)

// optimism returns O of the package comment, with the variance of its error.
func optimism(points *mat.Dense, found Result, means *mat.Dense, variance float64) (sum, error2 float64) {
	clusters, d := means.Dims()
	if variance <= 0 || found.nonEmpty() < 2 {
		return 0, 0
	}
	n := len(found.Labels)
	seen := min(n, max(leastSeen, faceWork/(clusters*d)))
	width := nearFace * math.Sqrt(variance)
	weight := variance / (2 * width) * float64(n) / float64(seen)
	shift := mat.NewDense(clusters, d, nil) // n_c δ_c
	direction := make([]float64, d)
	between := means
	if found.extended {
		between = found.Centroids
	}
	f := newFaces(between, found.Sizes)
	for i := range seen {
		at := i * n / seen
		label := found.Labels[at]
		for _, other := range f.within(width, points.RawRowView(at), label) {
			floats.SubTo(direction, between.RawRowView(label), between.RawRowView(other))
			norm := math.Sqrt(dot(direction, direction))
			floats.Scale(weight/norm, direction)
			floats.Add(shift.RawRowView(label), direction)
			floats.Sub(shift.RawRowView(other), direction)
			error2 += float64(4 * float64(weight*norm) * float64(weight*norm))
		}
	}
	for c, size := range found.Sizes {
		if size > 0 {
			s := shift.RawRowView(c)
			sum += 2*dot(s, means.RawRowView(c)) - dot(s, s)/float64(size)
		}
	}
	missing := float64(following*float64(d)) / float64(n) * sum
	error2 += math.Pow(float64(doubt*sum)+missing/2, 2)
	return sum + missing, error2
}

// faces computes the faces between the cells of clusters.
type faces struct {
	means  *mat.Dense
	sizes  []int
	gram   *mat.SymDense // of the means
	away   []float64     // squared distances of the current point from the means
	result []int
}

func newFaces(means *mat.Dense, sizes []int) *faces {
	f := &faces{means: means, sizes: sizes, away: make([]float64, len(sizes))}
	f.gram = mat.NewSymDense(len(sizes), nil)
	for a := range sizes {
		for b := range a + 1 {
			f.gram.SetSym(a, b, dot(means.RawRowView(a), means.RawRowView(b)))
		}
	}
	return f
}

// dot adds in order and without fused operations, so that results have the same bits on every
// machine.
func dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// within returns the clusters whose face with a point's own cluster is no farther than width. The
// foot of the point on the plane between both must be on the face: no third mean may be nearer to
// it.
func (f *faces) within(width float64, x []float64, label int) []int {
	for c := range f.away {
		f.away[c] = distance.Squared(x, f.means.RawRowView(c))
	}
	f.result = f.result[:0]
	for c, size := range f.sizes {
		if c == label || size == 0 {
			continue
		}
		between := math.Sqrt(math.Max(0, f.product(c, c, label)))
		if between == 0 {
			continue
		}
		if apart := (f.away[c] - f.away[label]) / (2 * between); math.Abs(apart) < width && f.footOnFace(c, label, apart/between) {
			f.result = append(f.result, c)
		}
	}
	return f.result
}

// product returns (a − from)·(b − from) of three means.
func (f *faces) product(a, b, from int) float64 {
	return f.gram.At(a, b) - f.gram.At(a, from) - f.gram.At(b, from) + f.gram.At(from, from)
}

// footOnFace reports whether the point x + step·(mean of c − mean of label) has no third mean nearer than
// these two.
func (f *faces) footOnFace(c, label int, step float64) bool {
	for b, size := range f.sizes {
		if size > 0 && b != c && b != label && f.away[b]-f.away[label] < 2*step*f.product(c, b, label) {
			return false
		}
	}
	return true
}
