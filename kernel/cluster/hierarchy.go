package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Linkage defines the distance of two clusters, given the distances of their members.
type Linkage string

const (
	Average  Linkage = "average"  // the mean of all distances between them
	Complete Linkage = "complete" // the greatest
	Single   Linkage = "single"   // the least
	Ward     Linkage = "ward"     // for Euclidean distances: the increase of the summed squared distances from the centres when joining them
)

// Linkages returns all linkages.
func Linkages() []Linkage { return []Linkage{Average, Complete, Single, Ward} }

// HierarchyOptions are the options of Hierarchy.
type HierarchyOptions struct {
	Linkage    Linkage       // required
	Deviations mat.Symmetric // standard errors of the distances; nil for distances without error
	Quantile   float64       // number of standard errors by which two heights must differ; required with Deviations
}

// Merge joins two clusters. Numbers below n are the points; number n+i is the result of merge i.
type Merge struct {
	A, B          int // A < B
	Height        float64
	StandardError float64 // upper bound on the standard error of Height
	Size          int     // points in it
	Close         bool    // Height is within the error of the height of the merge above: their order, and so which points belong together there, is not settled
}

// Tree is a hierarchy of n points: n − 1 merges in order of height.
type Tree struct {
	Merges []Merge
	Leaves []int // the points in an order in which every cluster is contiguous
}

// Hierarchy joins n points, the two nearest clusters first, given the n × n matrix of their
// distances, which must be finite and not negative. It follows chains of nearest neighbours
// (Murtagh 1983), which takes time and memory of order n². This finds the same tree as joining the
// nearest of all, since no linkage brings a cluster nearer to a third than its parts were. The
// table of merges is numbered as in scipy.
//
// The standard error of a height is that of the distance that it equals (single, complete), or
// bounded by the mean of the standard errors of the distances in it: their correlations are not
// known here.
func Hierarchy(ctx context.Context, distances mat.Symmetric, o HierarchyOptions) (Tree, error) {
	n := distances.SymmetricDim()
	if n < 2 {
		return Tree{}, fmt.Errorf("clustering: %d points: a hierarchy needs at least 2", n)
	}
	if !slices.Contains(Linkages(), o.Linkage) {
		return Tree{}, fmt.Errorf("clustering: unknown linkage %q", string(o.Linkage))
	}
	if o.Deviations != nil {
		if rows := o.Deviations.SymmetricDim(); rows != n {
			return Tree{}, fmt.Errorf("clustering: %d points with standard errors of %d", n, rows)
		}
		if !(o.Quantile > 0) {
			return Tree{}, fmt.Errorf("clustering: quantile %v of the standard errors: must be above 0", o.Quantile)
		}
	}
	h := &hierarchy{linkage: o.Linkage, distances: make([][]float64, n), deviations: make([][]float64, n), sizes: make([]int, n)}
	for i := range n {
		h.distances[i], h.deviations[i], h.sizes[i] = make([]float64, n), make([]float64, n), 1
		for j := range n {
			d := distances.At(i, j)
			if !(d >= 0) || math.IsInf(d, 0) {
				return Tree{}, fmt.Errorf("clustering: the distance of points %d and %d is %v: must be finite and at least 0", i, j, d)
			}
			h.distances[i][j] = d
			if o.Deviations != nil {
				h.deviations[i][j] = o.Deviations.At(i, j)
			}
		}
	}
	merges, err := h.chains(ctx)
	if err != nil {
		return Tree{}, err
	}
	t := tree(n, merges)
	t.compare(n, o.Quantile)
	return t, nil
}

// hierarchy is the state of one call of Hierarchy. A merged cluster keeps the index of one of its
// parts.
type hierarchy struct {
	linkage               Linkage
	distances, deviations [][]float64
	sizes                 []int // 0 for a cluster that was merged into another
}

