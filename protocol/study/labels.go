package study

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Labels says what of a record's label travels beside its row of a records-side sketch.
type Labels string

const (
	LabelsNone       Labels = ""           // nothing
	LabelsPlain      Labels = "plain"      // the label as it is, which no guarantee covers
	LabelsRandomised Labels = "randomised" // the label after k-ary randomised response
)

// MaxClasses is the most classes that a label that travels may have.
const MaxClasses = 100

// Classes names the values of a label, in the order of their numbers: 0 and 1 of a binary
// column, the listed values of a categorical one. A numeric column has none.
func (c Column) Classes() []string {
	switch c.Kind {
	case Binary:
		return []string{"0", "1"}
	case Categorical:
		return c.Values
	}
	return nil
}

// Label returns the column with role label; ok is false where there is none.
func (s *Study) Label() (c Column, ok bool) {
	for _, c := range s.Columns {
		if c.Label {
			return c, true
		}
	}
	return Column{}, false
}

// HasClasses reports whether the label has classes that can be told apart.
func (s *Study) HasClasses() bool {
	c, ok := s.Label()
	return ok && len(c.Classes()) >= 2 && len(c.Classes()) <= MaxClasses
}

// LabelOf returns the index of the column whose value goes with each of a party's rows of a
// sketch; ok is false where the sketch asks for none or another party holds it.
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

// Stated is what people are told that a sketch promises: the whole of it, or its values where
// labels leave as they are, which is said beside it.
func (p Part) Stated() dp.Guarantee {
	if p.Whole.Mechanism() == dp.None {
		return p.Values
	}
	return p.Whole
}

// Part is what one sketch promises: its Values by the noise, its labels by what is done to
// them, and all of it together, which is what the ledger is debited for.
type Part struct {
	Values dp.Guarantee
	Labels dp.Guarantee // zero unless labels are randomised
	Whole  dp.Guarantee
}

// Part returns the promise of a sketch, by its index.
//
// Under unit attribute a record's label is one value, which the sketched values do not hold:
// a change of one value moves the row's entries or its label, and never both, so that each
// may take the sketch's whole guarantee. Under unit record both change together and their
// parts add up, which Guarantee.Share does exactly: ε for the pure mechanisms, μ² for
// gaussian. The label's response is calibrated to its part by Guarantee.PureEquivalent, so
// that it composes with others as the part says.
//
// The response covers every change of a label, so that it is no matter which label a record
// of zeros, or another record, has.
//
// A label that travels as it is has no promise, and so the whole of the sketch has none.
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

// Response returns how the labels beside a sketch's rows are randomised; the zero Classes
// where they are not.
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

// PlainLabels reports whether some sketch carries labels as they are.
func (s *Study) PlainLabels() bool {
	for _, sk := range s.Sketches {
		if sk.Labels == LabelsPlain {
			return true
		}
	}
	return false
}

// describeLabels says in a sentence what a sketch's labels let out; "" without labels.
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
