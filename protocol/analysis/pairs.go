package analysis

import (
	"context"
	"slices"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/parallel"
)

// shape says which pairs have numbers, and of what kind.
type shape struct {
	themselves bool // include each feature with itself
	people     bool // numbers may have the second interval
}

// pairs answers all pairs of an analysis's features, at these positions in the Gram. Pairs are in
// the document, or in a table if there are many.
func (c *columns) pairs(ctx context.Context, out *Analysis, with shape, located []estimate.Variable, of func(g *estimate.Gram, i, j int) estimate.Estimate) (err error) {
	if c.dense(len(located)) {
		products := func(some []int) (*estimate.Gram, error) {
			vars := make([]estimate.Variable, len(some))
			for at, i := range some {
				vars[at] = located[i]
			}
			return estimate.FromColumns(ctx, c.rows, c.noise, c.places(vars))
		}
		if c.gram != nil {
			products = func([]int) (*estimate.Gram, error) { return c.gram, nil }
		}
		return writePairs(ctx, c.keep, out, with, products, of)
	}
	if c.gram == nil {
		if c.gram, err = estimate.FromColumns(ctx, c.rows, c.noise, c.places(located)); err != nil {
			return err
		}
	}
	out.Pairs, err = everyPair(ctx, len(located), with.themselves, func(i, j int) estimate.Estimate { return of(c.gram, i, j) })
	return err
}

// dense reports whether the pairs of n features are in a table.
func (c *columns) dense(n int) bool { return c.keep != nil && n > MostInline }

// everyPair answers all pairs of n features, with or without each feature with itself, on all
// processors.
func everyPair(ctx context.Context, n int, themselves bool, of func(i, j int) estimate.Estimate) ([]Pair, error) {
	rows := make([][]Pair, n)
	parallel.For(n, func(i int) {
		rows[i] = make([]Pair, 0, n-i)
		for j := i; j < n && ctx.Err() == nil; j++ {
			if i != j || themselves {
				rows[i] = append(rows[i], pair(i, j, of(i, j)))
			}
		}
	})
	return slices.Concat(rows...), ctx.Err()
}

// A table is computed in blocks of denseRows by denseCols features, so that neither all products
// nor all numbers are in memory.
const (
	denseRows = 64
	denseCols = 256
)

// writePairs writes all pairs of an analysis's features into a table. If products is not nil, it
// returns the Gram of some features, which is passed to of.
func writePairs(ctx context.Context, keep PartStore, out *Analysis, with shape, products func(some []int) (*estimate.Gram, error), of func(g *estimate.Gram, i, j int) estimate.Estimate) error {
	n := len(out.Features)
	w := newDenseWriter(keep, out.Features, with)
	defer w.discard() // also after a panic
	table, err := w.done(func() error {
		rows := make([]row, min(denseRows, n))
		for from := 0; from < n; from += denseRows {
			band := rows[:min(denseRows, n-from)]
			for k := range band {
				band[k].data, band[k].reasons = slices.Grow(band[k].data[:0], n-from-k), nil
			}
			for first := from; first < n; first += denseCols {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := w.block(band, from, first, min(first+denseCols, n), products, of); err != nil {
					return err
				}
			}
			if err := w.rows(from, band); err != nil {
				return err
			}
		}
		return nil
	}())
	out.Dense = table
	return err
}

// block adds the pairs of a band's features, which begin at from, with the features first to
// last−1.
func (w *denseWriter) block(band []row, from, first, last int, products func(some []int) (*estimate.Gram, error), of func(g *estimate.Gram, i, j int) estimate.Estimate) (err error) {
	var g *estimate.Gram
	if products != nil {
		var some []int
		for i := from; i < last; i++ {
			if i < from+len(band) || i >= first {
				some = append(some, i)
			}
		}
		if g, err = products(some); err != nil {
			return err
		}
	}
	parallel.For(len(band), func(k int) {
		i := from + k
		for j := max(first, w.out.first(i)); j < last; j++ {
			band[k].add(number(of(g, i, j)))
		}
	})
	return nil
}
