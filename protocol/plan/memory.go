package plan

import (
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// memory is what was found out already about a study and its copies. A forecast asks the same for each pair of columns.
type memory struct {
	plans     map[planned]release.Plan
	looks     map[looked]expected // what parties find that look at their own columns first
	lefts     map[clipped]left    // what clipping leaves
	remain    map[clipped]remains // what clipping leaves of parties that look at nothing
	places    map[planned][]place // of everyone
	explained map[explainedBy][]place
	ridges    map[ridged]float64
	tails     map[recorded]tails
	noises    map[noisy]estimate.MomentNoise
}

func newMemory() *memory {
	return &memory{
		map[planned]release.Plan{}, map[looked]expected{}, map[clipped]left{}, map[clipped]remains{},
		map[planned][]place{}, map[explainedBy][]place{}, map[ridged]float64{}, map[recorded]tails{}, map[noisy]estimate.MomentNoise{},
	}
}

// recall is what is known under a key, or is found now.
func recall[K comparable, V any](known map[K]V, key K, find func() V) V {
	out, ok := known[key]
	if !ok {
		out = find()
		known[key] = out
	}
	return out
}

// planned is whose part of what is planned: a changed study is a copy, with another address.
type planned struct {
	of           *study.Study
	index, party int
}

func (c *cell) planned(party int) planned { return planned{c.Study, c.index, party} }

// explainedBy is which column is explained by which others.
type explainedBy struct {
	planned
	target, on string
}

// recorded is of how many records of everyone.
type recorded struct {
	planned
	records float64
}

// ridged is with which ridge one is, and by sums of how many records.
type ridged struct {
	explainedBy
	ridge   study.Ridge
	records float64
}

// noisy is in sums of how many records, and whether with the label.
type noisy struct {
	recorded
	label bool
}
