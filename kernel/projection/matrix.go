package projection

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cosketch/cosketch/kernel/cpu"
)

// Source generates the randomness of a label's row. Equal labels give equal blocks, whatever came
// before. It is safe for concurrent use.
type Source interface {
	// Block returns the 64 pseudorandom bytes of a label.
	Block(label []byte) [64]byte
	// Expand fills dst with the first len(dst) bytes of a block's infinite keystream.
	Expand(block *[64]byte, dst []byte)
}

// batchSource is a Source that computes the blocks of many labels faster than one by one.
type batchSource interface {
	// Blocks sets blocks[i] to Block(labels[i]); both have the same length.
	Blocks(blocks [][64]byte, labels [][]byte)
}

// blocksOf sets blocks to the blocks of labels.
func blocksOf(source Source, blocks [][64]byte, labels [][]byte) {
	if batch, ok := source.(batchSource); ok {
		batch.Blocks(blocks, labels)
		return
	}
	for i, label := range labels {
		blocks[i] = source.Block(label)
	}
}

var errNoSource = errors.New("no source of rows")

// Matrix is R for the columns side: one row for each record, which depends on the record's label
// only. It holds scratch memory for one row, so it is not safe for concurrent use; Clone it for
// other goroutines.
type Matrix struct {
	spec    Spec
	source  Source
	row     keyedRow
	scratch scratch
}

// outerSum is a keyedRow that can add many records faster than one by one.
type outerSum interface {
	// addOuters adds r(label) xᵀ to u for each label, where x holds len(x)/len(labels) entries per
	// label. There is at least one label and one entry.
	addOuters(u []int64, source Source, labels [][]byte, x []int64, s *scratch)
}

// endedSum is an outerSum that takes a common ending of all records once, without copying it to
// each.
type endedSum interface {
	outerSum
	// addEnded is addOuters for records that all end with the entries of ending.
	addEnded(u []int64, source Source, labels [][]byte, x, ending []int64, s *scratch)
}

// New returns the matrix of a spec whose rows come from source. It returns an error if the spec is
// invalid or the family has no rows for records, as identity and hadamard.
func New(spec Spec, source Source) (*Matrix, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if source == nil {
		return nil, fmt.Errorf("projection %s: %w", spec, errNoSource)
	}
	f, err := spec.family()
	if err != nil {
		return nil, err
	}
	if !f.about().Columns {
		return nil, fmt.Errorf("projection %s: serves the records side only, as it has one row for each column (use %s or %s)", spec, Sparse, Rademacher)
	}
	return &Matrix{spec: spec, source: source, row: f.blank(spec), scratch: scratch{level: cpu.Best()}}, nil
}

func (m *Matrix) Spec() Spec { return m.spec }

// Clone returns a copy of the matrix with its own scratch memory.
func (m *Matrix) Clone() *Matrix {
	c, err := New(m.spec, m.source)
	if err != nil {
		panic("projection: cloning a matrix that New did not make")
	}
	return c
}

// AddOuter adds one record to a columns-side sketch: U += r(label) xᵀ, where u
// is U, K × len(x) row-major. It panics if the shapes differ. Sums are exact
// while records stay within Spec.MaxTerms.
func (m *Matrix) AddOuter(u []int64, label []byte, x []int64) {
	if len(u) != m.spec.K*len(x) {
		panic(fmt.Sprintf("projection: adding an outer product of %d × %d to %d sums", m.spec.K, len(x), len(u)))
	}
	if len(x) == 0 {
		return
	}
	m.row.draw(m.source, label)
	m.row.addOuter(u, x)
}

// AddOuters adds a batch of m records: U += Σ r(label) xᵀ, where x is m × n row-major and u is U, K
// × n. If every record ends with the same entries, these may be passed once as ending, and u is K ×
// (n + len(ending)). The sums are those of AddOuter called for each record, but faster. It panics
// if the shapes differ.
func (m *Matrix) AddOuters(u []int64, labels [][]byte, x []int64, ending ...int64) {
	if len(labels) == 0 && len(x) == 0 {
		return
	}
	if len(labels) == 0 || len(x)%len(labels) != 0 || len(u) != m.spec.K*(len(x)/len(labels)+len(ending)) {
		panic(fmt.Sprintf("projection: adding %d records of %d entries in all and %d more of each to %d sums of k = %d", len(labels), len(x), len(ending), len(u), m.spec.K))
	}
	n := len(x) / len(labels)
	if len(ending) > 0 {
		if sum, ok := m.row.(endedSum); ok && n > 0 {
			sum.addEnded(u, m.source, labels, x, ending, &m.scratch)
			return
		}
		x = m.scratch.end(x, len(labels), ending)
		n += len(ending)
	}
	if n == 0 {
		return
	}
	if sum, ok := m.row.(outerSum); ok {
		sum.addOuters(u, m.source, labels, x, &m.scratch)
		return
	}
	for i, label := range labels {
		m.row.draw(m.source, label)
		m.row.addOuter(u, x[i*n:(i+1)*n])
	}
}

