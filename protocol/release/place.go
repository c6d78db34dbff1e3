package release

import (
	"errors"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed"
)

// PlacingKeys returns the labels of the keys that a Placer needs.
func PlacingKeys() []seed.Label { return []seed.Label{seed.ColumnRows, seed.HadamardPermutation} }

// Placer finds where records that are in no release lie among those of a records-side sketch. It
// uses the same rows of R and the same clip, without noise. Its results must not leave the party.
// It is not safe for concurrent use.
type Placer struct{ builder *Builder }

// NewPlacer returns the placer of a plan; the keys are those of PlacingKeys. It refuses sketches of
// the columns side. It also refuses joined ones, where a party has only a part of each record.
func (p Plan) NewPlacer(keys seed.Keys, workers int) (*Placer, error) {
	switch {
	case p.Sketch().Side != sketch.Records:
		return nil, errors.New("placing records: the sketch is not of the records side")
	case p.Joined():
		return nil, errors.New("placing records: in a vertical study a party has only part of each record")
	}
	b, err := p.WithoutResponse().NewBuilder(keys, workers)
	return &Placer{b}, err
}

// Place returns the points of a batch of records, m × k row-major, in encoded units. It takes ids
// and values as Builder.Add does.
func (p *Placer) Place(ids [][]byte, values []int64) ([]float64, error) {
	if err := p.builder.Add(ids, values); err != nil {
		return nil, err
	}
	entries := p.builder.Exact().Sketch.Data
	out := make([]float64, len(entries))
	unit := p.builder.plan.Unit()
	for i, v := range entries {
		out[i] = float64(v) * unit
	}
	return out, nil
}
