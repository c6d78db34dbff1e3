package cluster

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Cells are the noisy counts and sums of a partition of the space of records, of all parties
// together, in encoded units around the public centre.
type Cells struct {
	Counts  []float64  // required: records of each cell
	Sums    *mat.Dense // required: cells × d, the sums of their records
	Places  *mat.Dense // required by Group: cells × d, the place of each cell, known without its count and sums; Places computes it
	Records float64    // required by Group: of all cells, without noise
	Noise   CellNoise
	// CentroidVariance is the variance, on each coordinate, of cells' centroids around their places, towards
	// which noisy centroids are shrunk. 0: places do not tell where centroids are, and there is no
	// shrinkage.
	CentroidVariance float64
}

// CellNoise holds the variances of the noise on Cells; 0 for none.
type CellNoise struct {
	Count float64
	Sum   float64 // on each entry
}

// Subspace is the space onto which cells' centroids are projected: the span of orthonormal Axes
// through Through, such as the first eigenvectors of a covariance through the mean.
type Subspace struct {
	Through []float64  // d
	Axes    *mat.Dense // d × q
}

// faint is the least count of a usable cell, in standard deviations of its noise: below it the
// centroid is mostly noise. minCountShrunk is lower, for centroids that are shrunk towards their
// places.
const (
	minCount       = 3
	minCountShrunk = 2
)

// Grouping is the result of Cells.Group.
type Grouping struct {
	Model    *mat.Dense // clusters × d: a record belongs to the nearest row; within the subspace, if there is one
	Clusters []CellCluster
	Inertia  float64 // squared distances of the kept cells' centroids from the model, summed with the cells' records as weights; includes the noise
	Kept     int     // number of cells that stand out of the noise; the model is made from their centroids
}

// CellCluster is the sum of the cells of one cluster, before any projection.
type CellCluster struct {
	Cells   int       // number of cells
	Records float64   // number of records in them
	Sums    []float64 // the noise on an entry has the variance Cells · CellNoise.Sum
}

// Covariance returns the covariance of the noise on the numbers of records in two clusters of a and
// b cells, or the variance if both are the same cluster. As the number in all cells is known, the
// noise of their counts adds up to zero.
func (c Cells) Covariance(a, b int, same bool) float64 {
	shared := float64(a) * float64(b) / float64(len(c.Counts))
	if same {
		return c.Noise.Count * (float64(a) - shared)
	}
	return -c.Noise.Count * shared
}

// ErrTooNoisy reports that fewer cells than clusters stand out of the noise.
type ErrTooNoisy struct{ Kept, Cells, Clusters int }

func (e *ErrTooNoisy) Error() string {
	return fmt.Sprintf("only %d of %d cells have counts above the noise, fewer than the %d clusters: use more records, a larger ε or fewer directions", e.Kept, e.Cells, e.Clusters)
}

// significant returns the cells that stand out of the noise.
func (c Cells) significant() (kept []int) {
	least := minCount * math.Sqrt(c.Noise.Count)
	if c.CentroidVariance > 0 {
		least = minCountShrunk * math.Sqrt(c.Noise.Count)
	}
	for i, n := range c.Counts {
		if n > 0 && n >= least {
			kept = append(kept, i)
		}
	}
	return kept
}

// points returns the centroids of some cells, shrunk towards their places and projected.
func (c Cells) points(kept []int, space *Subspace) (points *mat.Dense, weights []float64) {
	_, d := c.Sums.Dims()
	points = mat.NewDense(len(kept), d, nil)
	for row, i := range kept {
		p := points.RawRowView(row)
		floats.AddScaled(p, 1/c.Counts[i], c.Sums.RawRowView(i))
		c.shrink(p, i)
		space.project(p)
		weights = append(weights, c.Counts[i])
	}
	return points, weights
}

