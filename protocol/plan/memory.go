package plan

import (
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// memory caches what was found about a study and its copies. A forecast asks for it again for each
// pair of columns.
type memory struct {
	plans     map[planned]release.Plan
	looks     map[looked]expected // what parties find that look at their own columns first
	lefts     map[clipped]left    // what clipping leaves
	remain    map[clipped]remains // what clipping leaves, of parties that do not look at their data
	places    map[planned][]place // of all parties
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

// recall returns the cached value of a key, or finds and caches it.
func recall[K comparable, V any](known map[K]V, key K, find func() V) V {
	out, ok := known[key]
	if !ok {
		out = find()
		known[key] = out
	}
	return out
}

// planned is the key of a party's part of a sketch. A changed study is a copy, with another
// address.
type planned struct {
	of           *study.Study
	index, party int
}

func (c *cell) planned(party int) planned { return planned{c.Study, c.index, party} }

// explainedBy is the key of a column explained by certain others.
type explainedBy struct {
	planned
	target, on string
}

// recorded is the key of something for so many records of all parties.
type recorded struct {
	planned
	records float64
}

// ridged is the key of such an explanation with a ridge, by sums of so many records.
type ridged struct {
	explainedBy
	ridge   study.Ridge
	records float64
}

// noisy is the key of the noise of sums of so many records, with or without the label.
type noisy struct {
	recorded
	label bool
}
