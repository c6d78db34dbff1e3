package release

import (
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/sum"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/stream"
)

// Builder makes one exact sketch from batches of encoded records. It is not safe for concurrent
// use.
type Builder struct {
	plan    Plan
	columns *sketch.ColumnsBuilder
	records *sketch.RecordsBuilder
	sums    sum.Adder
	clipped int64
	parts   []part        // columns side: one per worker
	random  *dp.Generator // draws flips; nil until Randomise
	bits    []int64       // scratch: a batch of randomised values
	own     ownSums       // columns side, standardised
	names   *names        // joined sketches only
	wide    int           // joined sketches: the number of features a record is projected from
	places  []int         // joined sketches: the index of each value among these
	centres []int64       // joined sketches and the columns side: subtracted from each value
	placed  []int64       // scratch: a batch of values at their places
	coarse  []int64       // scratch: a batch converted to the study's bits or to its ReadBits
	filled  []int64       // scratch: a batch with absent values filled in
	bare    []int64       // scratch: a batch without label entries
	classes []int64       // of the records so far, if labels travel
	squares bool
	centred bool    // columns side: some centre is not zero
	cut     int64   // columns side: bound on a record's values; 0: none
	ones    []int64 // the end of a derived vector: the entry of the helper column, if there is one
}

// NewBuilder derives this side's row key from the seed and returns a builder without records. The
// number of workers affects only speed.
func (p Plan) NewBuilder(root seed.Keys, workers int) (*Builder, error) {
	b := p.preparing()
	var err error
	switch side := p.Sketch().Side; {
	case side.Sums():
		err = b.openSums(root, workers)
	case side == sketch.Columns:
		err = b.openColumns(root, max(workers, 1))
	default:
		err = b.openRecords(root, workers)
	}
	if err != nil {
		return nil, fmt.Errorf("opening sketch %d: %w", p.Index+1, err)
	}
	return b, nil
}

// preparing returns a builder that only prepares records: it neither sums nor projects them.
func (p Plan) preparing() *Builder {
	helpers := p.Sketch().Helpers
	b := &Builder{plan: p, squares: helpers.Squares, cut: p.Cut()}
	if helpers.Ones > 0 {
		b.ones = []int64{p.ones()}
	}
	if p.Sketch().Side == sketch.Columns {
		b.centres = p.centres()
		b.centred = slices.ContainsFunc(b.centres, func(c int64) bool { return c != 0 })
	}
	return b
}

func (b *Builder) openRecords(root seed.Keys, workers int) error {
	fixed, places, err := b.plan.fixed(root)
	if err != nil {
		return err
	}
	if b.plan.Joined() {
		if b.names, err = b.plan.newNames(root); err != nil {
			return err
		}
		b.wide, b.places, b.centres = fixed.Columns(), places, b.plan.centres()
	}
	b.records, err = sketch.NewRecords(fixed, sketch.RecordsOptions{Largest: b.plan.Study.Bits.One(), Workers: workers})
	return err
}

// fix returns the rows of R for columns. Hadamard needs a second key, because the choice of kept
// columns does not depend on labels.
func fix(spec projection.Spec, root seed.Keys, labels [][]byte) (*projection.Fixed, error) {
	if spec.Family == projection.Identity { // its rows are not secret, so there is no key
		return projection.Fix(spec, stream.New([32]byte{}), labels)
	}
	key, err := root.Derive(seed.ColumnRows)
	if err != nil {
		return nil, err
	}
	if spec.Family != projection.Hadamard {
		return projection.Fix(spec, stream.New(key), labels)
	}
	permutation, err := root.Derive(seed.HadamardPermutation)
	if err != nil {
		return nil, err
	}
	return projection.FixHadamard(spec, stream.New(key), stream.New(permutation), labels)
}

// Add adds a batch of m records: their normalised ids, and their encoded values, m × Plan.Inputs
// row-major. On an error it adds none.
func (b *Builder) Add(ids [][]byte, values []int64) error {
	if want := b.plan.Values + b.plan.Labels.entries(); len(values) != len(ids)*want {
		return fmt.Errorf("batch of %d records has %d values, want %d each", len(ids), len(values), want)
	}
	values = b.present(values)
	if b.plan.Labels != nil {
		before := len(b.classes)
		bare, err := b.takeLabels(len(ids), values)
		if err == nil {
			err = b.addValues(ids, bare)
		}
		if err != nil {
			b.classes = b.classes[:before]
		}
		return err
	}
	return b.addValues(ids, values)
}

// present returns the batch with absent values replaced by their substitutes, if the study counts
// absent values and this sketch does not.
func (b *Builder) present(values []int64) []int64 {
	s := b.plan.Study
	if s.Records.Missing != study.MissingCount || s.CountsAbsent(b.plan.Index) {
		return values
	}
	inputs := b.plan.Inputs()
	b.filled = append(b.filled[:0], values...)
	for i, v := range b.filled {
		if v != sketch.Absent {
			continue
		}
		b.filled[i] = 0
		if f := inputs[i%len(inputs)]; f.Kind == study.Value {
			b.filled[i] = s.Columns[f.Column].Scale.Missing(s.Bits)
		}
	}
	return b.filled
}

// AddRead is Add for values at the study's ReadBits. If these are finer than its bits, some sums
// take the values as they are; all else takes them rounded.
func (b *Builder) AddRead(ids [][]byte, values []int64) error {
	if b.plan.row().AtReadBits {
		if want := b.plan.Values; len(values) != len(ids)*want {
			return fmt.Errorf("batch of %d records has %d values, want %d each", len(ids), len(values), want)
		}
		return b.sums.Add(values)
	}
	return b.Add(ids, b.rounded(values))
}

