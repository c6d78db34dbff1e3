package analysis

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// MostClustered limits the columns of a hierarchy: work and memory grow with their square.
const MostClustered = 2000

// Hierarchy is the section of a clustering of columns, which are the analysis's features.
//
//section:hierarchy of clustering
type Hierarchy struct {
	Linkage  cluster.Linkage      `json:"linkage"`                        // as the study file has it
	Distance study.ColumnDistance `json:"distance"`                       // absolute or signed
	Merges   []Merge              `json:"merges" by:"merge"`              // from the lowest to the highest
	Leaves   []int                `json:"leaves" by:"leaf" of:"features"` // features, ordered so that every cluster is a run of neighbours
	LeftOut  []Feature            `json:"left_out,omitempty" by:"-"`      // columns without a defined correlation
}

// Merge joins two clusters: features or, numbered after these, earlier merges.
type Merge struct {
	A             int     `json:"a" of:"features"` // one cluster: a feature's index, or the number of features and the index of an earlier merge
	B             int     `json:"b" of:"features"` // the other cluster, numbered likewise
	Height        float64 `json:"height"`          // distance at which they merge
	StandardError float64 `json:"standard_error"`  // upper bound of the standard error of Height
	Size          int     `json:"size"`            // number of features in the merged cluster
	Close         bool    `json:"close,omitempty"` // whether the height is within its error of the merge above, so the order of the merges is uncertain
}

func (h *Hierarchy) nothing() string {
	if m := h.Merges; len(m) < 2 || slices.ContainsFunc(m, func(m Merge) bool { return !m.Close }) {
		return ""
	}
	return fmt.Sprintf("0 of %d merges are settled", len(h.Merges))
}

func (h *Hierarchy) check(a Analysis) error {
	n := len(a.Features)
	if len(h.Merges) != n-1 || len(h.Leaves) != n {
		return fmt.Errorf("%d merges and %d leaves of %d features", len(h.Merges), len(h.Leaves), n)
	}
	for i, m := range h.Merges {
		if m.A < 0 || m.B < 0 || m.A >= n+i || m.B >= n+i || m.A == m.B {
			return fmt.Errorf("merge %d of clusters %d and %d", i+1, m.A, m.B)
		}
	}
	for i, leaf := range slices.Sorted(slices.Values(h.Leaves)) {
		if leaf != i {
			return fmt.Errorf("leaves that are not the %d features", n)
		}
	}
	return nil
}

// clustering answers with a hierarchy of the columns by their correlations (estimator E2).
func (c *columns) clustering(ctx context.Context, a study.Analysis, out *Analysis) error {
	o, ok := a.Options.(study.ClusteringOptions)
	if !ok {
		return fmt.Errorf("options of kind %T", a.Options)
	}
	out.Estimator = study.E2
	out.Assumptions = premise.Usual(a.Kind, out.Estimator)
	c.level = out.promise(a, Intervals(study.Correlation, len(c.variables()), len(c.groups)))
	vars := c.variables()
	located := c.located(vars)
	section := &Hierarchy{Linkage: o.Linkage, Distance: o.Distance}
	if len(vars) > MostClustered {
		return unanswerable("%d columns are too many: at most %d are clustered", len(vars), MostClustered)
	}
	if err := c.reach(ctx, vars); err != nil {
		return err
	}
	pairs, err := everyPair(ctx, len(located), false, func(i, j int) estimate.Estimate {
		return c.gram.CorrelationE2(located[i], located[j], c.level)
	})
	if err != nil {
		return err
	}
	kept := definedOf(len(vars), pairs)
	if len(kept) < 2 {
		return unanswerable("fewer than two columns have a defined correlation")
	}
	place := make([]int, len(vars))
	for i, v := range vars {
		if place[i] = slices.Index(kept, i); place[i] < 0 {
			section.LeftOut = append(section.LeftOut, c.name(v))
		} else {
			out.Features = append(out.Features, c.name(v))
		}
	}
	distances, deviations := mat.NewSymDense(len(kept), nil), mat.NewSymDense(len(kept), nil)
	for _, p := range pairs {
		i, j := place[p.I], place[p.J]
		switch {
		case i < 0 || j < 0:
		case p.Estimate == nil:
			return unanswerable("a correlation is undefined, and a hierarchy needs them all: %s", p.Undefined)
		default:
			d, e := columnDistance(o.Distance, *p.Estimate, *p.StandardError)
			distances.SetSym(i, j, d)
			deviations.SetSym(i, j, e)
		}
	}
	t, err := cluster.Hierarchy(ctx, distances, cluster.HierarchyOptions{Linkage: o.Linkage, Deviations: deviations, Quantile: c.level.Quantile()})
	if err != nil {
		return err
	}
	section.Leaves = t.Leaves
	for _, m := range t.Merges {
		section.Merges = append(section.Merges, Merge{A: m.A, B: m.B, Height: m.Height, StandardError: m.StandardError, Size: m.Size, Close: m.Close})
	}
	out.Hierarchy = section
	return nil
}

// columnDistance returns the distance of two columns with this correlation, and its standard error.
// The standard error of a square root is bounded by its value at distance zero.
func columnDistance(kind study.ColumnDistance, rho, deviation float64) (distance, of float64) {
	if kind == study.Absolute {
		return 1 - math.Abs(rho), deviation
	}
	distance = math.Sqrt(2 * math.Max(0, 1-rho))
	return distance, math.Min(deviation/math.Max(distance, 1e-300), math.Sqrt(2*deviation))
}

// definedOf lists those of n features that have a defined number with some other feature.
func definedOf(n int, pairs []Pair) (out []int) {
	defined := make([]bool, n)
	for _, p := range pairs {
		if p.Estimate != nil {
			defined[p.I], defined[p.J] = true, true
		}
	}
	for i, ok := range defined {
		if ok {
			out = append(out, i)
		}
	}
	return out
}

func ofClustering() kind {
	return kind{
		name: study.Clustering, ways: []way{onColumns((*columns).clustering)},
		size:     func(t *taken) Size { return numbers(t.values) },
		refuse:   cubic(study.Clustering, "clustered", MostClustered, 12),
		matrices: 12,
	}
}
