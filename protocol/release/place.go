package release

import (
	"errors"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed"
)

// PlacingKeys are the labels of the keys that a Placer needs.
func PlacingKeys() []seed.Label { return []seed.Label{seed.ColumnRows, seed.HadamardPermutation} }

// Placer finds where records that are in no release lie among those of a records-side
// sketch: by the same rows of R and clipped alike, without noise. Nothing of it leaves a
// party. It is for one goroutine.
type Placer struct{ builder *Builder }

// NewPlacer returns the placer of a plan; the keys are those of PlacingKeys. It refuses
// sketches of the columns side, and joined ones, of which one party has a part of a
// record alone.
func (p Plan) NewPlacer(keys seed.Keys, workers int) (*Placer, error) {
	switch {
	case p.Sketch().Side != sketch.Records:
		return nil, errors.New("placing records: the sketch is not of the records side")
	case p.Joined():
		return nil, errors.New("placing records: in a vertical study a party has a part of a record alone")
	}
	b, err := p.Bare().NewBuilder(keys, workers)
	return &Placer{b}, err
}

// Place returns the points of a batch of records, m × k row-major, in encoded units. Ids and
// values are as Builder.Add takes them.
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
