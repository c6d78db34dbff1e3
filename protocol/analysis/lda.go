package analysis

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// LDA is the section of the linear discriminant. The analysis's features are the columns that
// distinguish the classes. A party predicts the class of its own records by Model: no record's
// label is sent, and no accuracy is counted.
//
//section:lda of lda
type LDA struct {
	Column        string       `json:"column"`                                        // name of the label's column
	Classes       []string     `json:"classes" by:"i" of:"class"`                     // values of the label that are distinguished
	LeftOut       []string     `json:"left_out,omitempty" by:"-" of:"class"`          // values of the label that do not stand out of the noise
	HiddenByNoise []Feature    `json:"drowned,omitempty" by:"-"`                      // columns whose variance within classes does not stand out of its error
	Ridge         float64      `json:"ridge,omitempty"`                               // share of each column's variance by which its variance within classes was raised; scores, distances and accuracies include it
	Reference     []Feature    `json:"reference,omitempty" by:"-"`                    // values of categorical columns with which their other values are compared
	Shares        []Number     `json:"shares" by:"classes"`                           // by class: share of the records
	Means         [][]Number   `json:"means" by:"classes,features"`                   // by class and feature, in original units
	Within        [][]float64  `json:"within" by:"features,features" of:"covariance"` // pooled covariance within classes, in original units
	Weights       [][]Number   `json:"weights" by:"classes+1,features"`               // by class except the first, and feature: increase of the score over the first class's, per original unit
	Apart         []ClassApart `json:"apart" by:"-"`                                  // distances between each two classes
	Condition     Number       `json:"condition"`                                     // smallest eigenvalue of the correlations within classes
	Identified    float64      `json:"identified"`                                    // number of standard errors by which Condition must exceed zero if there is noise
	Model         []Plane      `json:"model" by:"classes+1,features"`                 // by class except the first, whose score is 0: scores in encoded units around the public centre; the class with the highest score is predicted
}

// ClassApart is the distance between two classes.
type ClassApart struct {
	I        int    `json:"i" of:"classes"` // index into Classes
	J        int    `json:"j" of:"classes"` // index of the other class
	Distance Number `json:"distance"`       // squared distance of the means, in units of the spread within classes
	Accuracy Number `json:"accuracy"`       // share of the records of both classes that the best score classifies correctly, if values are normal
}

// Ridged says which discriminant the answers are about; "" without a ridge.
func (l LDA) Ridged() string {
	if l.Ridge == 0 {
		return ""
	}
	return fmt.Sprintf("Answers are of the discriminant with ridge %.3g: the variance of each column within classes is raised by this part of its whole variance, which makes weights, distances and accuracies smaller.", l.Ridge)
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

func (l *LDA) names(n named) error { return n.classes(l.Column, slices.Concat(l.Classes, l.LeftOut)) }

func (l *LDA) people() []Number { return l.Shares }

func (l *LDA) nothing() string {
	if len(l.Apart) == 0 || slices.ContainsFunc(l.Apart, func(c ClassApart) bool { return c.Distance.ExcludesZero() }) {
		return ""
	}
	if len(l.Apart) == 1 {
		return "the two classes cannot be told apart"
	}
	return fmt.Sprintf("0 of %d pairs of classes can be told apart", len(l.Apart))
}

// lda answers with the linear discriminant of the label's classes.
func (m *moments) lda(_ context.Context, a study.Analysis, out *Analysis) error {
	o, ok := a.Options.(study.LDAOptions)
	if !ok {
		return fmt.Errorf("options of kind %T", a.Options)
	}
	label, ok := m.plan.Study.Label()
	if !ok {
		return fmt.Errorf("no column has role: label")
	}
	section := &LDA{Column: label.Name, Identified: estimate.MinConditionZ}
	out.Units, out.Assumptions = measure.Original, m.rests(study.LDA, premise.Normal)
	classes := label.Classes()
	all := slices.DeleteFunc(m.all(), func(i int) bool { return m.column(i).Name == label.Name })
	options := estimate.DiscriminantOptions{}
	options.On, section.Reference = chosen(o.On, label.Name, len(all), func(at int) (study.Column, Feature) { return m.of(all[at]) })
	for _, i := range all {
		options.Units, options.Origins = append(options.Units, m.unit(i)), append(options.Origins, m.origin(i))
	}
	options.Ridge, options.Raise = m.ridge(o.Ridge, options.On, all), o.Ridge.Auto
	for c := range classes { // classes follow the features
		options.Classes = append(options.Classes, estimate.Indicator{Variable: len(all), Weight: 1})
		options.Units, options.Origins = append(options.Units, 1), append(options.Origins, 0)
		all = append(all, len(m.plan.Features)+c)
	}
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
	out.Features = nil
	for _, i := range options.On {
		if slices.Contains(found.On, i) {
			out.Features = append(out.Features, m.name(all[i]))
		} else {
			section.HiddenByNoise = append(section.HiddenByNoise, m.name(all[i]))
		}
	}
	options.On, options.Ridge, section.Ridge = found.On, found.Ridge, found.Ridge
	section.sampled(found, options, m.estimates.Counts()[len(m.plan.Features)], func(i int) bool { return m.column(all[i]).Kind != study.Numeric })
	section.fill(found, classes, options, out.Features)
	out.LDA = section
	return nil
}

// fill copies the discriminant into the section.
func (l *LDA) fill(d *estimate.Discriminant, classes []string, o estimate.DiscriminantOptions, features []Feature) {
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
		for i, mean := range l.Means[c] {
			l.Means[c][i] = mean.dated(features[i])
		}
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

func ofLDA() kind {
	return kind{
		name: study.LDA, ways: []way{onMoments((*moments).lda)},
		size: func(t *taken) Size { return numbers(t.values * 2 * t.classes) },
		most: func(t *taken) int64 {
			return plus(plus(mostNumbers(4, t.values, t.classes), mostNumbers(2, t.classes, t.classes)), times(mostEntry*t.values, t.values))
		},
		refuse:   cubic(study.LDA, "in one equation", decompose.MaxEigen, 8),
		matrices: 8,
	}
}