// rounded converts values from the study's ReadBits to its bits.
func (b *Builder) rounded(values []int64) []int64 {
	fine := b.plan.Study.Fine()
	if fine == 0 {
		return values
	}
	b.coarse = append(b.coarse[:0], values...)
	for i, v := range b.coarse {
		if v != sketch.Absent {
			b.coarse[i] = sketch.Round(v, fine)
		}
	}
	return b.coarse
}

// finer converts values from the study's bits to its ReadBits.
func (b *Builder) finer(values []int64) []int64 {
	fine := b.plan.Study.Fine()
	if fine == 0 {
		return values
	}
	b.coarse = append(b.coarse[:0], values...)
	for i, v := range b.coarse {
		if v != sketch.Absent {
			b.coarse[i] = v << fine
		}
	}
	return b.coarse
}

func (b *Builder) addValues(ids [][]byte, values []int64) error {
	if !b.plan.Flips.Zero() {
		return b.addRandomised(ids, values)
	}
	return b.add(ids, values)
}

func (b *Builder) add(ids [][]byte, values []int64) error {
	switch {
	case b.sums != nil:
		if b.plan.row().AtReadBits {
			values = b.finer(values)
		}
		return b.sums.Add(values)
	case b.columns != nil:
		return b.addColumns(ids, values)
	}
	return b.addRecords(ids, values)
}

// addRecords clips rows after projection. On the records side a record's derived vector is its
// values.
func (b *Builder) addRecords(ids [][]byte, values []int64) error {
	from, more := b.records.Records(), len(ids)
	if int64(more) > b.plan.Limit-int64(from) {
		return fmt.Errorf("adding %d records to %d: the limit is %d", more, from, b.plan.Limit)
	}
	if b.names != nil {
		values = b.place(values)
	}
	if err := b.records.Add(values); err != nil {
		return err
	}
	if b.names != nil {
		b.names.add(ids)
	}
	if b.plan.Clip > 0 {
		for i := range more {
			if dp.ClipL2(b.records.Row(from+i), b.plan.Clip) {
				b.clipped++
			}
		}
	}
	return nil
}

// Exact is a sketch before noise. It must not leave the party. Under randomised response it already
// carries all its noise, and still must not be stored.
type Exact struct {
	Sketch  sketch.Sketch // if labels travel, its last column holds them, not yet randomised
	Order   []int         // records side: release row i is the record added as number Order[i]
	Rows    Rows          // the row columns, in the order of the rows
	Clipped int64         // records whose contribution was clipped; shown to the party, never sent
	Masked  int           // how many members' masks were added, once noise was drawn and Mask called; 0: none
}

// Clipped returns how many records were clipped so far.
func (b *Builder) Clipped() int64 {
	if b.sums != nil {
		return b.sums.Clipped()
	}
	return b.clipped
}

// Exact returns the sketch with its rows in the order in which records were added. A records-side
// builder is left without records.
func (b *Builder) Exact() Exact {
	switch {
	case b.sums != nil:
		return Exact{Sketch: b.sums.Sketch(), Clipped: b.sums.Clipped()}
	case b.columns != nil:
		e := Exact{Sketch: b.columns.Sketch(), Clipped: b.clipped}
		if b.plan.Head() > 0 {
			e.Sketch = b.plan.withHead(e.Sketch, b.own)
		}
		if b.plan.counted > 0 {
			e.Sketch = b.plan.withCutCount(e.Sketch, b.clipped)
		}
		return e
	}
	e := Exact{Sketch: b.records.Sketch(), Clipped: b.clipped}
	if b.names != nil {
		e.Rows.Pseudonyms, b.names.pseudonyms = b.names.pseudonyms, nil
	}
	if b.plan.Labels != nil {
		widen(&e.Sketch, b.classes)
		b.classes = nil
	}
	return e
}

// Finish returns the sketch. On the records side the row order reveals nothing about the order of
// records: see Shuffle.
func (b *Builder) Finish(entropy io.Reader) (Exact, error) {
	if b.random != nil {
		b.random.Destroy()
		b.random = nil
	}
	e := b.Exact()
	if err := e.Shuffle(entropy); err != nil {
		return Exact{}, err
	}
	return e, nil
}

// Shuffle puts the rows of a records-side sketch in a uniformly random order drawn from entropy.
// Rows of a joined sketch, which are released with pseudonyms, are sorted by pseudonym instead. It
// leaves sketches of other sides unchanged.
func (e *Exact) Shuffle(entropy io.Reader) error {
	if e.Sketch.Side != sketch.Records {
		return nil
	}
	order := sorted(e.Rows.Pseudonyms)
	if e.Rows.Pseudonyms == nil {
		var err error
		if order, err = shuffle(e.Sketch.Rows, entropy); err != nil {
			return err
		}
	}
	if err := e.Sketch.Permute(order); err != nil {
		return err
	}
	e.Order = order
	e.Rows = e.Rows.permute(order)
	return nil
}

// shuffle draws a uniform permutation of n places (Durstenfeld 1964).
func shuffle(n int, entropy io.Reader) ([]int, error) {
	g, err := dp.NewGenerator(entropy)
	if err != nil {
		return nil, fmt.Errorf("drawing the order of rows: %w", err)
	}
	defer g.Destroy()
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := int(g.Uint64N(uint64(i + 1)))
		order[i], order[j] = order[j], order[i]
	}
	return order, nil
}
