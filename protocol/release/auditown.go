package release

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed"
)

// settled is the plan of what a party draws once it has chosen its clip, and how it moves its
// records, by noisy numbers: of all clips the one under which a change of a record comes
// closest to what the noise covers. The return value of a plan without a choice is itself.
func (p Plan) settled(root seed.Seed, g *dp.Generator) (worst Plan, realised dp.Sensitivity, err error) {
	if p.Own != nil {
		p, err = p.sketchAlone()
	}
	if err != nil {
		return p, dp.Sensitivity{}, err
	}
	if !p.chooses() {
		realised, err = p.Realise(root, g)
		return p, realised, err
	}
	if p.Looks() { // noise has to cover whatever the look says
		still := make([]sketch.Standard, len(p.Moments.Entries))
		for i, feature := range p.Moments.Entries {
			still[i] = p.still(feature)
		}
		if p, err = p.After(still); err != nil {
			return p, dp.Sensitivity{}, err
		}
	}
	closest := -1.
	for clip := range p.Moments.noises {
		q, err := p.clippedAt(clip)
		if err != nil {
			return p, dp.Sensitivity{}, err
		}
		moved, err := q.Realise(root, g)
		if err != nil {
			return p, dp.Sensitivity{}, err
		}
		if share := float64(q.size(moved)) / float64(q.size(q.Sensitivity)); share > closest {
			worst, realised, closest = q, moved, share
		}
	}
	return worst, realised, nil
}

// sketchAlone is the plan of a standardised sketch of columns after a look by which its records are
// as long as they can be: a number is at the end of its range where it was at one of its bounds. Own
// sums have another noise.
func (p Plan) sketchAlone() (Plan, error) {
	moves := make([]sketch.Standard, p.Values)
	for i, f := range p.Features[:p.Values] {
		if moves[i] = p.still(i); p.scaled(f) {
			moves[i].Spread /= 2
		}
	}
	p, err := p.After(moves)
	if err == nil {
		p.Own.alone = true // a copy of around's
	}
	return p, err
}

// chooses reports whether what a party sums hangs on noisy numbers that it draws before.
func (p Plan) chooses() bool {
	return p.Moments != nil && (p.Moments.own || p.Looks())
}

// clippedAt is the plan of a party that has chosen a clip, given by its number.
func (p Plan) clippedAt(clip int) (Plan, error) {
	m := *p.Moments
	m.own = false
	if len(m.Clips) > 0 {
		m.Clips, m.Weights, m.noises = m.Clips[clip:clip+1], m.Weights[clip:clip+1], m.noises[clip:clip+1]
		p.Clip = m.Clips[0]
	}
	var err error
	p.Moments, p.Noise = &m, m.noises[0]
	p.Sensitivity, err = dp.RecordMoments(p.Clip, m.Layout.Columns, m.Layout.Moves(), m.Weights[0], p.Study.Neighbours())
	if err != nil {
		return p, fmt.Errorf("auditing moments cut to %d: %w", p.Clip, err)
	}
	return p, nil
}

// withAbsent takes values out of half of the records of changes at random.
func (p Plan) withAbsent(changes []pair, g *dp.Generator) (out []pair) {
	of := func(record []int64) []int64 {
		if record == nil || g.Uint64()&1 == 0 {
			return record
		}
		record = append([]int64(nil), record...)
		for _, c := range p.attributes() {
			if g.Uint64()&1 == 0 {
				continue
			}
			at, n := p.first(c)
			for i := range n {
				record[at+i] = sketch.Absent
			}
		}
		return record
	}
	for _, c := range changes {
		out = append(out, pair{of(c.without), of(c.with)})
	}
	return out
}
