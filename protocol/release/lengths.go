package release

import "github.com/cosketch/cosketch/kernel/sketch"

// Lengths counts how many of a party's records a sketch would cut, by the code that cuts them
// and before anything is projected: it needs no seed. The counts are exact and for the party's
// own eyes.
type Lengths struct {
	builder *Builder // prepares values; one of the columns side cuts them, too
	moments *momentSummer
	cells   *sketch.Lengths
	part    part
	records int64
}

// NewLengths returns a counter without records: nil where records are not cut and, on the
// records side, where they are cut after they were projected.
func (p Plan) NewLengths(workers int) (l *Lengths, err error) {
	side := p.Sketch().Side
	if p.Clip == 0 || side == sketch.Records {
		return nil, nil
	}
	if p.Own != nil && p.Own.moves == nil {
		return nil, errUnseen
	}
	l = &Lengths{builder: p.preparing()}
	switch side {
	case sketch.Moments:
		l.moments, err = p.openMoments(p.sumsOptions(workers), true)
	case sketch.Cells:
		l.cells, err = sketch.NewLengths(p.sumsOptions(workers))
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Add takes a batch of m encoded records, as Builder.AddRead does.
func (l *Lengths) Add(m int, values []int64) error {
	l.records += int64(m)
	if l.moments != nil {
		return l.moments.AddRead(values)
	}
	values = l.builder.present(l.builder.rounded(values))
	switch {
	case l.cells != nil:
		return l.cells.Add(values)
	}
	l.builder.clip(&l.part, &sketch.Part{Labels: make([][]byte, m), X: l.builder.derive(&l.part, values)})
	return nil
}

// Cut returns the clip, in integer units, and how many records are longer. Where the party takes
// its own clip, it is the one that its counts of lengths choose without their noise; the release
// may take a neighbour.
func (l *Lengths) Cut() (clip, longer int64) {
	p := l.builder.plan
	switch {
	case l.cells != nil:
		return p.Clip, l.cells.Clipped()
	case l.moments == nil:
		return p.Clip, l.part.clipped
	}
	counts, edge := l.moments.Lengths(), 0
	if p.Moments.own {
		edge = p.chooseClip(weighted(counts), l.records)
	}
	return p.Moments.Clips[edge], total(counts[edge+1:])
}
