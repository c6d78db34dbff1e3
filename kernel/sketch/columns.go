package sketch

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cosketch/cosketch/kernel/projection"
)

// ColumnsOptions describes a columns-side sketch to be built.
type ColumnsOptions struct {
	Columns int     // Required. number of entries of a record
	Ending  []int64 // the last entries of a record, if they are equal for all records; batches then leave them out
	Largest int64   // Required. bound on an entry's absolute value, usually fixedpoint.Bits.One
	Limit   int64   // maximum number of records. Default: as many as int64 sums are sure to hold exactly
	Workers int     // goroutines of one Add, each with a k × Columns accumulator. Default 1
}

// own returns n, the number of entries of a record in front of the common ending.
func (o ColumnsOptions) own() int { return o.Columns - len(o.Ending) }

// ColumnsBuilder sums a columns-side sketch U = Σ r(label) xᵀ over records. The result is
// bit-identical for every order, batch size and number of workers. A builder is not safe for
// concurrent use.
type ColumnsBuilder struct {
	spec    projection.Spec
	options ColumnsOptions
	records int64
	workers []*accumulator
}

// accumulator holds the sums of one worker; sums is nil until first used.
type accumulator struct {
	matrix *projection.Matrix
	sums   []int64
	added  [][2]int // ranges of the current batch
}

// NewColumns returns a builder without records.
func NewColumns(matrix *projection.Matrix, options ColumnsOptions) (*ColumnsBuilder, error) {
	options.Ending = slices.Clone(options.Ending)
	spec := matrix.Spec()
	if _, err := area(spec.K, options.Columns); err != nil {
		return nil, fmt.Errorf("columns sketch: %w", err)
	}
	switch {
	case options.Largest < 1:
		return nil, fmt.Errorf("columns sketch: largest entry %d: must be positive", options.Largest)
	case options.own() < 1:
		return nil, fmt.Errorf("columns sketch: %d columns, of which %d are the same in every record: at least one must differ between records", options.Columns, len(options.Ending))
	case !allWithin(options.Ending, options.Largest):
		return nil, fmt.Errorf("columns sketch: an entry that every record ends with exceeds ±%d", options.Largest)
	}
	exact := spec.MaxTerms(options.Largest)
	switch {
	case options.Limit == 0:
		options.Limit = exact
	case options.Limit < 0 || options.Limit > exact:
		return nil, fmt.Errorf("columns sketch: limit of %d records: must be between 1 and %d", options.Limit, exact)
	}
	b := &ColumnsBuilder{spec: spec, options: options}
	for range max(options.Workers, 1) {
		b.workers = append(b.workers, &accumulator{matrix: matrix.Clone()})
	}
	return b, nil
}

func (b *ColumnsBuilder) Records() int64 { return b.records }

// Part is m records of a batch.
type Part struct {
	Labels [][]byte
	X      []int64 // their entries, m × n row-major, without the common ending
	// Some records must count for less than X says, as when they are clipped. For each of these a
	// correction is added under its label: a whole row, with the ending. Its entries must be no
	// larger than the record's. So X need not be copied to change a few rows.
	Corrected   [][]byte
	Corrections []int64
}

// Add adds a batch of m records: their labels, and x, m × n row-major. It adds nothing and returns
// an error if shapes differ, an entry exceeds the largest, or the limit of records would be
// exceeded.
func (b *ColumnsBuilder) Add(labels [][]byte, x []int64) error {
	m, n := len(labels), b.options.own()
	if len(x) != m*n {
		return fmt.Errorf("adding %d records of %d columns: %d entries", m, n, len(x))
	}
	return b.AddParts(m, func(_, from, to int) Part { return Part{Labels: labels[from:to], X: x[from*n : to*n]} })
}

// AddParts is Add for m records that part generates on demand, records from (inclusive) to to
// (exclusive) at a time, so that they are added while still in the worker's caches. A part is used
// before the same worker, numbered from 0, requests its next one, and is not modified. Workers call
// part concurrently, and may request the same records again. AddParts panics if a part has another
// shape.
func (b *ColumnsBuilder) AddParts(m int, part func(worker, from, to int) Part) error {
	if int64(m) > b.options.Limit-b.records {
		return fmt.Errorf("adding %d records to %d: the limit is %d", m, b.records, b.options.Limit)
	}
	var refused atomic.Bool
	shared(m, b.options.own(), len(b.workers), func(worker, from, to int) {
		if refused.Load() {
			return
		}
		p := part(worker, from, to)
		if !allWithin(p.X, b.options.Largest) {
			refused.Store(true)
			return
		}
		a := b.workers[worker]
		a.add(b.spec.K*b.options.Columns, p, b.options.Ending)
		a.added = append(a.added, [2]int{from, to})
	})
	if refused.Load() {
		return b.refuse(m, part)
	}
	for _, a := range b.workers {
		a.added = a.added[:0]
	}
	b.records += int64(m)
	return nil
}

// refuse undoes what was added of a batch, and returns an error that names the entry at fault.
func (b *ColumnsBuilder) refuse(m int, part func(worker, from, to int) Part) error {
	for _, a := range b.workers {
		for _, r := range a.added {
			a.takeBack(part(0, r[0], r[1]), b.options.Ending)
		}
		a.added = a.added[:0]
	}
	n, i := b.options.own(), indexOutside(part(0, 0, m).X, b.options.Largest)
	return fmt.Errorf("adding records: entry (%d, %d) of the batch exceeds ±%d", i/n+1, i%n+1, b.options.Largest)
}

// add adds records to the sums, which it allocates on first use with this size.
func (a *accumulator) add(size int, p Part, ending []int64) {
	if a.sums == nil {
		a.sums = make([]int64, size)
		// Sums are read before they are written. Without clear, a page would be mapped twice: first
		// as a shared page of zeros, then as a private page, of which all processors must be
		// notified.
		clear(a.sums)
	}
	a.matrix.AddOuters(a.sums, p.Labels, p.X, ending...)
	a.matrix.AddOuters(a.sums, p.Corrected, p.Corrections)
}

// takeBack subtracts what was added of a batch, exactly. Undoing is cheaper than checking a whole
// batch before adding it: data are checked while they are in the cache, and refused batches are
// rare.
func (a *accumulator) takeBack(p Part, ending []int64) {
	p.X, p.Corrections = negated(p.X), negated(p.Corrections)
	a.add(len(a.sums), p, negated(ending))
}

func negated(x []int64) []int64 {
	out := make([]int64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}

// Sketch returns a copy of the sums so far, k × n.
func (b *ColumnsBuilder) Sketch() Sketch {
	s := Sketch{Side: Columns, Rows: b.spec.K, Cols: b.options.Columns}
	s.Data = make([]int64, s.Rows*s.Cols)
	copied := false
	for _, a := range b.workers {
		switch {
		case a.sums == nil:
		case !copied:
			copied = copy(s.Data, a.sums) > 0
		default:
			for j, v := range a.sums {
				s.Data[j] += v
			}
		}
	}
	return s
}
