package sketch

import (
	"fmt"

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

// Add adds a batch of m records: their labels, and x, m × n row-major. It adds all
// or, with an error, none: when shapes differ, an entry exceeds the largest, or
// the limit of records would be passed.
func (b *ColumnsBuilder) Add(labels [][]byte, x []int64) error {
	m, n := len(labels), b.options.Columns
	if len(x) != m*n {
		return fmt.Errorf("adding %d records of %d columns: %d entries", m, n, len(x))
	}
	if int64(m) > b.options.Limit-b.records {
		return fmt.Errorf("adding %d records to %d: the limit is %d", m, b.records, b.options.Limit)
	}
	if i := beyond(x, b.options.Largest); i >= 0 {
		return fmt.Errorf("adding records: entry (%d, %d) of the batch exceeds ±%d", i/n+1, i%n+1, b.options.Largest)
	}
	b.records += int64(m)
	parallel(m, len(b.workers), func(worker, from, to int) {
		b.workers[worker].add(b.spec.K*n, labels[from:to], x[from*n:to*n])
	})
	return nil
}

func (a *accumulator) add(size int, labels [][]byte, x []int64) {
	if a.sums == nil {
		a.sums = make([]int64, size)
	}
	n := len(x) / len(labels)
	for i, label := range labels {
		a.matrix.AddOuter(a.sums, label, x[i*n:(i+1)*n])
	}
}

// Sketch returns the sum so far, k × n, in memory of its own.
func (b *ColumnsBuilder) Sketch() Sketch {
	s := Sketch{Side: Columns, Rows: b.spec.K, Cols: b.options.Columns}
	s.Data = make([]int64, s.Rows*s.Cols)
	for _, a := range b.workers {
		for j, v := range a.sums {
			s.Data[j] += v
		}
	}
	return s
}

// beyond returns the index of the first entry outside ±largest, or -1.
func beyond(x []int64, largest int64) int {
	for i, v := range x {
		if v > largest || v < -largest {
			return i
		}
	}
	return -1
}
