package projection

import (
	"errors"
	"fmt"
)

// Source yields the randomness that a label's row is made of. Equal labels give
// equal blocks, whatever came before. It is safe for concurrent use.
type Source interface {
	// Block returns the 64 pseudorandom bytes of a label.
	Block(label []byte) [64]byte
	// Expand fills dst with the keystream of a block: the first bytes of one and
	// the same infinite sequence, whatever len(dst).
	Expand(block *[64]byte, dst []byte)
}

var errNoSource = errors.New("no source of rows")

// Matrix is R for the columns side: one row for each record, a function of the
// record's label alone. It holds a row's worth of scratch, so one goroutine uses
// it at a time; Clone serves the others.
type Matrix struct {
	spec   Spec
	source Source
	row    keyedRow
}

// New returns the matrix of a spec whose rows come from source. It refuses an
// invalid spec and the family identity, which has no rows for records.
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
	r := f.blank(spec)
	if r == nil {
		return nil, fmt.Errorf("projection %s: serves the records side only, as it has one row for each column (use %s or %s)", spec, Sparse, Rademacher)
	}
	return &Matrix{spec: spec, source: source, row: r}, nil
}

// Spec returns the matrix's description.
func (m *Matrix) Spec() Spec { return m.spec }

// Clone returns the same matrix with scratch of its own.
func (m *Matrix) Clone() *Matrix {
	c, err := New(m.spec, m.source)
	if err != nil {
		panic("projection: cloning a matrix that New did not make")
	}
	return c
}

// AddOuter adds one record to a columns-side sketch: U += r(label) xᵀ, where u
// is U, K × len(x) row-major. It panics if the shapes differ. Sums are exact
// while records stay within Spec.LargestRecordCount.
func (m *Matrix) AddOuter(u []int64, label []byte, x []int64) {
	if len(u) != m.spec.K*len(x) {
		panic(fmt.Sprintf("projection: adding an outer product of %d × %d to %d sums", m.spec.K, len(x), len(u)))
	}
	m.row.draw(m.source, label)
	m.row.addOuter(u, x)
}

// Fixed is R for the records side: the d rows of a list of columns. It is
// immutable and safe for concurrent use.
type Fixed struct {
	spec Spec
	rows []row
}

// Fix returns the rows of the labels of d columns, in their order. It refuses an
// invalid spec, an empty list and a label that occurs twice. The family identity
// takes no randomness: row j is the j-th unit vector, K must be d, and source may be nil.
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
	return &Fixed{spec: spec, rows: rows}, nil
}

// Spec returns the matrix's description.
func (f *Fixed) Spec() Spec { return f.spec }

// Columns returns d, the number of columns that are projected.
func (f *Fixed) Columns() int { return len(f.rows) }

// Project overwrites y, of length K, with the projection Σ_j x_j r(label_j) of a
// record x of length d. It panics if the shapes differ.
func (f *Fixed) Project(y, x []int64) {
	if len(y) != f.spec.K || len(x) != len(f.rows) {
		panic(fmt.Sprintf("projection: projecting %d entries to %d by a matrix of %d × %d", len(x), len(y), len(f.rows), f.spec.K))
	}
	clear(y)
	for j, c := range x {
		if c != 0 {
			f.rows[j].addScaled(y, c)
		}
	}
}
