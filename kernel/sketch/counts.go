package sketch

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync/atomic"
)

// Limits of a counts sketch: cells of all tables together, tables that a record is in, and cells of
// one number.
const (
	MaxCounts      = 1 << 20
	MaxCountTables = 256
	MaxCountBins   = 1 << 12
)

// CountAxis assigns a record to a cell of a table by one of its values.
type CountAxis struct {
	At      int     // Required. index of its first entry in a record
	Entries int     // Required. for a category its number of entries, of which one is One and the others are 0; for a number 1
	Edges   []int64 // for a number, increasing: its cell is the number of edges that are at most the value
	Absent  bool    // records without a value fall in a last cell of their own. Otherwise they are refused
}

// Cells returns the number of cells.
func (a CountAxis) Cells() int {
	n := a.Entries
	if n == 1 {
		n = len(a.Edges) + 1
	}
	if a.Absent {
		n++
	}
	return n
}

// cell returns the cell of a record. ok is false if the record has no value but needs one, or an
// invalid one.
func (a CountAxis) cell(record []int64, one int64) (cell int, ok bool) {
	value := record[a.At:][:a.Entries]
	switch {
	case value[0] == Absent:
		return a.Cells() - 1, a.Absent
	case a.Entries == 1:
		return sort.Search(len(a.Edges), func(i int) bool { return a.Edges[i] > value[0] }), true
	}
	cell = -1
	for i, v := range value {
		switch {
		case v == one && cell < 0:
			cell = i
		case v != 0:
			return 0, false
		}
	}
	return max(cell, 0), cell >= 0
}

// CountTable counts records by the cells of one value, or of two values crossed.
type CountTable struct {
	Axes []CountAxis // Required. one or two; cells of the last axis are adjacent
	// Depth makes a tree of tables of one number with 2^Depth cells: a table of 2 cells, one of 4,
	// and so on up to all. 0 means a single table.
	Depth int
}

// Tables returns the number of tables that a record is in.
func (t CountTable) Tables() int { return max(t.Depth, 1) }

// Cells returns the number of cells of all tables.
func (t CountTable) Cells() int {
	n := 0
	for level := range t.Tables() {
		n += t.at(level)
	}
	return n
}

// at returns the number of cells of a tree's table at a level, or of the only table.
func (t CountTable) at(level int) int {
	if t.Depth == 0 {
		n := 1
		for _, a := range t.Axes {
			n *= a.Cells()
		}
		return n
	}
	n := 1 << (level + 1)
	if t.Axes[0].Absent {
		n++
	}
	return n
}

// cells appends the cells of a record, numbered from first on. ok is false if the record has none.
func (t CountTable) cells(out []int32, first int, record []int64, one int64) (_ []int32, ok bool) {
	cell := 0
	for _, a := range t.Axes {
		c, ok := a.cell(record, one)
		if !ok {
			return out, false
		}
		cell = cell*a.Cells() + c
	}
	if t.Depth == 0 {
		return append(out, int32(first+cell)), true
	}
	absent := cell == 1<<t.Depth
	for level := range t.Depth {
		at := cell >> (t.Depth - 1 - level)
		if absent {
			at = 1 << (level + 1)
		}
		out = append(out, int32(first+at))
		first += t.at(level)
	}
	return out, true
}

// check returns an error if the table is invalid.
func (t CountTable) check(columns int) error {
	if len(t.Axes) < 1 || len(t.Axes) > 2 || t.Depth < 0 || t.Depth > 0 && (len(t.Axes) > 1 || len(t.Axes[0].Edges) != 1<<min(t.Depth, 30)-1) {
		return fmt.Errorf("%d axes and depth %d: a table needs 1 or 2 axes, a tree exactly one with 2^depth cells", len(t.Axes), t.Depth)
	}
	for _, a := range t.Axes {
		switch {
		case a.At < 0 || a.Entries < 1 || a.At+a.Entries > columns:
			return fmt.Errorf("entries %d to %d of %d", a.At+1, a.At+a.Entries, columns)
		case a.Entries > 1 && a.Edges != nil || len(a.Edges) >= MaxCountBins || !increasing(a.Edges):
			return fmt.Errorf("%d edges: must increase, be at most %d, and be left out for a category", len(a.Edges), MaxCountBins-1)
		}
	}
	return nil
}

func increasing(edges []int64) bool {
	return slices.IsSorted(edges) && len(slices.Compact(slices.Clone(edges))) == len(edges)
}

// CountsOptions describes a counts sketch to be built.
type CountsOptions struct {
	Columns int          // Required. entries of a record
	Tables  []CountTable // Required
	One     int64        // Required. value of the entry of a record's category
	Weight  int64        // what a record adds to its cells. Default 1
	Limit   int64        // maximum number of records. Default: as many as int64 sums are sure to hold exactly
	Workers int          // goroutines of one Add. Default 1
}

