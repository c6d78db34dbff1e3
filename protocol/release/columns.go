package release

import (
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/projection/kernels"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/stream"
)

// part is what one worker makes of some records of a batch on the columns side: their
// labels, their derived vectors where these are not the values, and what clipping
// takes away from some of them.
type part struct {
	labels  [][]byte
	arena   []byte // of labels
	derived []int64
	norms   []uint64 // squared, of derived vectors without their ending
	over    [][]byte // labels of records that are clipped
	excess  []int64  // a row for each: what clipping adds to it
	clipped int64    // records of the batch
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
		Columns: len(b.plan.Features), Ending: b.ones, Largest: b.plan.Study.Bits.One(), Limit: b.plan.Limit, Workers: workers,
	})
	return err
}

// addColumns adds clipped derived vectors: values, squares, ones. Each worker derives and
// labels the records that it then projects, a few at a time.
func (b *Builder) addColumns(ids [][]byte, values []int64) error {
	n := b.plan.Values
	for i := range b.parts {
		b.parts[i].clipped = 0
	}
	err := b.columns.AddParts(len(ids), func(worker, from, to int) sketch.Part {
		p := &b.parts[worker]
		records := sketch.Part{Labels: b.label(p, ids[from:to]), X: b.derive(p, values[from*n:to*n])}
		if b.plan.Clip > 0 {
			b.clip(p, &records)
		}
		return records
	})
	if err != nil {
		return err
	}
	for i := range b.parts {
		b.clipped += b.parts[i].clipped
	}
	return nil
}

// derive returns the features of records up to the ones. They are the values themselves
// where there are no squares.
func (b *Builder) derive(p *part, values []int64) []int64 {
	if !b.squares {
		return values
	}
	n, bits := b.plan.Values, b.plan.Study.Bits
	p.derived = p.derived[:0]
	for ; len(values) > 0; values = values[n:] {
		p.derived = append(p.derived, values[:n]...)
		for _, v := range values[:n] {
			p.derived = append(p.derived, fixedpoint.Square(v, bits))
		}
	}
	return p.derived
}

// clip corrects the records that are longer than the bound. Most are not, and stay where
// they are; dp.ClipL2 decides on all that are not surely within it.
func (b *Builder) clip(p *part, r *sketch.Part) {
	n, bound := len(r.X)/len(r.Labels), b.plan.Clip
	p.norms = slices.Grow(p.norms[:0], len(r.Labels))[:len(r.Labels)]
	known := kernels.Best().SquaredNorms(p.norms, r.X)
	most := uint64(min(bound, math.MaxUint32))
	ones := uint64(0)
	for _, v := range b.ones {
		ones += uint64(v * v)
	}
	p.over, p.excess = p.over[:0], p.excess[:0]
	for i, label := range r.Labels {
		if known && p.norms[i]+ones <= most*most {
			continue
		}
		from, x := len(p.excess), r.X[i*n:][:n]
		p.excess = append(append(p.excess, x...), b.ones...)
		row := p.excess[from:]
		if !dp.ClipL2(row, bound) {
			p.excess = p.excess[:from]
			continue
		}
		subtract(row, x)
		subtract(row[n:], b.ones)
		p.over = append(p.over, label)
	}
	p.clipped += int64(len(p.over))
	r.Corrected, r.Corrections = p.over, p.excess
}

// subtract takes x from the first entries of row.
func subtract(row, x []int64) {
	row = row[:len(x)]
	for i, v := range x {
		row[i] -= v
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
