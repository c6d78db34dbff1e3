package release

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// What a party sums or projects may depend on noisy numbers that it draws before. These functions
// return the plans of what remains then, one for each choice, so that package audit can test them.

// Chooses reports whether what a party sums depends on noisy numbers drawn before.
func (p Plan) Chooses() bool {
	return p.Moments != nil && (p.Moments.own || p.Moments.pooled || p.Looks())
}

// Awaits reports whether clips and moves follow from a first round whose result is not known yet.
func (p Plan) Awaits() bool { return p.Moments != nil && p.Study.AwaitsBasis(p.Index) }

// Choices returns how many clips a party chooses from; 1 if the study fixes it.
func (p Plan) Choices() int { return len(p.Moments.noises) }

// ClippedAt returns the plan of a party that has chosen the clip with that index.
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

// summedBy returns the plan with another noise: one that is sure to be in anything that is seen.
func (p Plan) summedBy(noise dp.Noise) Plan {
	p.Noise, p.summed = noise, noise
	return p
}

// Unmoved returns the plan of a second pass after a look that moves no value of moments.
func (p Plan) Unmoved() (Plan, error) { return p.After(p.unmoved()) }

func (p Plan) unmoved() []sketch.Standard {
	still := make([]sketch.Standard, len(p.Moments.Entries))
	for i, feature := range p.Moments.Entries {
		still[i] = p.still(feature)
	}
	return still
}

// SketchAlone returns the plan of a standardised columns sketch, without own sums, after a look
// that makes its records as long as possible: numbers at one of their bounds are at the end of
// their range. Own sums have noise of their own.
func (p Plan) SketchAlone() (Plan, error) {
	moves := make([]sketch.Standard, p.Values)
	for i, f := range p.Features[:p.Values] {
		if moves[i] = p.still(i); p.scaled(f) {
			moves[i].Spread /= 2
		}
	}
	p, err := p.After(moves)
	if err == nil {
		p.Own.alone = true // around returned a copy
	}
	return p, err
}

// OneValue returns the plan of a columns sketch of only the first value, unchanged: if that value
// is 1, a record's column is its row of R.
func (p Plan) OneValue() Plan {
	narrow := *p.Study
	narrow.Sketches = slices.Clone(narrow.Sketches)
	narrow.Sketches[p.Index].Helpers = study.Helpers{}
	p.Study, p.Features, p.Values, p.Clip, p.Own, p.counted = &narrow, p.Features[:1], 1, 0, nil, 0
	return p
}
