package sketch

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
)

// Limits of a codebook.
const (
	MaxCodeAxes  = 64
	MinCodes     = 2
	MaxCodes     = 256
	MaxRadius    = 1 << 20
	AxisOne      = 1 << 14 // the value of an axis entry that represents 1
	axisShift    = 14
	maxCodeReach = 1 << 20 // largest absolute value of an entry of the public centre
)

// Codebook cuts the space of records into cells that are chosen from prior knowledge of the data. A
// record x is projected on q axes through a centre, y = Axes·(x − Centre), and clipped to length
// Radius. It belongs to the nearest of M code points. All numbers are integers, in units of encoded
// entries.
//
// The author of a codebook need not be trusted. For every codebook that Validate accepts, all
// arithmetic is exact, and the bound on a record's contribution to a sketch depends only on Radius
// and the weights.
type Codebook struct {
	Centre []int64   // d entries in sixteenths of a step, as in Standard, relative to the zero of encoded entries
	Axes   [][]int64 // q rows of d entries; AxisOne represents 1
	Codes  [][]int64 // M rows of q entries
	Radius int64     // the length to which y is clipped, at least 1
}

// Validate returns an error if the codebook does not have d columns, or an integer is out of range.
// bits is the width of a record's encoded entries.
func (c Codebook) Validate(d int, bits fixedpoint.Bits) error {
	q, m := len(c.Axes), len(c.Codes)
	switch {
	case bits.Check() != nil:
		return bits.Check()
	case d < 1 || d > MaxMomentColumns:
		return fmt.Errorf("a codebook of %d columns: must be between 1 and %d", d, MaxMomentColumns)
	case len(c.Centre) != d:
		return fmt.Errorf("a codebook with a centre of %d entries for %d columns", len(c.Centre), d)
	case q < 1 || q > MaxCodeAxes:
		return fmt.Errorf("a codebook of %d axes: must be between 1 and %d", q, MaxCodeAxes)
	case m < MinCodes || m > MaxCodes:
		return fmt.Errorf("a codebook of %d code points: must be between %d and %d", m, MinCodes, MaxCodes)
	case c.Radius < 1 || c.Radius > MaxRadius:
		return fmt.Errorf("a codebook of radius %d: must be between 1 and %d", c.Radius, MaxRadius)
	}
	if i := indexOutside(c.Centre, 16*bits.One()); i >= 0 {
		return fmt.Errorf("a codebook with entry %d of the centre beyond ±%d", i+1, 16*bits.One())
	}
	if err := checkRows("axis", c.Axes, d, AxisOne); err != nil {
		return err
	}
	return checkRows("code point", c.Codes, q, c.Radius)
}

// checkRows returns an error if a row does not have length n, or an entry is beyond ±largest.
func checkRows(what string, rows [][]int64, n int, largest int64) error {
	for i, row := range rows {
		if len(row) != n {
			return fmt.Errorf("a codebook with %s %d of %d entries for %d", what, i+1, len(row), n)
		}
		if j := indexOutside(row, largest); j >= 0 {
			return fmt.Errorf("a codebook with entry %d of %s %d beyond ±%d", j+1, what, i+1, largest)
		}
	}
	return nil
}

// CodesOptions describes a codes sketch to be built.
type CodesOptions struct {
	SumsOptions                // Clip is not used. Centre and Largest only define which entries are accepted
	Codebook    Codebook       // Required
	Weights     dp.CellWeights // Required. of a record's count, and of the count of clipped records
}

// CodesBuilder sums a codes sketch over records. A record adds (weight, y) to the row of its
// nearest code point, where y is its projection by the codebook. If several are equally near, the
// first one counts. If clipped records have a weight, the sketch has one more row: its first entry
// is their number times this weight, the others are zero. An Absent value counts as the codebook's
// centre. The result is bit-identical for every order, batch size and number of workers. A builder
// is not safe for concurrent use.
type CodesBuilder struct {
	summing
	axes    []int64 // q × d
	centre  []int64 // d, in sixteenths of a step
	codes   []int64 // M × q
	squares []int64 // squared length of each code point
	radius  int64
	weights dp.CellWeights
	scratch [][]int64 // by worker: a centred record, and its y
}

