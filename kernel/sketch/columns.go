package sketch

import (
	"fmt"
	"sync/atomic"

	"github.com/cosketch/cosketch/kernel/projection"
)

// ColumnsOptions describes a columns-side sketch to be built.
type ColumnsOptions struct {
	Columns int   // Required. n, the entries of a record
	Largest int64 // Required. bound on an entry's absolute value, usually fixedpoint.Bits.One
	Limit   int64 // records that may be added. Default: as many as int64 sums are sure to hold exactly
	Workers int   // goroutines of one Add, each with a k × n accumulator. Default 1
}

// ColumnsBuilder sums a columns-side sketch U = Σ r(label) xᵀ over records. The
// result is the same to the bit for every order, batch size and number of
// workers. One goroutine uses a builder at a time.
type ColumnsBuilder struct {
	spec    projection.Spec
	options ColumnsOptions
	records int64
	workers []*accumulator
}

// accumulator is what one worker sums, 0 entries until it is first used.
type accumulator struct {
	matrix *projection.Matrix
	sums   []int64
	added  [][2]int // ranges of the current batch
}

// NewColumns returns a builder without records.
func NewColumns(matrix *projection.Matrix, options ColumnsOptions) (*ColumnsBuilder, error) {
	spec := matrix.Spec()
	if _, err := area(spec.K, options.Columns); err != nil {
		return nil, fmt.Errorf("columns sketch: %w", err)
	}
	if options.Largest < 1 {
		return nil, fmt.Errorf("columns sketch: largest entry %d: must be positive", options.Largest)
	}
	exact := spec.LargestRecordCount(options.Largest)
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

// Records returns how many records were added.
func (b *ColumnsBuilder) Records() int64 { return b.records }

// Part makes records from to to of a batch: their labels, and their entries row-major.
// Both are used before the same worker, numbered from 0, makes its next part, and
// not changed. Workers call it side by side, and it may be asked for records again.
type Part func(worker, from, to int) (labels [][]byte, x []int64)

// Add adds a batch of m records: their labels, and x, m × n row-major. It adds all
// or, with an error, none: when shapes differ, an entry exceeds the largest, or
// the limit of records would be passed.
func (b *ColumnsBuilder) Add(labels [][]byte, x []int64) error {
	m, n := len(labels), b.options.Columns
	if len(x) != m*n {
		return fmt.Errorf("adding %d records of %d columns: %d entries", m, n, len(x))
	}
	return b.AddParts(m, func(_, from, to int) ([][]byte, []int64) { return labels[from:to], x[from*n : to*n] })
}

// AddParts is Add for m records that workers make as they come to them: what they make
// is added while it is in their caches. It panics if a part has another shape.
func (b *ColumnsBuilder) AddParts(m int, part Part) error {
	n := b.options.Columns
	if int64(m) > b.options.Limit-b.records {
		return fmt.Errorf("adding %d records to %d: the limit is %d", m, b.records, b.options.Limit)
	}
	var refused atomic.Bool
	parallel(m, n, len(b.workers), func(worker, from, to int) {
		if refused.Load() {
			return
		}
		labels, x := part(worker, from, to)
		if !within(x, b.options.Largest) {
			refused.Store(true)
			return
		}
		b.workers[worker].add(b.spec.K*n, from, to, labels, x)
	})
	if refused.Load() {
		return b.refuse(part(0, 0, m))
	}
	for _, a := range b.workers {
		a.added = a.added[:0]
	}
	b.records += int64(m)
	return nil
}

// refuse takes back what was added of a batch and says which entry is at fault.
func (b *ColumnsBuilder) refuse(labels [][]byte, x []int64) error {
	n := b.options.Columns
	for _, a := range b.workers {
		a.takeBack(labels, x, n)
		a.added = a.added[:0]
	}
	i := beyond(x, b.options.Largest)
	return fmt.Errorf("adding records: entry (%d, %d) of the batch exceeds ±%d", i/n+1, i%n+1, b.options.Largest)
}

// add adds records from to to of a batch, and notes that it did.
func (a *accumulator) add(size, from, to int, labels [][]byte, x []int64) {
	if a.sums == nil {
		a.sums = make([]int64, size)
		// Sums are read before they are written. A system gives memory twice then: a shared
		// page of zeros, then a page of its own, of which it tells every processor.
		clear(a.sums)
	}
	a.matrix.AddOuters(a.sums, labels, x)
	a.added = append(a.added, [2]int{from, to})
}

// takeBack subtracts what was added of a batch, which is exact: data are checked
// while they are in the cache anyway, and a batch is refused once in a lifetime.
func (a *accumulator) takeBack(labels [][]byte, x []int64, n int) {
	for _, r := range a.added {
		negated := make([]int64, 0, (r[1]-r[0])*n)
		for _, v := range x[r[0]*n : r[1]*n] {
			negated = append(negated, -v)
		}
		a.matrix.AddOuters(a.sums, labels[r[0]:r[1]], negated)
	}
}

// Sketch returns the sum so far, k × n, in memory of its own.
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