// Fixed is R for the records side: the d rows of a list of columns. It is
// immutable and safe for concurrent use.
type Fixed struct {
	spec      Spec
	rows      []row
	product   product   // nil to multiply row by row
	scratches sync.Pool // of *scratch: reused by Project, so that batches do not allocate
}

// product is a fixed matrix in a form that multiplies faster than row by row.
type product interface {
	// multiply overwrites y, m × K, with the projections of x, m × d; m is positive.
	multiply(y, x []int64, s *scratch)
}

// producer is a family that has a product.
type producer interface {
	product(Spec, []row) product
}

// Fix returns the matrix for the labels of d columns, in their order. It returns an error if the
// spec is invalid, the list is empty or a label occurs twice. The family identity takes no
// randomness: row j is the j-th unit vector, K must be d, and source may be nil.
func Fix(spec Spec, source Source, labels [][]byte) (*Fixed, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if len(labels) == 0 {
		return nil, fmt.Errorf("projection %s: no columns", spec)
	}
	seen := make(map[string]int, len(labels))
	for j, label := range labels {
		if first, ok := seen[string(label)]; ok {
			return nil, fmt.Errorf("projection %s: columns %d and %d have the same label", spec, first+1, j+1)
		}
		seen[string(label)] = j
	}
	f, err := spec.family()
	if err != nil {
		return nil, err
	}
	rows, err := f.fix(spec, source, labels)
	if err != nil {
		return nil, fmt.Errorf("projection %s: %w", spec, err)
	}
	fixed := &Fixed{spec: spec, rows: rows}
	if p, ok := f.(producer); ok {
		fixed.product = p.product(spec, rows)
	}
	fixed.scratches.New = func() any { return &scratch{level: cpu.Best()} }
	return fixed, nil
}

func (f *Fixed) Spec() Spec { return f.spec }

// Columns returns d, the number of columns that are projected.
func (f *Fixed) Columns() int { return len(f.rows) }

// Project overwrites y, m × K row-major, with the projections Σ_j x_j r(label_j) of m records of
// length d, where x is m × d. It panics if the shapes differ.
func (f *Fixed) Project(y, x []int64) {
	k, d := f.spec.K, len(f.rows)
	m := len(x) / d
	if len(x) != m*d || len(y) != m*k {
		panic(fmt.Sprintf("projection: projecting %d entries to %d by a matrix of %d × %d", len(x), len(y), d, k))
	}
	if f.product != nil && m > 0 {
		s := f.scratches.Get().(*scratch)
		f.product.multiply(y, x, s)
		f.scratches.Put(s)
		return
	}
	clear(y)
	for i := range m {
		projectRows(y[i*k:(i+1)*k], f.rows, x[i*d:(i+1)*d])
	}
}

// projectRows adds the projection of one record to y, row by row.
func projectRows(y []int64, rows []row, x []int64) {
	for j, c := range x {
		if c != 0 {
			rows[j].addScaled(y, c)
		}
	}
}

// scratch is the reusable memory of one goroutine, with the level of the kernels that this machine
// supports. Its contents are undefined between calls.
type scratch struct {
	level   cpu.Level
	narrow  []int16
	blocks  [][64]byte
	bytes   []byte
	signs   []uint64
	places  []uint32
	numbers []int64
	ended   []int64
}

// end returns the m rows of x, each followed by ending.
func (s *scratch) end(x []int64, m int, ending []int64) []int64 {
	n := len(x) / m
	s.ended = s.ended[:0]
	for i := range m {
		s.ended = append(append(s.ended, x[i*n:][:n]...), ending...)
	}
	return s.ended
}

// grow returns n elements of a scratch slice, which it grows if needed.
func grow[T any](slice *[]T, n int) []T {
	if cap(*slice) < n {
		*slice = make([]T, n)
	}
	return (*slice)[:n]
}
