package release

import (
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/cpu"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/projection/kernels"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/stream"
)

// part holds what one worker derives from some records of a batch on the columns side: their
// labels, their derived vectors if these differ from the values, and the corrections of clipped
// records.
type part struct {
	labels  [][]byte
	arena   []byte   // holds the bytes of labels
	derived []int64  // if they differ from the values
	norms   []uint64 // squared, of derived vectors without their ending
	over    [][]byte // labels of clipped records
	cut     []int    // the indices of clipped records
	excess  []int64  // a row for each of them: what clipping adds to it
	clipped int64    // number of records clipped in the batch
	beyond  []bool   // whether a record has a clamped value, if columns are standardised
	whole   []int64  // scratch: a clipped record
	own     ownSums  // of the batch, if columns are standardised
}

func (b *Builder) openColumns(root seed.Keys, workers int) error {
	b.parts = make([]part, workers)
	if b.plan.Own != nil {
		if b.plan.Own.moves == nil {
			return errUnseen
		}
		b.own = newOwnSums(b.plan.Values)
		for i := range b.parts {
			b.parts[i].own = newOwnSums(b.plan.Values)
		}
	}
	key, err := root.Derive(seed.RecordRows)
	if err != nil {
		return err
	}
	matrix, err := projection.New(b.plan.Spec(), stream.New(key))
	if err != nil {
		return err
	}
	b.columns, err = sketch.NewColumns(matrix, sketch.ColumnsOptions{
		Columns: len(b.plan.Features), Ending: b.ones, Largest: b.plan.Study.LargestEntry(b.plan.Index), Limit: b.plan.Limit, Workers: workers,
	})
	return err
}

// addColumns adds clipped derived vectors: values, squares, ones. Each worker derives and labels
// the records that it then projects, a few at a time.
func (b *Builder) addColumns(ids [][]byte, values []int64) error {
	n := b.plan.Values
	for i := range b.parts {
		b.parts[i].clipped = 0
		clear(b.parts[i].own.sums)
		clear(b.parts[i].own.squares)
		b.parts[i].own.shortened = 0
	}
	err := b.columns.AddParts(len(ids), func(worker, from, to int) sketch.Part {
		p := &b.parts[worker]
		records := sketch.Part{Labels: b.label(p, ids[from:to]), X: b.derive(p, values[from*n:to*n])}
		if b.cut > 0 {
			b.clip(p, &records)
		}
		if b.plan.Own != nil {
			b.addOwn(p, records)
		}
		return records
	})
	if err != nil {
		return err
	}
	for i := range b.parts {
		b.clipped += b.parts[i].clipped
		b.own.shortened += b.parts[i].own.shortened
		for j := range b.own.sums {
			b.own.sums[j] += b.parts[i].own.sums[j]
			b.own.squares[j] += b.parts[i].own.squares[j]
		}
	}
	return nil
}

// addOwn sums records after clipping, and counts those that were changed.
func (b *Builder) addOwn(p *part, r sketch.Part) {
	n, quantum, cut := b.plan.Values, b.plan.Own.quantum, 0
	wide := n + len(b.ones)
	for i := range r.Labels {
		row, shortened := r.X[i*n:][:n], p.beyond[i]
		if cut < len(r.Corrected) && p.cut[cut] == i {
			p.whole = append(p.whole[:0], row...)
			for j, v := range r.Corrections[cut*wide:][:n] {
				p.whole[j] += v
			}
			row, cut, shortened = p.whole, cut+1, true
		}
		if p.own.add(row, quantum); shortened {
			p.own.shortened++
		}
	}
}

// derive returns the features of records up to the ones: the centred values, and their squares. It
// returns values itself if there is nothing to derive. Values out of range stay unchanged, and the
// sketch refuses them.
func (b *Builder) derive(p *part, values []int64) []int64 {
	if !b.squares && !b.centred && b.plan.Own == nil {
		return values
	}
	n, bits, one := b.plan.Values, b.plan.Study.Bits, b.plan.Study.Bits.One()
	p.derived = p.derived[:0]
	if b.plan.Own != nil {
		p.beyond = p.beyond[:0]
		for ; len(values) > 0; values = values[n:] {
			any := false
			for i, v := range values[:n] {
				if v >= -one && v <= one {
					beyond := false
					v, beyond = b.plan.take(i, v)
					any = any || beyond
				}
				p.derived = append(p.derived, v)
			}
			p.beyond = append(p.beyond, any)
		}
		return p.derived
	}
	for ; len(values) > 0; values = values[n:] {
		from := len(p.derived)
		p.derived = append(p.derived, values[:n]...)
		own := p.derived[from:]
		for i, c := range b.centres {
			if own[i] >= -one && own[i] <= one {
				own[i] -= c
			}
		}
		if b.squares {
			for _, v := range own {
				p.derived = append(p.derived, fixedpoint.Square(v, bits))
			}
		}
	}
	return p.derived
}

// clip corrects the records whose values are longer than the bound. Most records are not, and stay
// unchanged; dp.ClipL2 decides on those not surely within it. The ones stay unchanged, so their
// products count records whether or not these are clipped.
func (b *Builder) clip(p *part, r *sketch.Part) {
	n := len(r.X) / len(r.Labels)
	p.norms = slices.Grow(p.norms[:0], len(r.Labels))[:len(r.Labels)]
	known := kernels.SquaredNorms(cpu.Best(), p.norms, r.X)
	most := uint64(min(b.cut, math.MaxUint32))
	p.over, p.cut, p.excess = p.over[:0], p.cut[:0], p.excess[:0]
	for i, label := range r.Labels {
		if known && p.norms[i] <= most*most {
			continue
		}
		from, x := len(p.excess), r.X[i*n:][:n]
		p.excess = append(p.excess, x...)
		row := p.excess[from:]
		if !dp.ClipL2(row, b.cut) {
			p.excess = p.excess[:from]
			continue
		}
		subtract(row, x)
		for range b.ones {
			p.excess = append(p.excess, 0)
		}
		p.over, p.cut = append(p.over, label), append(p.cut, i)
	}
	p.clipped += int64(len(p.over))
	r.Corrected, r.Corrections = p.over, p.excess
}

// subtract subtracts x from the first entries of row.
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
		p.labels = append(p.labels, p.arena[from:]) // stays valid when the arena is reallocated
	}
	return p.labels
}
