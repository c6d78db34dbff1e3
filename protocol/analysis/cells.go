package analysis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/sum"
	"github.com/cosketch/cosketch/seed/transcript"
)

// CellMeans is the section of k-means by cells. A party finds the cluster of each of its records by
// Model itself: no record's label is sent.
//
//section:cell_means of k-means by cells
type CellMeans struct {
	Clusters    int         `json:"clusters"`                                    // number of clusters, as the study asks or as suggested
	Restarts    int         `json:"restarts"`                                    // number of starts that were tried
	Suggested   int         `json:"suggested"`                                   // number of clusters that the records seem to have, at least 2; 0 if too few cells stand out, or without moments
	Cells       int         `json:"cells"`                                       // number of cells of the partition
	Kept        int         `json:"kept"`                                        // number of cells whose counts stand out of the noise; they determine the model, and nothing else here
	Records     int64       `json:"records"`                                     // number of records of all parties; the sizes add up to it
	Level       float64     `json:"level"`                                       // level of each interval by itself; intervals cover the noise, given the grouping of cells
	Sizes       []Number    `json:"sizes" by:"cluster"`                          // by cluster: number of records in its cells, which are the cells nearest to it
	Centroids   [][]Number  `json:"centroids" by:"cluster,features"`             // by cluster and feature: means of the records in the cluster's cells, in original units
	Separations []Pair      `json:"separations" by:"-" of:"cluster"`             // squared distance between the centroids of clusters I and J, in encoded units
	Inertia     float64     `json:"inertia"`                                     // over the cells that stand out of the noise: sum of the squared distances between their centroids and the model, each times the cell's records; noise included, in encoded units
	Model       [][]float64 `json:"model" by:"cluster,features" of:"coordinate"` // by cluster and feature, in encoded units around the public centre; a record belongs to the nearest cluster
}

