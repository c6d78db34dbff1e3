package release

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// Projector finds where a whole vector of values lies among the records of a records-side sketch,
// of any party. It uses the same rows of R, the same centres and the same clip, in exact integers
// and without noise. It is only for vectors that are public, or that do not leave their holder. It
// is not safe for concurrent use.
type Projector struct {
	parts []projected
	k     int
	clip  int64
	unit  float64
}

// projected is the contribution of one party's columns; in a horizontal study there is one, for all
// columns.
type projected struct {
	rows    *projection.Fixed
	values  []int   // indices of the values in a vector
	places  []int   // for each value, the index of its row
	centres []int64 // subtracted from each value
	onto    []int   // for each entry, its coordinate of a point
}

// NewProjector returns the projector of a study's sketch, by its index. It derives the keys of
// PlacingKeys, and none for the identity.
func NewProjector(s *study.Study, index int, keys seed.Keys) (*Projector, error) {
	if s.Sketches[index].Side != sketch.Records {
		return nil, errors.New("projecting vectors: the sketch is not of the records side")
	}
	out := &Projector{k: s.Sketches[index].Projection.K}
	parties := 1
	if s.Merge(index) == study.Join {
		parties = len(s.Parties)
	}
	for party := range parties {
		p, err := For(s, party, index)
		if err != nil {
			return nil, fmt.Errorf("projecting vectors: %w", err)
		}
		p = p.WithoutResponse()
		out.clip, out.unit = p.Clip, p.Unit()
		one := projected{values: s.FeatureIndices(party, index), centres: make([]int64, len(p.Features)), onto: p.Coordinates()}
		if p.Joined() {
			one.centres = p.centres()
		}
		if one.rows, one.places, err = p.fixed(keys); err != nil {
			return nil, fmt.Errorf("projecting vectors: %w", err)
		}
		out.parts = append(out.parts, one)
	}
	return out, nil
}

// Project returns the point of a vector of encoded values, in encoded units, and reports whether it
// was clipped. The values are in the order of the study's AllFeatures. It panics if there are too
// few.
func (p *Projector) Project(values []int64) (point []float64, clipped bool) {
	sum := make([]int64, p.k)
	for _, part := range p.parts {
		from, to := make([]int64, part.rows.Columns()), make([]int64, part.rows.Spec().K)
		for i, at := range part.values {
			from[part.places[i]] = values[at] - part.centres[i]
		}
		part.rows.Project(to, from)
		for i, v := range to {
			sum[part.onto[i]] += v
		}
	}
	if p.clip > 0 {
		clipped = dp.ClipL2(sum, p.clip)
	}
	point = make([]float64, p.k)
	for i, v := range sum {
		point[i] = float64(v) * p.unit
	}
	return point, clipped
}
