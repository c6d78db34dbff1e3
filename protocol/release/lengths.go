package release

import (
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/sum"
)

// Lengths counts how many of a party's records a sketch would clip. It uses the code that clips
// them, before anything is projected, so it needs no seed. The counts are exact and only for the
// party itself.
type Lengths struct {
	builder *Builder // prepares values; on the columns side it also clips them
	sums    sum.Lengths
	part    part
	records int64
}

// NewLengths returns a counter without records. It is nil if records are not clipped, and on the
// records side, where they are clipped after projection.
func (p Plan) NewLengths(workers int) (*Lengths, error) {
	side := p.Sketch().Side
	if p.Clip == 0 || side == sketch.Records {
		return nil, nil
	}
	if p.Own != nil && p.Own.moves == nil {
		return nil, errUnseen
	}
	l := &Lengths{builder: p.preparing()}
	if side.Sums() {
		o, err := p.adding(nil, workers)
		if err != nil {
			return nil, err
		}
		if l.sums, err = p.row().Measure(o); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Add takes a batch of m encoded records, as Builder.AddRead does.
func (l *Lengths) Add(m int, values []int64) error {
	l.records += int64(m)
	if l.sums != nil && l.builder.plan.row().AtReadBits {
		return l.sums.Add(values)
	}
	values = l.builder.present(l.builder.rounded(values))
	if l.sums != nil {
		return l.sums.Add(values)
	}
	l.builder.clip(&l.part, &sketch.Part{Labels: make([][]byte, m), X: l.builder.derive(&l.part, values)})
	return nil
}

// Cut returns the clip, in integer units, and how many records are longer. If the party chooses its
// own clip, it is the one chosen by its counts of lengths without noise; the release may take a
// neighbour.
func (l *Lengths) Cut() (clip, longer int64) {
	p := l.builder.plan
	switch {
	case l.sums == nil:
		return p.Clip, l.part.clipped
	case p.Moments == nil || !p.Moments.own:
		return p.Clip, l.sums.Clipped()
	}
	counts := l.sums.(interface{ Lengths() []int64 }).Lengths()
	edge := p.chooseClip(sum.Weighted(counts), l.records)
	return p.Moments.Clips[edge], total(counts[edge+1:])
}
