package analysis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/transcript"
)

// CellMeans is the section of k-means where cells answer it. A party tells the cluster of
// a record by Model itself: no record's label travels.
type CellMeans struct {
	Clusters    int         `json:"clusters"`
	Restarts    int         `json:"restarts"`
	Suggested   int         `json:"suggested"`   // how many clusters, of 2 or more, the records seem to have; 0 where too few cells do or there are no moments to tell by
	Cells       int         `json:"cells"`       // of the partition
	Kept        int         `json:"kept"`        // of them, whose counts stand out of the noise; the others have no part in this
	Records     Number      `json:"records"`     // in the kept cells
	Level       float64     `json:"level"`       // of each interval by itself: about the noise, with the cells grouped as they are
	Sizes       []Number    `json:"sizes"`       // by cluster: records in its cells
	Centroids   [][]Number  `json:"centroids"`   // by cluster and feature: means of the records in its cells, in original units
	Separations []Pair      `json:"separations"` // of clusters I and J: squared distance of their centroids, in encoded units
	Inertia     float64     `json:"inertia"`     // summed squared distance of cells' centroids from the model, by records, with the noise in it, in encoded units
	Model       [][]float64 `json:"model"`       // by cluster and feature, in encoded units around the public centre: the nearest one's number is a record's cluster
}

func (c *CellMeans) check(a Analysis) error {
	k := c.Clusters
	if k < 1 || len(c.Sizes) != k || len(c.Centroids) != k || len(c.Model) != k {
		return fmt.Errorf("%d sizes, %d centroids and %d rows of a model of %d clusters", len(c.Sizes), len(c.Centroids), len(c.Model), k)
	}
	numbers := append([]Number{c.Records}, c.Sizes...)
	for i := range k {
		if len(c.Centroids[i]) != len(a.Features) || len(c.Model[i]) != len(a.Features) {
			return fmt.Errorf("cluster %d has %d and %d coordinates for %d features", i, len(c.Centroids[i]), len(c.Model[i]), len(a.Features))
		}
		numbers = append(numbers, c.Centroids[i]...)
	}
	for _, p := range c.Separations {
		if p.I < 0 || p.J <= p.I || p.J >= k {
			return fmt.Errorf("separation of clusters %d and %d of %d", p.I, p.J, k)
		}
		numbers = append(numbers, p.Number)
	}
	for _, n := range numbers {
		if err := n.check(); err != nil {
			return err
		}
	}
	return nil
}

// assumesCells is what the numbers of clusters are about.
const assumesCells = "nothing: means and numbers are of the records in the cells that make a cluster"

// mostSuggested is the largest number of clusters that is looked at to suggest one.
const mostSuggested = 10

// cellMeans clusters the cells of all parties' records.
func (r *run) cellMeans(ctx context.Context, index, sk int, a study.Analysis) (Analysis, error) {
	o, ok := a.Options.(study.KMeansOptions)
	if !ok {
		return Analysis{}, fmt.Errorf("options %T", a.Options)
	}
	x, sum, err := r.together(sk)
	if err != nil {
		return Analysis{}, err
	}
	cells := x.cells(sum, r.Study.CellWeight(sk), len(r.Contributions))
	space, variance, err := r.subspace(ctx, x, sk)
	if err != nil {
		return Analysis{}, err
	}
	start := protocol.Hash("cosketch/1/analysis/k-means", r.Study.ID[:], transcript.Uint32(uint32(index)))
	options := cluster.Options{Clusters: o.Clusters, Restarts: o.Restarts, Rand: rand.New(rand.NewChaCha8(start))}
	if o.Auto {
		if o.Clusters, err = cells.Suggest(ctx, space, variance, o.MaxClusters, options); err != nil {
			return Analysis{}, err
		}
		if o.Clusters == 0 {
			return Analysis{}, unanswerable("too few cells stand out of the noise to suggest how many clusters there are; a number of clusters instead of auto may be answered")
		}
		options.Clusters = o.Clusters
	}
	found, err := cells.Group(ctx, space, options)
	if faint := (*cluster.ErrFaint)(nil); errors.As(err, &faint) {
		return Analysis{}, unanswerable("%v", faint)
	}
	if err != nil {
		return Analysis{}, err
	}
	answer := &CellMeans{
		Clusters: o.Clusters, Restarts: o.Restarts, Cells: sum.Rows, Kept: found.Kept, Level: float64(estimate.DefaultLevel), Inertia: found.Inertia,
		Records: number(estimate.Noisy{Value: found.Records, Variance: float64(found.Kept) * cells.Noise.Count}.Estimate(0, 0)),
	}
	if variance > 0 {
		if answer.Suggested, err = cells.Suggest(ctx, space, variance, mostSuggested, options); err != nil {
			return Analysis{}, err
		}
	}
	out := Analysis{Kind: a.Kind, Sketch: sk, Assumption: assumesCells, Units: unitsOriginal, CellMeans: answer}
	for i := range x.plan.Features {
		out.Features = append(out.Features, x.name(i))
	}
	for c, one := range found.Clusters {
		count := estimate.Noisy{Value: one.Records, Variance: float64(one.Cells) * cells.Noise.Count}
		answer.Sizes = append(answer.Sizes, number(count.Estimate(0, 0)))
		answer.Model = append(answer.Model, mat.Row(nil, c, found.Model))
		var centroid []Number
		for i, s := range one.Sums {
			e := estimate.Quotient(estimate.Noisy{Value: s, Variance: float64(one.Cells) * cells.Noise.Sum}, count, 0)
			centroid = append(centroid, number(e.Times(x.unit(i)).Plus(x.origin(i))))
		}
		answer.Centroids = append(answer.Centroids, centroid)
	}
	answer.Separations, err = separations(found.Clusters, cells.Noise)
	return out, err
}

