package study

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Labels says in which form a record's label travels beside its row of a records-side sketch.
type Labels string

const (
	LabelsNone       Labels = ""           // not at all
	LabelsPlain      Labels = "plain"      // unchanged, which no guarantee covers
	LabelsRandomised Labels = "randomised" // after k-ary randomised response
)

// MaxClasses is the largest number of classes of a label that travels.
const MaxClasses = 100

// Classes names the values of a label, in the order of their numbers: 0 and 1 of a binary column,
// the listed values of a categorical one. A numeric column has no classes.
func (c Column) Classes() []string {
	switch c.Kind {
	case Binary:
		return []string{"0", "1"}
	case Categorical:
		return c.Values
	}
	return nil
}

// Label returns the column with role label; ok is false if there is none.
func (s *Study) Label() (c Column, ok bool) {
	for _, c := range s.Columns {
		if c.Label {
			return c, true
		}
	}
	return Column{}, false
}

// HasClasses reports whether the label has 2 to MaxClasses classes.
func (s *Study) HasClasses() bool {
	c, ok := s.Label()
	return ok && len(c.Classes()) >= 2 && len(c.Classes()) <= MaxClasses
}

// LabelOf returns the index of the column whose value travels with each of a party's rows of a
// sketch; ok is false if the sketch has no labels or another party holds the column.
func (s *Study) LabelOf(party, index int) (column int, ok bool) {
	if s.Sketches[index].Labels == LabelsNone {
		return 0, false
	}
	for _, c := range s.OwnColumns(party) {
		if s.Columns[c].Label {
			return c, true
		}
	}
	return 0, false
}

// Stated returns the guarantee stated to people: the whole of it or, if labels leave unchanged,
// that of the values; the text says so beside it.
func (p Part) Stated() dp.Guarantee {
	if p.Whole.Mechanism() == dp.None {
		return p.Values
	}
	return p.Whole
}

// Part is the guarantee of one sketch: of its Values by the noise, of its Labels by their
// randomisation, and of both together, which is debited to the ledger.
type Part struct {
	Values dp.Guarantee
	Labels dp.Guarantee // zero unless labels are randomised
	Whole  dp.Guarantee
}

// Part returns the guarantee of a sketch, by its index.
//
// Under unit attribute a record's label is one value, which is not among the sketched values: a
// change of one value moves the row's entries or its label, never both, so that each may take the
// sketch's whole guarantee. Under unit record both change together and their parts add up, which
// Guarantee.Share does exactly: ε for the pure mechanisms, μ² for gaussian. The label's response is
// calibrated to its part by Guarantee.PureEquivalent, so that it composes with others as that part.
//
// The response covers every change of a label, so it does not matter which label a record of zeros,
// or another record, has.
//
// A label that travels unchanged has no guarantee, and so the whole sketch has none.
func (s *Study) Part(index int) (p Part, err error) {
	sk := s.Sketches[index]
	whole, err := s.Privacy.Guarantee()
	if err != nil {
		return p, err
	}
	if p.Values, err = whole.Share(sk.Share); err != nil {
		return p, err
	}
	p.Whole = p.Values
	switch {
	case sk.Labels == LabelsPlain:
		p.Whole, err = dp.Promise(dp.None, dp.Budget{})
	case sk.Labels == LabelsRandomised && s.Privacy.Unit == dp.Record:
		if p.Labels, err = whole.Share(sk.LabelShare); err == nil {
			p.Whole, err = whole.Share(min(sk.Share+sk.LabelShare, 1))
		}
	case sk.Labels == LabelsRandomised:
		p.Labels = p.Values
	}
	return p, err
}

// Response returns how the labels beside a sketch's rows are randomised; the zero Classes if they
// are not.
func (s *Study) Response(index int) (dp.Classes, error) {
	if s.Sketches[index].Labels != LabelsRandomised {
		return dp.Classes{}, nil
	}
	p, err := s.Part(index)
	if err != nil {
		return dp.Classes{}, err
	}
	c, ok := s.Label()
	if !ok {
		return dp.Classes{}, fmt.Errorf("no column has role: label")
	}
	return dp.RandomiseClasses(p.Labels, len(c.Classes()))
}

// PlainLabels reports whether some sketch releases labels unchanged.
func (s *Study) PlainLabels() bool {
	for _, sk := range s.Sketches {
		if sk.Labels == LabelsPlain {
			return true
		}
	}
	return false
}

// describeLabels says in a sentence what a sketch's labels reveal; "" without labels.
func (s *Study) describeLabels(index int) string {
	label, _ := s.Label()
	name := quote(label.Name)
	switch s.Sketches[index].Labels {
	case LabelsPlain:
		return fmt.Sprintf("with each row goes the record's label %s AS IT IS: no guarantee covers it", name)
	case LabelsRandomised:
		if r, err := s.Response(index); err == nil {
			return fmt.Sprintf("with each row goes the record's label %s, randomised: %v", name, r)
		}
	}
	return ""
}

var errNoLabel = errors.New("it has no label, and labels travel in this study")

// ClassOf reads the class of a record from an encoded label: a binary value, or the entries of a categorical
// one.
func ClassOf(entries []int64, one int64) (int64, error) {
	if len(entries) == 1 {
		switch entries[0] {
		case 0:
			return 0, nil
		case one:
			return 1, nil
		}
		return 0, errNoLabel
	}
	class := int64(-1)
	for i, v := range entries {
		switch {
		case v == one && class < 0:
			class = int64(i)
		case v != 0:
			return 0, errNoLabel
		}
	}
	if class < 0 {
		return 0, errNoLabel
	}
	return class, nil
}