// CountsBuilder counts records by the cells of tables: each record adds its weight to one cell of
// every table. The result is bit-identical for every order, batch size and number of workers. A
// builder is not safe for concurrent use.
type CountsBuilder struct {
	options CountsOptions
	size    int // cells
	each    int // tables that a record is in
	records int64
	cells   []int32   // scratch: by record and table
	workers [][]int64 // sums of each worker, without weight; nil until first used
}

// NewCounts returns a builder without records.
func NewCounts(o CountsOptions) (*CountsBuilder, error) {
	b := &CountsBuilder{}
	for i, t := range o.Tables {
		if err := t.check(o.Columns); err != nil {
			return nil, fmt.Errorf("counts sketch: table %d: %w", i+1, err)
		}
		b.size, b.each = b.size+t.Cells(), b.each+t.Tables()
		if b.size > MaxCounts || b.each > MaxCountTables {
			return nil, fmt.Errorf("counts sketch: at most %d cells and %d tables are possible", MaxCounts, MaxCountTables)
		}
	}
	if b.size == 0 {
		return nil, fmt.Errorf("counts sketch: no tables")
	}
	if o.Weight == 0 {
		o.Weight = 1
	}
	if o.Weight < 1 || o.Weight > 1<<30 || o.One < 1 {
		return nil, fmt.Errorf("counts sketch: weight %d and one %d: must be positive, and the weight at most 2^30", o.Weight, o.One)
	}
	if exact := maxExactSum / o.Weight; o.Limit == 0 {
		o.Limit = exact
	} else if o.Limit < 0 || o.Limit > exact {
		return nil, fmt.Errorf("counts sketch: limit of %d records: must be between 1 and %d", o.Limit, exact)
	}
	o.Workers = max(o.Workers, 1)
	b.options, b.workers = o, make([][]int64, o.Workers)
	return b, nil
}

func (b *CountsBuilder) Records() int64 { return b.records }

// Clipped returns 0: every record counts as one.
func (b *CountsBuilder) Clipped() int64 { return 0 }

// Add adds a batch of records, where x is m × d row-major. It adds nothing and returns an error if
// x is not whole records, a record has no cell in a table, or the limit of records would be
// exceeded.
func (b *CountsBuilder) Add(x []int64) error {
	d := b.options.Columns
	if len(x)%d != 0 {
		return fmt.Errorf("adding records of %d columns: %d entries", d, len(x))
	}
	m := len(x) / d
	if int64(m) > b.options.Limit-b.records {
		return fmt.Errorf("adding %d records to %d: the limit is %d", m, b.records, b.options.Limit)
	}
	if cap(b.cells) < m*b.each {
		b.cells = make([]int32, m*b.each)
	}
	cells := b.cells[:m*b.each]
	var refused atomic.Int64
	refused.Store(math.MaxInt64)
	shared(m, d, len(b.workers), func(_, from, to int) {
		for i := from; i < to; i++ {
			if b.locate(cells[i*b.each:i*b.each:(i+1)*b.each], x[i*d:][:d]) {
				continue
			}
			for first := refused.Load(); int64(i) < first && !refused.CompareAndSwap(first, int64(i)); first = refused.Load() {
			}
			return
		}
	})
	if i := refused.Load(); i < math.MaxInt64 {
		return fmt.Errorf("adding records: record %d of the batch has a value that is in no cell", i+1)
	}
	shared(m, d, len(b.workers), func(worker, from, to int) {
		sums := b.workers[worker]
		if sums == nil {
			sums = make([]int64, b.size)
			b.workers[worker] = sums
		}
		for _, cell := range cells[from*b.each : to*b.each] {
			sums[cell]++
		}
	})
	b.records += int64(m)
	return nil
}

// locate appends a record's cell in every table. It returns false if the record has no cell in one
// of them.
func (b *CountsBuilder) locate(out []int32, record []int64) bool {
	first, ok := 0, true
	for _, t := range b.options.Tables {
		if out, ok = t.cells(out, first, record, b.options.One); !ok {
			return false
		}
		first += t.Cells()
	}
	return true
}

// Sketch returns a copy of the counts so far times the weight, 1 × cells, one table after the
// other.
func (b *CountsBuilder) Sketch() Sketch {
	out := Sketch{Side: Counts, Rows: 1, Cols: b.size, Data: make([]int64, b.size)}
	for _, sums := range b.workers {
		for i, n := range sums {
			out.Data[i] += n * b.options.Weight
		}
	}
	return out
}
