package study

import (
	"github.com/cosketch/cosketch/kernel/audit"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Guarantee returns what all of one party's releases in the study promise together;
// a sketch takes its Share of it. Parse has checked that it exists.
func (p Privacy) Guarantee() (dp.Guarantee, error) {
	return dp.Promise(p.Mechanism, dp.Budget{Epsilon: p.Epsilon, Delta: p.Delta})
}

// Exposure says how one person is exposed to the study. In a vertical study that is
// by every party and every sketched column. In a horizontal study it is by one party
// and all sketched columns: parties hold different records, and a person whose records
// several parties hold counts once for each.
func (s *Study) Exposure() dp.Exposure {
	e := dp.Exposure{Unit: s.Privacy.Unit, Parties: 1, Attributes: s.sketched()}
	if s.Partition == Vertical {
		e.Parties = len(s.Parties)
	}
	return e
}

// sketched counts the columns that at least one sketch contains.
func (s *Study) sketched() int {
	n := 0
	for _, c := range s.Columns {
		for _, sk := range s.Sketches {
			if sk.Side == sketch.Columns || !c.Label {
				n++
				break
			}
		}
	}
	return n
}

// Reveals works out what a sketch of a party with so many records gives away where
// no noise is added; its Acceptable holds the rule for mechanism none.
func (s *Study) Reveals(party, index, records int) (audit.Exposure, error) {
	sk := s.Sketches[index]
	shape := audit.Shape{Side: sk.Side, Projection: sk.Projection, Functions: 1}
	if sk.Helpers.Squares {
		shape.Functions = 2
	}
	if sk.Side == sketch.Columns {
		shape.Records = records
	} else {
		shape.Columns = len(s.Features(party, index))
	}
	return audit.Expose(shape)
}
