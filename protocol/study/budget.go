package study

import (
	"slices"

	"github.com/cosketch/cosketch/kernel/audit"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Guarantee returns the joint guarantee of all of one party's releases in the study; each sketch
// has a Share of it. Parse has checked that it exists.
func (p Privacy) Guarantee() (dp.Guarantee, error) {
	g, err := dp.Promise(p.Mechanism, dp.Budget{Epsilon: p.Epsilon, Delta: p.Delta})
	if p.Replaced {
		g = g.Replacing()
	}
	return g, err
}

// Flips returns how a sketch randomises its bits before it projects them; the zero Flips under
// every mechanism but randomised response. Each sketch draws its own flips, with its share of ε.
func (s *Study) Flips(index int) (dp.Flips, error) {
	if s.Privacy.Mechanism != dp.RandomisedResponse {
		return dp.Flips{}, nil
	}
	whole, err := s.Privacy.Guarantee()
	if err != nil {
		return dp.Flips{}, err
	}
	part, err := whole.Share(s.Sketches[index].Share)
	if err != nil {
		return dp.Flips{}, err
	}
	return dp.RandomiseBits(part, s.Bits.One())
}

// Exposure says which releases concern one person. In a vertical study these are the releases of
// every party, about every sketched column. In a horizontal study they are those of one party,
// about all sketched columns: parties hold different records, and a person whose records several
// parties hold counts once for each.
func (s *Study) Exposure() dp.Exposure {
	e := dp.Exposure{Unit: s.Privacy.Unit, Parties: 1, Attributes: s.sketched()}
	if s.Partition == Vertical {
		e.Parties = len(s.Parties)
	}
	return e
}

// PerPerson returns the joint budget of all releases of the study about one person (see Exposure),
// at the study's δ. Its ε is infinite under mechanism none, and if labels travel unchanged.
func (s *Study) PerPerson() (dp.Budget, error) {
	g, err := s.Privacy.Guarantee()
	if err != nil {
		return dp.Budget{}, err
	}
	if g.Mechanism() == dp.None || s.PlainLabels() {
		return dp.Budget{Epsilon: dp.Loss{Unbounded: true}.Epsilon(0)}, nil
	}
	loss, err := g.PerPerson(s.Exposure())
	return dp.Budget{Epsilon: loss.Epsilon(g.Delta()), Delta: g.Delta()}, err
}

// sketched counts the columns that at least one sketch contains, or carries as labels.
func (s *Study) sketched() int {
	n := 0
	for _, c := range s.Columns {
		if s.InSketch(c) || c.Label && slices.ContainsFunc(s.Sketches, func(sk Sketch) bool { return sk.Labels != LabelsNone }) {
			n++
		}
	}
	return n
}

// InSketch reports whether some sketch contains the column. The label is not in sketches of the
// records side or of cells.
func (s *Study) InSketch(c Column) bool {
	return slices.ContainsFunc(s.Sketches, func(sk Sketch) bool { return !c.Label || sk.takesLabel() })
}

// Reveals returns what a sketch of a party with this many records reveals if no noise is added; its
// Acceptable implements the rule for mechanism none.
func (s *Study) Reveals(party, index, records int) (audit.Exposure, error) {
	sk := s.Sketches[index]
	shape := audit.Shape{Side: sk.Side, Projection: sk.Projection, Functions: 1}
	if sk.Helpers.Squares {
		shape.Functions = 2
	}
	if sk.Side != sketch.Records {
		shape.Records = records
	}
	features := s.Features(party, index)
	if sk.Side != sketch.Columns {
		shape.Columns = len(features)
	}
	attributes := map[int]bool{}
	for _, f := range features {
		if f.Column >= 0 {
			attributes[f.Column] = true
			shape.Discrete = shape.Discrete || s.Columns[f.Column].Kind != Numeric
		}
	}
	if sk.Side == sketch.Records {
		shape.Attributes = len(attributes)
	}
	return audit.Expose(shape)
}

// RevealsTogether returns what all sketches of a party reveal together. earlier is how much earlier
// releases of the same data without noise released for each number held.
func (s *Study) RevealsTogether(party, records int, earlier float64) (audit.Release, error) {
	out := audit.Release{Earlier: earlier}
	for i := range s.Sketches {
		e, err := s.Reveals(party, i, records)
		if err != nil {
			return audit.Release{}, err
		}
		out.Sketches = append(out.Sketches, e)
	}
	return out, nil
}