// shrink shrinks the centroid of a cell towards its place by Bayes' rule, both being normal. S −
// n·place is n·(centroid − place) with the noise of the sum, and that of the count times the place.
func (c Cells) shrink(centroid []float64, cell int) {
	if c.CentroidVariance == 0 {
		return
	}
	for j, place := range c.Places.RawRowView(cell) {
		noise := (c.Noise.Sum + place*place*c.Noise.Count) / c.Counts[cell] / c.Counts[cell]
		centroid[j] = place + (centroid[j]-place)*c.CentroidVariance/(c.CentroidVariance+noise)
	}
}

// project moves a point to the nearest one of the subspace; nil means the whole space.
func (s *Subspace) project(point []float64) {
	if s == nil {
		return
	}
	d, q := s.Axes.Dims()
	from := make([]float64, d)
	floats.SubTo(from, point, s.Through)
	copy(point, s.Through)
	for a := range q {
		axis := mat.Col(nil, a, s.Axes)
		floats.AddScaled(point, floats.Dot(axis, from), axis)
	}
}

// Group applies k-means to the centroids of the cells that stand out of the noise, weighted by
// their counts. Projecting them removes the noise across the subspace; distances between a record
// and the centroids then differ only within it. It returns an *ErrTooNoisy if there are fewer such
// cells than clusters.
//
// Those cells are used only for the model. Selected by their noise, they have too many records on
// average, and an interval of their sum would not cover. Every cell is therefore assigned to the
// cluster nearest to its place, and all cells are added up. The number of all records is known: the
// difference to the sum of the counts is divided evenly among the cells.
func (c Cells) Group(ctx context.Context, space *Subspace, opts Options) (Grouping, error) {
	kept := c.significant()
	if len(kept) < max(opts.Clusters, 1) {
		return Grouping{}, &ErrTooNoisy{Kept: len(kept), Cells: len(c.Counts), Clusters: opts.Clusters}
	}
	points, weights := c.points(kept, space)
	found, err := Weighted(ctx, points, weights, opts)
	if err != nil {
		return Grouping{}, err
	}
	_, d := c.Sums.Dims()
	out := Grouping{Model: found.Centroids, Inertia: found.Inertia, Kept: len(kept)}
	for range opts.Clusters {
		out.Clusters = append(out.Clusters, CellCluster{Sums: make([]float64, d)})
	}
	for i, n := range c.Counts {
		cluster := &out.Clusters[Nearest(out.Model, c.Places.RawRowView(i))]
		cluster.Cells++
		cluster.Records += n
		floats.Add(cluster.Sums, c.Sums.RawRowView(i))
	}
	lacking := c.Records - floats.Sum(c.Counts)
	for i := range out.Clusters {
		out.Clusters[i].Records += lacking * float64(out.Clusters[i].Cells) / float64(len(c.Counts))
	}
	return out, nil
}

// Suggest returns the number of clusters of the records, of 2 to most: the one with the largest
// ratio of Caliński and Harabasz 1974, of the spread of the clusters to that of the records within
// them, each by its degrees of freedom. variance is the mean squared distance of the records from
// their mean in the subspace, which moments tell and cells do not.
//
// The ratio does not tell two clusters from one. A grouping of few cells into nearly as many
// clusters always looks good, so numbers above a third of the cells that stand out of the noise are
// not tried. 0 means that none was.
func (c Cells) Suggest(ctx context.Context, space *Subspace, variance float64, most int, opts Options) (int, error) {
	kept := c.significant()
	points, weights := c.points(kept, space)
	records := floats.Sum(weights)
	if most = min(most, len(kept)/3); most < 2 || records <= float64(most) {
		return 0, nil
	}
	var alone, best float64
	at := 0
	for k := 1; k <= most; k++ {
		opts.Clusters = k
		found, err := Weighted(ctx, points, weights, opts)
		if err != nil {
			return 0, err
		}
		if k == 1 {
			alone = found.Inertia
			continue
		}
		between := alone - found.Inertia
		within := max(records*variance-between, found.Inertia)
		if ratio := between / float64(k-1) / (within / (records - float64(k))); ratio > best {
			best, at = ratio, k
		}
	}
	return at, nil
}
