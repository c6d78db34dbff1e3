package sketch

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cosketch/cosketch/kernel/projection"
)

// RecordsOptions describes a records-side sketch to be built.
type RecordsOptions struct {
	Largest int64 // Required. bound on an entry's absolute value, usually fixedpoint.Bits.One
	Workers int   // goroutines of one Add. Default 1
}

// RecordsBuilder collects a records-side sketch: one projected row for each record, in the order of
// Add. A builder is not safe for concurrent use.
type RecordsBuilder struct {
	fixed   *projection.Fixed
	options RecordsOptions
	batches [][]int64 // the rows of each Add; a single slice would be copied whenever it grows
	records int
}

// NewRecords returns a builder without records. It returns an error if there are more columns than
// an int64 sum is sure to hold exactly.
func NewRecords(fixed *projection.Fixed, options RecordsOptions) (*RecordsBuilder, error) {
	if options.Largest < 1 {
		return nil, fmt.Errorf("records sketch: largest entry %d: must be positive", options.Largest)
	}
	if limit := fixed.Spec().MaxTerms(options.Largest); int64(fixed.Columns()) > limit {
		return nil, fmt.Errorf("records sketch: %d columns: the limit is %d", fixed.Columns(), limit)
	}
	return &RecordsBuilder{fixed: fixed, options: options}, nil
}

// Add projects a batch of records, where x is m × d row-major, and appends their rows. It adds
// nothing and returns an error if x is not whole records or an entry exceeds the largest.
func (b *RecordsBuilder) Add(x []int64) error {
	d, k := b.fixed.Columns(), b.fixed.Spec().K
	if len(x)%d != 0 {
		return fmt.Errorf("adding records of %d columns: %d entries", d, len(x))
	}
	m := len(x) / d
	if _, err := area(max(b.Records()+m, 1), k); err != nil {
		return fmt.Errorf("adding records: %w", err)
	}
	y := make([]int64, m*k)
	var refused atomic.Bool
	shared(m, d, b.options.Workers, func(_, from, to int) {
		if refused.Load() || !allWithin(x[from*d:to*d], b.options.Largest) {
			refused.Store(true)
			return
		}
		b.fixed.Project(y[from*k:to*k], x[from*d:to*d])
	})
	if refused.Load() {
		i := indexOutside(x, b.options.Largest)
		return fmt.Errorf("adding records: entry (%d, %d) of the batch exceeds ±%d", i/d+1, i%d+1, b.options.Largest)
	}
	b.batches = append(b.batches, y)
	b.records += m
	return nil
}

func (b *RecordsBuilder) Records() int { return b.records }

// Row returns the projected row i, which may be read or clipped in place. It is valid until Sketch
// or Permute is called. It panics if i is out of range.
func (b *RecordsBuilder) Row(i int) []int64 {
	k, from := b.fixed.Spec().K, b.records
	for j := len(b.batches) - 1; j >= 0; j-- { // the last batch is requested most often
		if from -= len(b.batches[j]) / k; i >= from {
			return b.batches[j][(i-from)*k:][:k:k]
		}
	}
	panic(fmt.Sprintf("sketch: row %d of %d", i, b.records))
}

// Sketch returns the rows, m × k, and leaves the builder without records.
func (b *RecordsBuilder) Sketch() Sketch {
	s := Sketch{Side: Records, Rows: b.records, Cols: b.fixed.Spec().K}
	if len(b.batches) == 1 {
		s.Data = b.batches[0]
	} else {
		s.Data = slices.Concat(b.batches...)
	}
	b.batches, b.records = nil, 0
	return s
}

// Permute reorders the rows of a records-side sketch in place: the new row i is the old row
// order[i]. If order is not a permutation of all rows, it returns an error and changes nothing.
// Callers release rows in a secret order, so that a position reveals nothing about a record.
func (s Sketch) Permute(order []int) error {
	if s.Side != Records {
		return fmt.Errorf("permuting a %s: only records have an order", s)
	}
	if len(order) != s.Rows {
		return fmt.Errorf("permuting %d rows: an order of %d", s.Rows, len(order))
	}
	taken := make([]bool, len(order))
	for _, from := range order {
		if from < 0 || from >= len(order) || taken[from] {
			return fmt.Errorf("permuting %d rows: not a permutation", len(order))
		}
		taken[from] = true
	}
	first := make([]int64, s.Cols)
	for start := range order { // each cycle of the permutation, starting at its first row
		if !taken[start] {
			continue
		}
		copy(first, s.Row(start))
		at := start
		for taken[at] = false; order[at] != start; taken[at] = false {
			copy(s.Row(at), s.Row(order[at]))
			at = order[at]
		}
		copy(s.Row(at), first)
	}
	return nil
}
