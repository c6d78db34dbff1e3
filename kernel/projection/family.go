package projection

import (
	"fmt"
	"strings"
)

// families are all that there are, in the order in which users are told of them. To add
// one is to add a file with its implementation, and to name it here.
func families() []family {
	return []family{sparse{}, rademacher{}, achlioptas{}, gaussian{}, hadamard{}, identity{}}
}

// family is what a distribution of R has to tell and to make.
type family interface {
	// about names the family and what it is made of.
	about() About
	// cost returns what projecting records of d columns costs.
	cost(s Spec, d int) Cost
	// check refuses a spec that does not fit the family; K is in range already.
	check(Spec) error
	// norms returns the norms of integer rows.
	norms(Spec) norms
	// blank returns a row to be drawn, nil if the family serves the records side only.
	blank(Spec) keyedRow
	// fix returns the rows of a list of labels.
	fix(Spec, Source, [][]byte) ([]row, error)
}

// norms of an integer row r of R: Σ|r_i|, Σ r_i², and a bound on every |r_i|. All
// rows of a family have the same two norms, or, where it is uneven, at most these.
type norms struct{ l1, l2Squared, largest int64 }

// uneven is a family whose rows differ in length.
type uneven interface {
	// scale returns 1/√E[Σ r_i²]; for the other families norms tell it.
	scale(Spec) float64
}

// row is one row r of R in its family's compact form. What it does is the inner
// loop of every sketch.
type row interface {
	// addScaled adds c·r to y, of length K.
	addScaled(y []int64, c int64)
}

// keyedRow is a row that can become that of any label.
type keyedRow interface {
	row
	draw(source Source, label []byte)
	// addOuter adds r xᵀ to u, K × len(x) row-major.
	addOuter(u, x []int64)
}

// About says what a family is.
type About struct {
	Family  Family `json:"family"`
	Entries string `json:"entries"` // of integer rows, and how likely they are
	Scale   string `json:"scale"`   // the formula of Spec.Scale
	Source  string `json:"source"`  // who described it
	Columns bool   `json:"columns"` // has rows for records, so serves the columns side too
}

// Families returns what there is, in the order in which to tell users of it.
func Families() []About {
	var out []About
	for _, f := range families() {
		out = append(out, f.about())
	}
	return out
}

// Cost is what a projection takes, up to small terms.
type Cost struct {
	Additions int64 // for a record of d columns, on either side
	Bytes     int64 // memory of a party that holds R for d columns, on the records side
}

// Cost returns what projecting records of d columns costs. The spec is valid.
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
