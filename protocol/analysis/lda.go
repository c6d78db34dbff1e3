package analysis

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/study"
)

// LDA is the section of the linear discriminant. The analysis's features are the columns
// that tell the classes apart. A party predicts the class of its own records by Model: no
// record's label travels, and no accuracy is counted.
type LDA struct {
	Column     string       `json:"column"`              // the label's
	Classes    []string     `json:"classes"`             // its values that are told apart
	LeftOut    []string     `json:"left_out,omitempty"`  // those that do not stand out of the noise
	Reference  []Feature    `json:"reference,omitempty"` // values of categorical columns with which their other values are compared
	Shares     []Number     `json:"shares"`              // by class: of the records
	Means      [][]Number   `json:"means"`               // by class and feature, in original units
	Within     [][]float64  `json:"within"`              // covariance within classes, pooled, in original units
	Weights    [][]Number   `json:"weights"`             // by class but the first, and feature: how much a score rises over the first class's, per original unit
	Apart      []ClassApart `json:"apart"`               // each two classes
	Condition  Number       `json:"condition"`           // the least eigenvalue of the correlations within classes
	Identified float64      `json:"identified"`          // how many standard errors Condition has to be above zero where there is noise
	Model      []Plane      `json:"model"`               // by class but the first, whose score is 0: scores in encoded units around the public centre; the highest is the class
}

// ClassApart says how far two classes are apart.
type ClassApart struct {
	I        int    `json:"i"` // of Classes
	J        int    `json:"j"`
	Distance Number `json:"distance"` // squared distance of the means in units of the spread within classes
	Accuracy Number `json:"accuracy"` // share of the records of the two that the best score puts right, if values are normal
}

func (l *LDA) check(a Analysis) error {
	k, n := len(l.Classes), len(a.Features)
	if k < 2 || len(l.Shares) != k || len(l.Means) != k || len(l.Weights) != k-1 || len(l.Model) != k-1 || len(l.Within) != n {
		return fmt.Errorf("%d shares, %d means, %d weights, %d scores and %d rows of covariances of %d classes and %d features", len(l.Shares), len(l.Means), len(l.Weights), len(l.Model), len(l.Within), k, n)
	}
	numbers := append([]Number{l.Condition}, l.Shares...)
	for _, row := range slices.Concat(l.Means, l.Weights) {
		if len(row) != n {
			return fmt.Errorf("%d numbers of a class for %d features", len(row), n)
		}
		numbers = append(numbers, row...)
	}
	for i, row := range l.Within {
		if len(row) != n {
			return fmt.Errorf("row %d of covariances has %d entries for %d features", i+1, len(row), n)
		}
	}
	for _, p := range l.Model {
		if len(p.Weights) != n {
			return fmt.Errorf("a score of %d weights for %d features", len(p.Weights), n)
		}
	}
	for _, p := range l.Apart {
		if p.I < 0 || p.J <= p.I || p.J >= k {
			return fmt.Errorf("distance of classes %d and %d of %d", p.I, p.J, k)
		}
		numbers = append(numbers, p.Distance, p.Accuracy)
	}
	for _, x := range numbers {
		if err := x.check(); err != nil {
			return err
		}
	}
	return nil
}

// assumesNormal is what accuracies rest on beside.
const assumesNormal = "; and accuracies that values are normal within each class, with one covariance: they are of the best score"

// lda tells the classes of the label apart.
func (m *moments) lda(a study.Analysis, out *Analysis) error {
	o, ok := a.Options.(study.LDAOptions)
	if !ok {
		return fmt.Errorf("options of kind %T", a.Options)
	}
	label, ok := m.plan.Study.Label()
	if !ok {
		return fmt.Errorf("no column has role: label")
	}
	section := &LDA{Column: label.Name, Identified: estimate.Identified}
	out.Units, out.Assumption = unitsOriginal, out.Assumption+assumesNormal
	all := m.all()
	options := estimate.DiscriminantOptions{Classes: m.indicators(label)}
	options.On, section.Reference = chosen(o.On, label.Name, len(all), m.of)
	for i := range all {
		options.Units, options.Origins = append(options.Units, m.unit(i)), append(options.Origins, m.origin(i))
	}
	out.Features = nil
	for _, i := range options.On {
		out.Features = append(out.Features, m.name(i))
	}
	classes := label.Classes()
	k, n := len(classes), len(options.On)
	options.Level = out.promise(a, k+(2*k-1)*n+k*(k-1))
	of, why := m.estimates.Moments(all)
	if why != "" {
		return unanswerable("%s", why)
	}
	found, why := of.Discriminant(options)
	if why != "" {
		return unanswerable("%s", why)
	}
	section.fill(found, classes, options)
	out.LDA = section
	return nil
}

// fill takes over what was found.
func (l *LDA) fill(d *estimate.Discriminant, classes []string, o estimate.DiscriminantOptions) {
	for c, class := range classes {
		if slices.Contains(d.Classes, c) {
			l.Classes = append(l.Classes, class)
		} else {
			l.LeftOut = append(l.LeftOut, class)
		}
	}
	numbers := func(of []estimate.Estimate) (out []Number) {
		for _, e := range of {
			out = append(out, number(e))
		}
		return out
	}
	l.Shares, l.Condition = numbers(d.Shares), number(d.Condition)
	for c := range d.Means {
		l.Means = append(l.Means, numbers(d.Means[c]))
	}
	for c, p := range d.Planes {
		l.Weights, l.Model = append(l.Weights, numbers(d.Weights[c])), append(l.Model, Plane{Weights: p.Weights, Bias: p.Bias})
	}
	for _, p := range d.Apart {
		l.Apart = append(l.Apart, ClassApart{I: p.I, J: p.J, Distance: number(p.Distance), Accuracy: number(p.Accuracy)})
	}
	for a, i := range o.On {
		row := make([]float64, len(o.On))
		for b, j := range o.On {
			row[b] = d.Within.At(a, b) * (o.Units[i] * o.Units[j])
		}
		l.Within = append(l.Within, row)
	}
}

// indicators make the label's features tell its classes: the values of a categorical
// column do by themselves, and of a binary one 1 is the one class and 0 the other.
func (m *moments) indicators(label study.Column) (out []estimate.Indicator) {
	for i, f := range m.plan.Features {
		if m.column(i).Name != label.Name {
			continue
		}
		one := estimate.Indicator{Variable: i, Weight: m.unit(i), Offset: m.origin(i)}
		if f.Kind == study.Value {
			out = append(out, estimate.Indicator{Variable: i, Weight: -one.Weight, Offset: 1 - one.Offset})
		}
		out = append(out, one)
	}
	return out
}