// cells are a merged sketch in encoded units.
func (x axes) cells(sum sketch.Sketch, weight int64, parties int) cluster.Cells {
	unit := x.plan.Unit()
	out := cluster.Cells{Sums: mat.NewDense(sum.Rows, sum.Cols-1, nil), Noise: x.plan.CellNoise(parties)}
	for i := range sum.Rows {
		row := sum.Row(i)
		out.Counts = append(out.Counts, float64(row[0])/float64(weight))
		for j, v := range row[1:] {
			out.Sums.Set(i, j, float64(v)*unit)
		}
	}
	return out
}

// subspace is spanned by the first eigenvectors of the covariance of the summed moments,
// where the study asks for them: those of the columns that are in the cells. Variance is
// that of the records in it, or in the whole space; 0 in a study without moments.
func (r *run) subspace(ctx context.Context, x axes, sk int) (space *cluster.Subspace, variance float64, err error) {
	at, ok := r.Study.Moments()
	if !ok {
		return nil, 0, nil
	}
	m, err := r.moments(at)
	if err != nil {
		return nil, 0, err
	}
	var in []int // moments' features that are in the cells, in the same order
	for i, f := range m.plan.Features {
		if len(in) < len(x.plan.Features) && f == x.plan.Features[len(in)] {
			in = append(in, i)
		}
	}
	covariance, through := mat.NewSymDense(len(in), nil), make([]float64, len(in))
	for a, i := range in {
		through[a] = m.estimates.Means()[i]
		for b, j := range in[:a+1] {
			covariance.SetSym(a, b, m.estimates.Covariances().At(i, j))
		}
	}
	q := r.Study.Sketches[sk].Subspace
	if q == 0 {
		return nil, mat.Trace(covariance), nil
	}
	values, axes, err := decompose.Principal(ctx, covariance, q)
	if err != nil {
		return nil, 0, err
	}
	return &cluster.Subspace{Through: through, Axes: axes}, floats.Sum(values), nil
}

// separations are the squared distances between the centroids of all pairs of clusters,
// with the noise taken off.
func separations(clusters []cluster.CellCluster, noise cluster.CellNoise) (out []Pair, err error) {
	centroid := func(c cluster.CellCluster) (point []float64, variance float64) {
		n, cells := c.Records, float64(c.Cells)
		var squares float64
		for _, s := range c.Sums {
			point = append(point, s/n)
			squares += s / n * s / n
		}
		// Of a coordinate, on average: the sum's noise, and the count's, which is in all.
		return point, cells * (noise.Sum + noise.Count*squares/math.Max(1, float64(len(c.Sums)))) / n / n
	}
	for i, a := range clusters {
		for j := i + 1; j < len(clusters); j++ {
			b := clusters[j]
			if a.Cells == 0 || b.Cells == 0 {
				out = append(out, Pair{I: i, J: j, Number: Number{Undefined: "a cluster has no cell"}})
				continue
			}
			x, v := centroid(a)
			y, w := centroid(b)
			e, err := estimate.Records{K: len(x), Noise: estimate.Noise{Variance: (v + w) / 2}, Identity: true}.SquaredDistance(x, y, 0)
			if err != nil {
				return nil, err
			}
			out = append(out, pair(i, j, e))
		}
	}
	return out, nil
}
