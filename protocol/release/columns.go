package release

import (
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/stream"
)

// part is what one worker makes of some records of a batch on the columns side: their
// labels and derived vectors, and how many of these it clipped in the batch.
type part struct {
	labels  [][]byte
	arena   []byte // of labels
	derived []int64
	clipped int64
}

func (b *Builder) openColumns(root Keys, workers int) error {
	key, err := root.Derive(seed.RecordRows)
	if err != nil {
		return err
	}
	matrix, err := projection.New(b.plan.Spec(), stream.New(key))
	if err != nil {
		return err
	}
	b.parts = make([]part, workers)
	b.columns, err = sketch.NewColumns(matrix, sketch.ColumnsOptions{
		Columns: len(b.plan.Features), Largest: b.plan.Study.Bits.One(), Limit: b.plan.Limit, Workers: workers,
	})
	return err
}

// addColumns clips derived vectors before they are projected. Each worker derives and
// labels the records that it then projects, a few at a time.
func (b *Builder) addColumns(ids [][]byte, values []int64) error {
	n := b.plan.Values
	for i := range b.parts {
		b.parts[i].clipped = 0
	}
	err := b.columns.AddParts(len(ids), func(worker, from, to int) ([][]byte, []int64) {
		p := &b.parts[worker]
		return b.label(p, ids[from:to]), b.derive(p, values[from*n:to*n])
	})
	if err != nil {
		return err
	}
	for i := range b.parts {
		b.clipped += b.parts[i].clipped
	}
	return nil
}

// derive returns the clipped features of records. They are the values themselves where
// neither helpers nor a bound change them.
func (b *Builder) derive(p *part, values []int64) []int64 {
	n := len(b.plan.Features)
	if n == b.plan.Values && b.plan.Clip <= 0 {
		return values
	}
	size := len(values) / b.plan.Values * n
	p.derived = slices.Grow(p.derived[:0], size)[:size]
	for row := range slices.Chunk(p.derived, n) {
		b.deriveRow(row, values[:b.plan.Values])
		values = values[b.plan.Values:]
		if b.plan.Clip > 0 && dp.ClipL2(row, b.plan.Clip) {
			p.clipped++
		}
	}
	return p.derived
}

// deriveRow fills row with the features of one record: values, squares, ones.
func (b *Builder) deriveRow(row, values []int64) {
	bits := b.plan.Study.Bits
	copy(row, values)
	at := len(values)
	if b.squares {
		for _, v := range values {
			row[at] = fixedpoint.Square(v, bits)
			at++
		}
	}
	if at < len(row) {
		row[at] = b.ones
	}
}

// label returns records' labels.
func (b *Builder) label(p *part, ids [][]byte) [][]byte {
	p.labels, p.arena = p.labels[:0], p.arena[:0]
	if b.plan.Study.Partition == study.Vertical {
		for _, id := range ids {
			p.labels = append(p.labels, stream.VerticalRecordLabel(id))
		}
		return p.labels
	}
	party := b.plan.Study.Parties[b.plan.Party].ID
	for _, id := range ids {
		from := len(p.arena)
		p.arena = stream.AppendHorizontalRecordLabel(p.arena, party, id)
		p.labels = append(p.labels, p.arena[from:]) // stays where it is, also when the arena moves on
	}
	return p.labels
}
