package projection

import (
	"fmt"
	"strings"
)

// families returns all families, in the order in which they are shown to users. To add one, add a
// file with its implementation and list it here.
func families() []family {
	return []family{sparse{}, rademacher{}, achlioptas{}, gaussian{}, hadamard{}, identity{}}
}

// family is the implementation of one distribution of R.
type family interface {
	// about returns the family's description.
	about() About
	// cost returns the cost of projecting records of d columns.
	cost(s Spec, d int) Cost
	// check returns an error if the spec does not fit the family; K is in range already.
	check(Spec) error
	// norms returns the norms of integer rows.
	norms(Spec) norms
	// blank returns a row to draw into, nil if the family serves the records side only.
	blank(Spec) keyedRow
	// fix returns the rows of a list of labels.
	fix(Spec, Source, [][]byte) ([]row, error)
}

// norms holds the norms of an integer row r of R: Σ|r_i|, Σ r_i², and a bound on every |r_i|. All
// rows of a family have the same first two norms; in an uneven family these are upper bounds.
type norms struct{ l1, l2Squared, largest int64 }

// uneven is a family whose rows differ in norm.
type uneven interface {
	// scale returns 1/√E[Σ r_i²]; for the other families it follows from norms.
	scale(Spec) float64
}

// row is one row r of R in its family's compact form. Its methods are the inner loop of every
// sketch.
type row interface {
	// addScaled adds c·r to y, of length K.
	addScaled(y []int64, c int64)
}

// keyedRow is a row that draw can set to the row of any label.
type keyedRow interface {
	row
	draw(source Source, label []byte)
	// addOuter adds r xᵀ to u, K × len(x) row-major.
	addOuter(u, x []int64)
}

// About describes a family.
type About struct {
	Family  Family `json:"family"`
	Entries string `json:"entries"` // values of integer rows, with their probabilities
	Scale   string `json:"scale"`   // the formula of Spec.Scale
	Source  string `json:"source"`  // publication that describes it
	Columns bool   `json:"columns"` // has rows for records, so it serves the columns side too
}

// Families describes all families, in the order in which they are shown to users.
func Families() []About {
	var out []About
	for _, f := range families() {
		out = append(out, f.about())
	}
	return out
}

// Cost is the cost of a projection, up to small terms.
type Cost struct {
	Additions int64 // for a record of d columns, on either side
	Bytes     int64 // memory of a party that holds R for d columns, on the records side
}

// Cost returns the cost of projecting records of d columns. The spec must be valid.
func (s Spec) Cost(d int) Cost {
	f, err := s.family()
	if err != nil {
		return Cost{}
	}
	return f.cost(s, d)
}

func (s Spec) family() (family, error) {
	for _, f := range families() {
		if f.about().Family == s.Family {
			return f, nil
		}
	}
	var names []string
	for _, about := range Families() {
		names = append(names, string(about.Family))
	}
	last := len(names) - 1
	return nil, fmt.Errorf("unknown projection family %q: want %s or %s", string(s.Family), strings.Join(names[:last], ", "), names[last])
}

// drawn returns the rows of a list of labels of a keyed family.
func drawn(f family, s Spec, source Source, labels [][]byte) ([]row, error) {
	if source == nil {
		return nil, errNoSource
	}
	rows := make([]row, len(labels))
	for j, label := range labels {
		r := f.blank(s)
		r.draw(source, label)
		rows[j] = r
	}
	return rows, nil
}
