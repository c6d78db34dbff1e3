package sketch

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
)

// Largest numbers of directions and of entries of a cells sketch.
const (
	MaxDirections  = 12
	MaxCellEntries = 1 << 22
)

// CellsBuilder sums a cells sketch over records. L directions cut the space of centred and clipped
// records into 2^L cells. A record x adds (weight, x) to the row of its cell. Bit l of a cell's
// number is 1 if the product of x and direction l is negative. If clipped records have a weight,
// the sketch has one more row: its first entry is their number times this weight, the others are
// zero. The result is bit-identical for every order, batch size and number of workers. A builder is
// not safe for concurrent use.
//
// The cells are those of a locality-sensitive partition (sign random projections: Charikar 2002).
// The directions are orthogonal before they are cut to d entries, so that none repeats another.
type CellsBuilder struct {
	summing
	directions *projection.Fixed
	weights    dp.CellWeights
	products   [][]int64 // by worker: products of some records and the directions
}

// NewCells returns a builder without records. The directions are the columns of a projection of d
// columns to L. Use the family hadamard for directions of signs.
func NewCells(directions *projection.Fixed, weights dp.CellWeights, options SumsOptions) (*CellsBuilder, error) {
	d, l := directions.Columns(), directions.Spec().K
	switch {
	case len(options.Centre) != d:
		return nil, fmt.Errorf("cells sketch: a centre of %d entries for %d columns", len(options.Centre), d)
	case l > MaxDirections || CellEntries(l, d, weights) > MaxCellEntries:
		return nil, fmt.Errorf("cells sketch: %d directions of %d columns: at most %d directions and %d entries are possible", l, d, MaxDirections, MaxCellEntries)
	case weights.Count < 1 || weights.Count > 1<<30:
		return nil, fmt.Errorf("cells sketch: weight %d: must be between 1 and 2^30", weights.Count)
	case weights.Cut < 0 || weights.Cut > weights.Count:
		return nil, fmt.Errorf("cells sketch: weight %d of records that were cut: must be between 0 and %d", weights.Cut, weights.Count)
	}
	if err := options.check(max(weights.Count, options.reach())); err != nil {
		return nil, fmt.Errorf("cells sketch: %w", err)
	}
	return &CellsBuilder{summing: newSumming(options), directions: directions, weights: weights, products: make([][]int64, options.Workers)}, nil
}

// CellRows returns the number of rows of a cells sketch of l directions: one for each of the 2^l
// cells, and one for the number of clipped records if these have a weight.
func CellRows(l int, weights dp.CellWeights) int {
	if weights.Cut > 0 {
		return 1<<l + 1
	}
	return 1 << l
}

// CellEntries returns the number of entries of a cells sketch of l directions and d columns: its
// rows have 1 + d entries.
func CellEntries(l, d int, weights dp.CellWeights) int { return (1 + d) * CellRows(l, weights) }

// Add adds a batch of records, where x is m × d row-major. It adds nothing and returns an error if
// x is not whole records, an entry is too far from the centre, or the limit of records would be
// exceeded.
func (b *CellsBuilder) Add(x []int64) error {
	d, l := b.directions.Columns(), b.directions.Spec().K
	return b.add(x, (1+d)<<l, func(worker int, sums, prepared []int64) {
		m := len(prepared) / d
		if len(b.products[worker]) < m*l {
			b.products[worker] = make([]int64, m*l)
		}
		products := b.products[worker][:m*l]
		b.directions.Project(products, prepared)
		for i := range m {
			row := sums[CellOf(products[i*l:][:l])*(1+d):][:1+d]
			row[0] += b.weights.Count
			for j, v := range prepared[i*d:][:d] {
				row[1+j] += v
			}
		}
	})
}

// CellOf returns the number of a record's cell, given the record's products with the directions.
func CellOf(products []int64) (cell int) {
	for l, p := range products {
		if p < 0 {
			cell |= 1 << l
		}
	}
	return cell
}

// Sketch returns a copy of the sums so far, [CellRows] × (1+d).
func (b *CellsBuilder) Sketch() Sketch {
	d, l := b.directions.Columns(), b.directions.Spec().K
	out := Sketch{Side: Cells, Rows: CellRows(l, b.weights), Cols: 1 + d, Data: make([]int64, CellEntries(l, d, b.weights))}
	copy(out.Data, b.total((1+d)<<l))
	if b.weights.Cut > 0 {
		out.Row(1 << l)[0] = b.weights.Cut * b.Clipped()
	}
	return out
}