func (c *CellMeans) check(a Analysis) error {
	k := c.Clusters
	if k < 1 || len(c.Sizes) != k || len(c.Centroids) != k || len(c.Model) != k {
		return fmt.Errorf("%d sizes, %d centroids and %d rows of a model of %d clusters", len(c.Sizes), len(c.Centroids), len(c.Model), k)
	}
	numbers := slices.Clone(c.Sizes)
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

// restsOnCells returns what clusters by cells assume. Cells have no place for a missing value.
func (r *run) restsOnCells(clipped bool, cut *Cut) (rests premise.List) {
	switch {
	case cut != nil && cut.Shortened:
		rests = append(rests, premise.CutMeansAsked)
	case cut != nil:
		rests = append(rests, premise.FewCut)
	}
	if r.Study.Records.Missing.Stays() {
		rests = append(rests, premise.MissingIsCentre)
	}
	rests = append(rests, premise.InCells)
	if clipped {
		rests = append(rests, premise.CutForMeans)
	}
	return rests
}

// noCell is why a cluster has no numbers: no cell is nearest to its centroid in the model.
const noCell = "no cell lies nearest to this cluster"

// mostSuggested is the largest number of clusters considered when suggesting one.
const mostSuggested = 10

// partition is a sketch of cells of any kind as k-means reads it, in encoded units.
type partition struct {
	cells    cluster.Cells
	space    *cluster.Subspace // that centroids are projected onto; nil: they are not
	variance float64           // of the records in it; 0 if unknown
	rests    premise.List
	cut      *Cut
	axes     axes
	// mean returns the mean of a feature, in original units, over a cluster of so many records.
	mean func(one cluster.CellCluster, feature int, records estimate.Noisy) estimate.Estimate
	// place maps a point of the cells' space to all features, around the public centre.
	place func(point []float64) []float64
}

// bySigns returns the cells that random directions cut out.
func (r *run) bySigns(ctx context.Context, sk int, o study.KMeansOptions) (p partition, err error) {
	x, sum, err := r.together(sk)
	if err != nil {
		return p, err
	}
	known, err := r.beside(ctx, x, sk)
	if err != nil {
		return p, err
	}
	p = partition{axes: x, space: known.space, variance: known.variance, place: slices.Clone[[]float64]}
	if p.cells, err = r.cells(x, sum, known.records); err != nil {
		return p, err
	}
	p.mean = func(one cluster.CellCluster, i int, records estimate.Noisy) estimate.Estimate {
		e := estimate.Quotient(estimate.Noisy{Value: one.Sums[i], Variance: float64(one.Cells) * p.cells.Noise.Sum}, records, 0)
		return e.Times(x.unit(i)).Plus(x.origin(i))
	}
	p.cut = r.cutFromCells(x.plan, sum, o.Clusters)
	p.rests = r.restsOnCells(x.plan.Clip > 0 && !r.Study.Sketches[sk].Whole, p.cut)
	return p, nil
}

// cellMeans clusters the cells of all parties' records.
func (r *run) cellMeans(ctx context.Context, index, sk int, a study.Analysis) (Analysis, error) {
	return r.partitionMeans(ctx, index, sk, a, r.bySigns)
}

// partitionMeans clusters cells.
func (r *run) partitionMeans(ctx context.Context, index, sk int, a study.Analysis, by func(context.Context, int, study.KMeansOptions) (partition, error)) (Analysis, error) {
	o, ok := a.Options.(study.KMeansOptions)
	if !ok {
		return Analysis{}, fmt.Errorf("options %T", a.Options)
	}
	p, err := by(ctx, sk, o)
	if err != nil {
		return Analysis{}, err
	}
	cells, space, variance := p.cells, p.space, p.variance
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
	if faint := (*cluster.ErrTooNoisy)(nil); errors.As(err, &faint) {
		return Analysis{}, unanswerable("%v", faint)
	}
	if err != nil {
		return Analysis{}, err
	}
	answer := &CellMeans{
		Clusters: o.Clusters, Restarts: o.Restarts, Cells: len(cells.Counts), Kept: found.Kept, Records: r.records(), Level: float64(estimate.DefaultLevel), Inertia: found.Inertia,
	}
	if variance > 0 {
		if answer.Suggested, err = cells.Suggest(ctx, space, variance, mostSuggested, options); err != nil {
			return Analysis{}, err
		}
	}
	out := Analysis{
		Kind: a.Kind, Sketch: sk, Assumptions: p.rests, Cut: p.cut, Caution: p.cut.caution(a.Kind),
		Units: measure.Original, Sections: Sections{CellMeans: answer},
	}
	for i := range p.axes.plan.Features {
		out.Features = append(out.Features, p.axes.name(i))
	}
	for c, one := range found.Clusters {
		count := estimate.Noisy{Value: one.Records, Variance: cells.Covariance(one.Cells, one.Cells, true)}
		size := number(count.Estimate(0, 0))
		if one.Cells == 0 {
			size = Number{Undefined: noCell}
		}
		answer.Sizes, answer.Model = append(answer.Sizes, size), append(answer.Model, p.place(mat.Row(nil, c, found.Model)))
		var centroid []Number
		for i := range out.Features {
			mean := Number{Undefined: noCell}
			if one.Cells > 0 {
				mean = number(p.mean(one, i, count)).dated(out.Features[i])
			}
			centroid = append(centroid, mean)
		}
		answer.Centroids = append(answer.Centroids, centroid)
	}
	answer.Separations = separations(found.Clusters, cells)
	return out, nil
}

// CellClusters returns the cluster of each cell, for a k-means by cells that a run with the same
// options answered. Sizes and means are of the records in these cells, not of the records nearest
// to the model.
func CellClusters(ctx context.Context, o Options, a Analysis) ([]int, error) {
	fail := func(err error) ([]int, error) { return nil, fmt.Errorf("finding the cluster of each cell: %w", err) }
	if err := o.check(); err != nil {
		return fail(err)
	}
	if a.CellMeans == nil {
		return fail(errors.New("the analysis has no clusters by cells"))
	}
	r := &run{Options: o}
	by := r.bySigns
	if o.Study.SecondRound(a.Sketch) {
		by = r.byCodes
	}
	p, err := by(ctx, a.Sketch, study.KMeansOptions{Clusters: a.CellMeans.Clusters})
	if err != nil {
		return fail(err)
	}
	nearest, err := a.CellMeans.model(len(p.axes.plan.Features))
	if err != nil {
		return fail(err)
	}
	out := make([]int, len(p.cells.Counts))
	for i := range out {
		out[i] = nearest(p.place(p.cells.Places.RawRowView(i)))
	}
	return out, nil
}

// records returns the number of records of all parties.
func (r *run) records() (n int64) {
	for _, c := range r.Contributions {
		n = plus(n, c.Records)
	}
	return n
}

// cells returns a merged sketch in encoded units, with the places of its cells.
func (r *run) cells(x axes, merged sketch.Sketch, known cluster.Gaussian) (cluster.Cells, error) {
	unit, weight := x.plan.Unit(), float64(r.Study.CellWeights(x.plan.Index).Count)
	rows := 1 << x.plan.Spec().K // the last row counts cut records and belongs to no cell
	out := cluster.Cells{Sums: mat.NewDense(rows, merged.Cols-1, nil), Records: float64(r.records()), Noise: x.plan.CellNoise(len(r.Contributions))}
	for i := range rows {
		row := merged.Row(i)
		out.Counts = append(out.Counts, float64(row[0])/weight)
		for j, v := range row[1:] {
			out.Sums.Set(i, j, float64(v)*unit)
		}
	}
	keys, err := release.Public(r.Study, r.Contributions[0].Published)
	if err != nil {
		return out, err
	}
	directions, err := sum.Directions(r.Study, x.plan.Index, keys)
	if err != nil {
		return out, err
	}
	out.Places, err = cluster.Places(known, across(directions))
	return out, err
}

// across returns the directions as a matrix, columns × directions.
func across(directions *projection.Fixed) *mat.Dense {
	d, l := directions.Columns(), directions.Spec().K
	axes, products := make([]int64, d*d), make([]int64, d*l)
	for j := range d {
		axes[j*d+j] = 1
	}
	directions.Project(products, axes)
	out := mat.NewDense(d, l, nil)
	for i, v := range products {
		out.Set(i/l, i%l, float64(v))
	}
	return out
}

// beside is what is known of the records in cells from other sources.
type beside struct {
	records  cluster.Gaussian
	space    *cluster.Subspace // that centroids are projected onto; nil: they are not
	product  float64           // variance of the noise on a sum of products of two entries
	means    []float64         // variances of the means' errors, by feature; nil: none
	variance float64           // of the records in the subspace, or in the whole space; 0 if unknown
}

// beside uses the summed moments if the study asks for them, and otherwise what the study declares.
// The subspace is spanned by the first eigenvectors of the covariance of the moments, for the
// columns that are in the cells.
func (r *run) beside(ctx context.Context, x axes, sk int) (beside, error) {
	at, ok := r.Study.Moments()
	if !ok {
		return beside{records: x.declared()}, nil
	}
	m, err := r.moments(at)
	if err != nil {
		return beside{}, err
	}
	var in []int // the moments' features that are in the cells, in the same order
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
	out := beside{records: cluster.Gaussian{Mean: through}, product: m.product, variance: mat.Trace(covariance)}
	for _, i := range in {
		sd := m.estimates.Mean(i, m.level).StandardError
		out.means = append(out.means, sd*sd)
	}
	if len(in) <= decompose.MaxDim {
		near, err := decompose.Semidefinite(ctx, covariance)
		if err != nil {
			return beside{}, err
		}
		out.records.Covariance = near.Matrix
	} else { // too many for an eigendecomposition: ignore correlations
		variances := mat.NewSymDense(len(in), nil)
		for i := range in {
			variances.SetSym(i, i, max(covariance.At(i, i), 0))
		}
		out.records.Covariance = variances
	}
	q := r.Study.Sketches[sk].Subspace
	if q == 0 {
		return out, nil
	}
	values, axes, err := decompose.Principal(ctx, covariance, q)
	if err != nil {
		return beside{}, err
	}
	out.space, out.variance = &cluster.Subspace{Through: through, Axes: axes}, floats.Sum(values)
	return out, nil
}

// declared returns the distribution of records that the study file implies: a column's declared
// spread, or values uniform within bounds, categories with equal shares, and no correlation except
// between the categories of one column.
func (x axes) declared() cluster.Gaussian {
	d := len(x.plan.Features)
	mean, covariance := make([]float64, d), mat.NewSymDense(d, nil)
	for i, f := range x.plan.Features {
		c := x.column(i)
		if f.Kind == study.OneHot {
			share := 1 / float64(len(c.Values))
			mean[i] = share
			for j := i; j >= 0 && x.plan.Features[j].Column == f.Column; j-- {
				covariance.SetSym(i, j, -share*share)
			}
			covariance.SetSym(i, i, share*(1-share))
			continue
		}
		variance := 1. / 12
		if c.Kind == study.Binary {
			variance = 1. / 4
		} else if _, spread, ok := c.Scale.CentreSpread(); ok {
			variance = spread * spread / x.unit(i) / x.unit(i)
		}
		covariance.SetSym(i, i, variance)
	}
	return cluster.Gaussian{Mean: mean, Covariance: covariance}
}

// separations returns the squared distances between the centroids of all pairs of clusters, with
// the noise subtracted. Let x = S/n be a centroid. Noise on a sum adds an error to each coordinate.
// Noise e on a count moves the centroid by −x·e/n, and by x·Var(e)/n² on average.
func separations(clusters []cluster.CellCluster, cells cluster.Cells) (out []Pair) {
	for i, a := range clusters {
		for j := i + 1; j < len(clusters); j++ {
			b := clusters[j]
			if a.Cells == 0 || b.Cells == 0 {
				out = append(out, Pair{I: i, J: j, Number: Number{Undefined: "a cluster has no cell"}})
				continue
			}
			if lost := func(c cluster.CellCluster) bool {
				return c.Records <= 0 || c.Records*c.Records <= 4*cells.Covariance(c.Cells, c.Cells, true)
			}; lost(a) || lost(b) {
				out = append(out, Pair{I: i, J: j, Number: Number{Undefined: "the records of a cluster do not stand out of the noise"}})
				continue
			}
			out = append(out, pair(i, j, separation(a, b, cells)))
		}
	}
	return out
}

func separation(a, b cluster.CellCluster, cells cluster.Cells) estimate.Estimate {
	d, n, m := len(a.Sums), a.Records, b.Records
	x, y, apart := slices.Clone(a.Sums), slices.Clone(b.Sums), make([]float64, d)
	floats.Scale(1/n, x)
	floats.Scale(1/m, y)
	floats.SubTo(apart, x, y)
	// Variances of e/n, and of a coordinate due to the sums' noise.
	first, second := cells.Covariance(a.Cells, a.Cells, true)/n/n, cells.Covariance(b.Cells, b.Cells, true)/m/m
	both := cells.Covariance(a.Cells, b.Cells, false) / n / m
	each := cells.Noise.Sum * (float64(a.Cells)/n/n + float64(b.Cells)/m/m)
	byCounts := func(u, v float64) float64 { return u*u*first + v*v*second - 2*u*v*both } // of u·e/n − v·e/m
	square := floats.Dot(apart, apart)
	moved := 2 * (floats.Dot(apart, x)*first - floats.Dot(apart, y)*second)
	off := float64(d)*each + moved
	for c := range x {
		off += byCounts(x[c], y[c])
	}
	along := each
	if square > 0 {
		along += byCounts(floats.Dot(apart, x), floats.Dot(apart, y)) / square
	}
	return estimate.Squared(square-off, along, 2*float64(d)*each*each, 0)
}