// NewCodes returns a builder without records.
func NewCodes(o CodesOptions) (*CodesBuilder, error) {
	d, w := len(o.Centre), o.Weights
	if err := o.Codebook.Validate(d, fixedpoint.MaxBits); err != nil {
		return nil, fmt.Errorf("codes sketch: %w", err)
	}
	switch {
	case indexOutside(o.Centre, maxCodeReach) >= 0:
		return nil, fmt.Errorf("codes sketch: a centre further than %d from zero", maxCodeReach)
	case w.Count < 1 || w.Count > 1<<30:
		return nil, fmt.Errorf("codes sketch: weight %d: must be between 1 and 2^30", w.Count)
	case w.Cut < 0 || w.Cut > w.Count:
		return nil, fmt.Errorf("codes sketch: weight %d of records that were cut: must be between 0 and %d", w.Cut, w.Count)
	}
	if err := o.check(max(w.Count, o.Codebook.Radius)); err != nil {
		return nil, fmt.Errorf("codes sketch: %w", err)
	}
	b := &CodesBuilder{summing: newSumming(o.SumsOptions), centre: o.Codebook.Centre, radius: o.Codebook.Radius, weights: w}
	b.absent = true
	for _, axis := range o.Codebook.Axes {
		b.axes = append(b.axes, axis...)
	}
	for _, code := range o.Codebook.Codes {
		var square int64 // below 2^46
		for _, v := range code {
			square += v * v
		}
		b.codes, b.squares = append(b.codes, code...), append(b.squares, square)
	}
	for range o.Workers {
		b.scratch = append(b.scratch, make([]int64, d+len(o.Codebook.Axes)))
	}
	return b, nil
}

// CodeRows returns the number of rows of a codes sketch: one for each code point, and one for the
// number of clipped records if these have a weight.
func CodeRows(codes int, weights dp.CellWeights) int {
	if weights.Cut > 0 {
		return codes + 1
	}
	return codes
}

// Add adds a batch of records, where x is m × d row-major, with Absent for absent values. Errors
// are those of [CellsBuilder.Add]; if it returns one, it added nothing.
func (b *CodesBuilder) Add(x []int64) error {
	d, q := len(b.centre), len(b.axes)/len(b.centre)
	return b.take(x, len(b.codes)+len(b.squares), func(worker int, records []int64) {
		w := &b.workers[worker]
		moved, y := b.scratch[worker][:d], b.scratch[worker][d:]
		for i := 0; i < len(records); i += d {
			b.project(y, moved, records[i:i+d])
			if dp.ClipL2(y, b.radius) {
				w.clipped++
			}
			row := w.sums[b.nearest(y)*(1+q):][:1+q]
			row[0] += b.weights.Count
			for a, v := range y {
				row[1+a] += v
			}
		}
	})
}

// project sets y to the products of a record and the axes, in steps, rounded half away from zero.
func (b *CodesBuilder) project(y, moved, x []int64) {
	for j, v := range x {
		if moved[j] = 0; v != Absent {
			moved[j] = 16*v - b.centre[j] // below 2^26
		}
	}
	for a := range y {
		var sum int64 // below 2^26 · 2^14 · 2^11
		axis := b.axes[a*len(moved):][:len(moved)]
		for j, v := range moved {
			sum += axis[j] * v
		}
		y[a] = Round(sum, axisShift+4)
	}
}

// nearest returns the code point nearest to y, which is within the radius. It minimises |c|² −
// 2⟨c,y⟩, which is below 2^49.
func (b *CodesBuilder) nearest(y []int64) (best int) {
	var least int64
	for c, square := range b.squares {
		var along int64
		code := b.codes[c*len(y):][:len(y)]
		for a, v := range y {
			along += code[a] * v
		}
		if far := square - 2*along; c == 0 || far < least {
			best, least = c, far
		}
	}
	return best
}

// Sketch returns a copy of the sums so far, [CodeRows] × (1+q).
func (b *CodesBuilder) Sketch() Sketch {
	q := len(b.axes) / len(b.centre)
	out := Sketch{Side: Codes, Rows: CodeRows(len(b.squares), b.weights), Cols: 1 + q}
	out.Data = make([]int64, out.Rows*out.Cols)
	copy(out.Data, b.total(len(b.codes)+len(b.squares)))
	if b.weights.Cut > 0 {
		out.Row(len(b.squares))[0] = b.weights.Cut * b.Clipped()
	}
	return out
}