// chains merges reciprocal nearest neighbours, in the order in which it meets them. A and B of a
// merge are points of the two clusters.
func (h *hierarchy) chains(ctx context.Context) ([]Merge, error) {
	n := len(h.sizes)
	var out []Merge
	var chain []int
	for len(out) < n-1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(chain) == 0 {
			chain = append(chain, slices.IndexFunc(h.sizes, func(s int) bool { return s > 0 }))
		}
		for {
			end := chain[len(chain)-1]
			next, least := -1, math.Inf(1)
			if len(chain) > 1 { // among equally near ones prefer the previous one: else the chain could cycle
				next = chain[len(chain)-2]
				least = h.distances[end][next]
			}
			for i, d := range h.distances[end] {
				if i != end && h.sizes[i] > 0 && d < least {
					next, least = i, d
				}
			}
			if len(chain) > 1 && next == chain[len(chain)-2] {
				a, b := min(end, next), max(end, next)
				out = append(out, Merge{A: a, B: b, Height: least, StandardError: h.deviations[a][b]})
				h.merge(a, b)
				chain = chain[:len(chain)-2]
				break
			}
			chain = append(chain, next)
		}
	}
	return out, nil
}

// merge merges a into b.
func (h *hierarchy) merge(a, b int) {
	for i, size := range h.sizes {
		if size == 0 || i == a || i == b {
			continue
		}
		d, e := h.joined(a, b, i)
		h.distances[b][i], h.distances[i][b] = d, d
		h.deviations[b][i], h.deviations[i][b] = e, e
	}
	h.sizes[a], h.sizes[b] = 0, h.sizes[a]+h.sizes[b]
}

// joined returns the distance of a and b together from c, and its standard error (Lance and
// Williams 1967).
func (h *hierarchy) joined(a, b, c int) (distance, deviation float64) {
	x, y, z := h.distances[a][c], h.distances[b][c], h.distances[a][b]
	dx, dy, dz := h.deviations[a][c], h.deviations[b][c], h.deviations[a][b]
	na, nb, nc := float64(h.sizes[a]), float64(h.sizes[b]), float64(h.sizes[c])
	switch h.linkage {
	case Single:
		if x < y {
			return x, dx
		}
		return y, dy
	case Complete:
		if x > y {
			return x, dx
		}
		return y, dy
	case Average:
		return (float64(na*x) + float64(nb*y)) / (na + nb), (float64(na*dx) + float64(nb*dy)) / (na + nb)
	}
	all := na + nb + nc
	square := (float64((na+nc)*x)*x + float64((nb+nc)*y)*y - float64(nc*z)*z) / all
	distance = math.Sqrt(math.Max(0, square))
	if distance > 0 {
		deviation = (float64((na+nc)*x)*dx + float64((nb+nc)*y)*dy + float64(nc*z)*dz) / all / distance
	}
	return distance, deviation
}

// tree sorts merges by height and numbers the clusters.
func tree(n int, merges []Merge) Tree {
	slices.SortStableFunc(merges, func(a, b Merge) int {
		switch {
		case a.Height < b.Height:
			return -1
		case a.Height > b.Height:
			return 1
		}
		return 0
	})
	above, sizes := make([]int, 2*n-1), make([]int, 2*n-1) // above: for each cluster, the one that it was merged into
	for i := range above {
		above[i] = i
		if i < n {
			sizes[i] = 1
		}
	}
	top := func(i int) int {
		for above[i] != i {
			above[i] = above[above[i]]
			i = above[i]
		}
		return i
	}
	for i := range merges {
		a, b := top(merges[i].A), top(merges[i].B)
		merges[i].A, merges[i].B = min(a, b), max(a, b)
		sizes[n+i] = sizes[a] + sizes[b]
		merges[i].Size = sizes[n+i]
		above[a], above[b] = n+i, n+i
	}
	t := Tree{Merges: merges}
	stack := []int{2*n - 2}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if i < n {
			t.Leaves = append(t.Leaves, i)
			continue
		}
		stack = append(stack, merges[i-n].B, merges[i-n].A)
	}
	return t
}

// compare marks merges whose order relative to the merge above is not settled.
func (t Tree) compare(n int, quantile float64) {
	for _, m := range t.Merges {
		for _, child := range [...]int{m.A, m.B} {
			if child < n {
				continue
			}
			below := &t.Merges[child-n]
			together := math.Sqrt(float64(m.StandardError*m.StandardError) + float64(below.StandardError*below.StandardError))
			if together > 0 && m.Height-below.Height <= quantile*together {
				below.Close = true
			}
		}
	}
}
