package release

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// What a party sums or projects may hang on noisy numbers that it draws before. Here are the plans of what is
// left then, one for each choice, so that package audit can try them.

// Chooses reports whether what a party sums hangs on noisy numbers that it draws before.
func (p Plan) Chooses() bool {
	return p.Moments != nil && (p.Moments.own || p.Moments.pooled || p.Looks())
}

// Awaits reports whether how records are cut, and how they are moved, follows from a first round, and is not known yet.
func (p Plan) Awaits() bool { return p.Moments != nil && p.Study.Awaits(p.Index) }

// Choices is how many clips a party chooses from; 1 where the study fixes it.
func (p Plan) Choices() int { return len(p.Moments.noises) }

// ClippedAt is the plan of a party that has chosen a clip, given by its number.
func (p Plan) ClippedAt(clip int) (Plan, error) {
	m := *p.Moments
	m.own, m.at = false, 0
	if len(m.Clips) > 0 {
		m.Clips, m.Weights, m.noises = m.Clips[clip:clip+1], m.Weights[clip:clip+1], m.noises[clip:clip+1]
		p.Clip = m.Clips[0]
	}
	var err error
	p.Moments = &m
	p = p.summedBy(m.noises[0])
	p.Sensitivity, err = p.row().Sensitivity(p.Study, p.Index, p.Clip)
	if err != nil {
		return p, fmt.Errorf("planning moments cut to %d: %w", p.Clip, err)
	}
	return p.Among(p.members)
}

// summedBy is the plan with another noise that is sure to be in whatever is seen.
func (p Plan) summedBy(noise dp.Noise) Plan {
	p.Noise, p.summed = noise, noise
	return p
}

// Unmoved is the plan of a second pass after a look that moves no value of moments.
func (p Plan) Unmoved() (Plan, error) { return p.After(p.unmoved()) }

func (p Plan) unmoved() []sketch.Standard {
	still := make([]sketch.Standard, len(p.Moments.Entries))
	for i, feature := range p.Moments.Entries {
		still[i] = p.still(feature)
	}
	return still
}

// SketchAlone is the plan of a standardised sketch of columns after a look by which its records are
// as long as they can be: a number is at the end of its range where it was at one of its bounds. Own
// sums have another noise.
func (p Plan) SketchAlone() (Plan, error) {
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

// OneValue is the plan of a sketch of columns of the first value alone, as it is: where that is 1, a record's column
// is its row of R.
func (p Plan) OneValue() Plan {
	narrow := *p.Study
	narrow.Sketches = slices.Clone(narrow.Sketches)
	narrow.Sketches[p.Index].Helpers = study.Helpers{}
	p.Study, p.Features, p.Values, p.Clip, p.Own, p.counted = &narrow, p.Features[:1], 1, 0, nil, 0
	return p
}
