package analysis

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/room"
)

// Scatter is a picture of records in groups, like clusters: some of the sketched, noised rows of
// each, in the plane of largest variance. It is computed after the release and spends no privacy
// budget. Points show neither party nor position. There is no picture of releases without noise:
// their parties get clusters, not rows.
type Scatter struct {
	Of       int          `json:"of"`                                    // number of all rows; Points are a sample, spread evenly over each party's rows of a cluster
	Variance [2]float64   `json:"variance" by:"axis" of:"share"`         // variance along each axis, as a share of the sample's
	Points   []Dot        `json:"points" by:"point"`                     // sorted by X
	Centres  [][2]float64 `json:"centres" by:"cluster,axis" of:"centre"` // centroids of the clusters in the same plane; null for other groups
}

// Dot is one point of a picture, to four digits, in encoded units from the sample's mean.
type Dot struct {
	X       float64 `json:"x"`                    // along the first axis
	Y       float64 `json:"y"`                    // along the second axis
	Cluster int     `json:"cluster" of:"classes"` // index of its group
}

// mostDots limits the points of a picture, and mostDrawn the clusters.
const (
	mostDots  = 500
	mostDrawn = 50
)

// scatter draws the points of a clustering, and its centroids if it has them. It returns nil if
// there is nothing to see, or if the points carry no noise.
func scatter(ctx context.Context, from room.Allocator, points *mat.Dense, found cluster.Result, mechanism dp.Mechanism) (*Scatter, error) {
	rows, cols := points.Dims()
	if mechanism == dp.None || cols < 2 || len(found.Sizes) > mostDrawn {
		return nil, nil
	}
	chosen := sample(found.Labels, found.Sizes)
	if len(chosen) < 3 {
		return nil, nil
	}
	drawn, err := dense(from, len(chosen), cols)
	if err != nil {
		return nil, err
	}
	for i, row := range chosen {
		drawn.SetRow(i, points.RawRowView(row))
	}
	mean := make([]float64, cols)
	for i := range chosen {
		for j, x := range drawn.RawRowView(i) {
			mean[j] += x / float64(len(chosen))
		}
	}
	centre := func(row []float64) {
		for j := range row {
			row[j] -= mean[j]
		}
	}
	for i := range chosen {
		centre(drawn.RawRowView(i))
	}
	axes, variance, ok, err := plane(ctx, drawn)
	if err != nil || !ok {
		return nil, err
	}
	out := &Scatter{Of: rows, Variance: variance}
	for i, row := range chosen {
		x, y := axes.of(drawn.RawRowView(i))
		out.Points = append(out.Points, Dot{x, y, found.Labels[row]})
	}
	slices.SortFunc(out.Points, func(a, b Dot) int {
		return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y), cmp.Compare(a.Cluster, b.Cluster))
	})
	for c := range found.Sizes {
		if found.Centroids == nil {
			break
		}
		at := mat.Row(nil, c, found.Centroids)
		centre(at)
		x, y := axes.of(at)
		out.Centres = append(out.Centres, [2]float64{x, y})
	}
	return out, nil
}

// groups is scatter for points with a group each, without centroids.
func groups(ctx context.Context, from room.Allocator, points *mat.Dense, of []int, count int, mechanism dp.Mechanism) (*Scatter, error) {
	found := cluster.Result{Labels: of, Sizes: make([]int, count)}
	for _, group := range of {
		found.Sizes[group]++
	}
	return scatter(ctx, from, points, found, mechanism)
}

// sample chooses at most mostDots rows: from each cluster in proportion to its size, and evenly
// over its rows.
func sample(labels, sizes []int) []int {
	var chosen []int
	seen, taken := make([]int, len(sizes)), make([]int, len(sizes))
	for row, c := range labels {
		quota := sizes[c]
		if len(labels) > mostDots {
			quota = max(1, sizes[c]*(mostDots-len(sizes))/len(labels))
		}
		seen[c]++
		if taken[c]*sizes[c] < seen[c]*quota {
			taken[c]++
			chosen = append(chosen, row)
		}
	}
	return chosen
}

// flat is two directions, each a column.
type flat [2][]float64

// of returns a row's position in the plane, to four digits.
func (a flat) of(row []float64) (x, y float64) {
	var at [2]float64
	for k, axis := range a {
		for j, v := range row {
			at[k] += float64(v * axis[j])
		}
		at[k] = fourDigits(at[k])
	}
	return at[0], at[1]
}

// plane finds the two directions in which centred rows vary most, and their shares of the variance.
// ok is false if all rows are alike.
func plane(ctx context.Context, centred *mat.Dense) (out flat, share [2]float64, ok bool, err error) {
	n, cols := centred.Dims()
	var products mat.SymDense // of columns or rows, whichever are fewer: both have the same non-zero eigenvalues
	if cols <= n {
		products.SymOuterK(1, centred.T())
	} else {
		products.SymOuterK(1, centred)
	}
	total := mat.Trace(&products)
	if !(total > 0) || math.IsInf(total, 0) {
		return out, share, false, nil
	}
	values, vectors, err := decompose.Principal(ctx, &products, len(out))
	if err != nil {
		return out, share, false, err
	}
	for k := range out {
		out[k] = make([]float64, cols)
		share[k] = max(values[k], 0) / total
		switch {
		case share[k] < 1e-12: // one direction has all the variance
		case cols <= n:
			mat.Col(out[k], k, vectors)
		default:
			turned(out[k], centred, vectors.ColView(k), values[k])
		}
	}
	return out, share, true, nil
}

// turned converts an eigenvector of the products of rows to that of the products of columns, with
// the sign that makes its largest entry positive.
func turned(axis []float64, centred *mat.Dense, vector mat.Vector, value float64) {
	for i := range vector.Len() {
		for j, x := range centred.RawRowView(i) {
			axis[j] += float64(vector.AtVec(i) * x)
		}
	}
	largest := 0.0
	for _, x := range axis {
		if math.Abs(x) > math.Abs(largest) {
			largest = x
		}
	}
	for j := range axis {
		axis[j] /= math.Copysign(math.Sqrt(value), largest)
	}
}

// check returns an error if the picture cannot be drawn.
func (s *Scatter) check(groups, centres int) error {
	if len(s.Centres) != centres || len(s.Points) > mostDots {
		return fmt.Errorf("a picture of %d centres and %d points for %d groups", len(s.Centres), len(s.Points), groups)
	}
	for _, p := range s.Points {
		if p.Cluster < 0 || p.Cluster >= groups {
			return fmt.Errorf("a point of group %d of %d", p.Cluster, groups)
		}
	}
	return nil
}
