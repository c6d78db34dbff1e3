package analysis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/linear"
	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/transcript"
)

// Classifier is the section of the kinds that predict a label. Its accuracies are about rows as
// released, with their noise, and about the true labels. If only randomised labels are known, its
// numbers are unbiased estimates, and shares and counts may be below zero or above the whole.
//
// The model is self-contained: a record's coordinates are the entries of its unscaled integer
// sketch times Unit, and Planes give each class a score.
//
//section:classifier of perceptron, voted-perceptron, svm and ridge-classification
type Classifier struct {
	Column  string   `json:"column"`                    // name of the label's column
	Classes []string `json:"classes" by:"i" of:"class"` // values of the label
	Options string   `json:"options"`                   // options, as in the study file
	Labels  string   `json:"labels"`                    // plain or randomised
	Other   float64  `json:"other"`                     // randomised labels: the probability of each single wrong class
	Records int      `json:"records"`                   // number of records it was trained on

	Accuracy    Number      `json:"accuracy"`                                              // accuracy of predictions by models that were not trained on the record
	Folds       []float64   `json:"folds" by:"fold" of:"accuracy"`                         // accuracy in each fold
	FoldsError  float64     `json:"folds_error"`                                           // standard deviation of Folds over the square root of their number
	Baseline    Number      `json:"baseline"`                                              // accuracy of always predicting Majority
	Majority    string      `json:"majority"`                                              // the most frequent class
	Confusion   [][]float64 `json:"confusion" by:"classes,predicted=classes" of:"records"` // records by true class and predicted class
	Unit        float64     `json:"unit"`                                                  // one step of an entry, in encoded units
	Coordinates int         `json:"coordinates"`                                           // number of coordinates of a record's sketch
	ClassPlanes []Planes    `json:"class_planes" by:"class"`                               // one per class; for two classes only one, of the second against the first
	Unfinished  bool        `json:"unfinished,omitempty"`                                  // training stopped before the planes were optimal
	Voted       bool        `json:"voted,omitempty"`                                       // planes vote, each as often as Votes says; otherwise there is one per class

	// Margins are quantiles, by class, of the margin: the score of a record's class minus the
	// highest score of any other class. It is above 0 if the class was predicted. Plain labels
	// only.
	Margins []Margins `json:"margins,omitempty" by:"class"`
	Scatter *Scatter  `json:"scatter,omitempty"` // picture of the records by predicted class
}

// Margins are the margins of the records of one class.
type Margins struct {
	Class     string     `json:"class"`                // class of the records
	Quantiles []Quantile `json:"quantiles" by:"share"` // quantiles of their margins
}

// Planes distinguish one class from the others. The score of a record x is Weights·x + Bias of a
// single plane. Of several planes each votes by the sign of that, and the score is the balance of
// the votes. The class with the highest score is predicted, the first of several; of two classes
// the second if its score is above 0.
type Planes struct {
	Class  string  `json:"class"`                        // class to which they give a score
	Planes []Plane `json:"planes" by:"plane,coordinate"` // one, or those that vote
}

// Plane is one hyperplane.
type Plane struct {
	Weights []float64 `json:"weights" of:"weight"` // by coordinate or feature: factors of a record's coordinates in the score
	Bias    float64   `json:"bias"`                // added to the sum
	Votes   int       `json:"votes,omitempty"`     // number of its votes; voted perceptrons
}

func (c *Classifier) names(n named) error {
	named := slices.Concat(c.Classes, []string{c.Majority})
	for _, m := range c.Margins {
		named = append(named, m.Class)
	}
	return n.classes(c.Column, named)
}

func (c *Classifier) nothing() string {
	if c.Accuracy.Low != nil && (c.Baseline.Estimate == nil || *c.Accuracy.Low > *c.Baseline.Estimate) {
		return ""
	}
	return "predictions are not for certain better than always " + c.Majority
}

func (c *Classifier) check(Analysis) error {
	n := len(c.Classes)
	want := n
	if n == 2 {
		want = 1
	}
	switch {
	case n < 2:
		return fmt.Errorf("a classifier of %d classes", n)
	case len(c.Confusion) != n:
		return fmt.Errorf("a confusion matrix of %d rows for %d classes", len(c.Confusion), n)
	case len(c.ClassPlanes) != want:
		return fmt.Errorf("planes of %d classes, want %d", len(c.ClassPlanes), want)
	}
	for _, row := range c.Confusion {
		if len(row) != n {
			return fmt.Errorf("a row of %d entries in a confusion matrix for %d classes", len(row), n)
		}
	}
	for _, class := range c.ClassPlanes {
		if len(class.Planes) == 0 || !c.Voted && len(class.Planes) != 1 {
			return fmt.Errorf("%d planes of a class", len(class.Planes))
		}
		for _, p := range class.Planes {
			if len(p.Weights) != c.Coordinates || c.Voted && p.Votes < 0 {
				return fmt.Errorf("a plane of %d weights for %d coordinates", len(p.Weights), c.Coordinates)
			}
		}
	}
	if c.Margins != nil && len(c.Margins) != n {
		return fmt.Errorf("margins of %d classes of %d", len(c.Margins), n)
	}
	if c.Scatter != nil {
		if err := c.Scatter.check(n, 0); err != nil {
			return err
		}
	}
	return errors.Join(c.Accuracy.check(), c.Baseline.check())
}

// classify predicts the label of the records of all parties from their sketches.
func (r *run) classify(ctx context.Context, index, sk int, a study.Analysis, trainer trainer) (Analysis, error) {
	all, err := r.points(ctx, sk)
	if err != nil {
		return Analysis{}, err
	}
	known, err := r.labelled(all, sk)
	if err != nil {
		return Analysis{}, err
	}
	// Intervals of accuracies come from linear.Validation.
	out := Analysis{Kind: a.Kind, Sketch: sk, Assumptions: premise.List{premise.Independent}, Joined: all.joined}
	level := out.promise(a, 2) // of accuracy and baseline
	found, err := r.train(ctx, index, a, level, known, trainer, &out)
	if unfit := (*linear.DataError)(nil); errors.As(err, &unfit) {
		return Analysis{}, unanswerable("%v", unfit)
	}
	if err != nil {
		return Analysis{}, err
	}
	from, err := r.scratch(sk)
	if err != nil {
		return Analysis{}, err
	}
	predicted, err := newCoded(from, known.plan.Labels.Classes, all.len(), false)
	if err != nil {
		return Analysis{}, err
	}
	for i := range predicted.of {
		predicted.of[i] = noName
	}
	for i, at := range known.at {
		predicted.of[at] = int32(found[i])
	}
	return out, r.label(all, RowColumn{Analysis: index, Sketch: sk, Name: predictedColumn, coded: predicted})
}

// labelled are the records whose label is known. Of joined records these are the ones that the
// party with the label column holds.
type labelled struct {
	plan   release.Plan // of a party that has the labels
	points *mat.Dense
	labels []int
	at     []int32 // index of each among the points
}

func (r *run) labelled(all *points, sk int) (labelled, error) {
	var out labelled
	from, err := r.scratch(sk)
	if err != nil {
		return out, err
	}
	labels, err := room.Of[int](from, all.len())
	if err != nil {
		return out, err
	}
	for i := range labels {
		labels[i] = -1
	}
	for n, c := range r.Contributions {
		if _, ok := r.Study.LabelOf(c.Party, sk); !ok {
			continue
		}
		if out.plan, err = release.For(r.Study, c.Party, sk); err != nil {
			return out, err
		}
		for row, at := range all.of[n].all() {
			if at != notJoined {
				labels[at] = c.Labels[sk][row]
			}
		}
	}
	if out.at, err = room.Of[int32](from, len(labels)); err != nil {
		return out, err
	}
	known := 0
	for at, label := range labels {
		if label >= 0 {
			labels[known], out.at[known] = label, int32(at) // overwrites only entries already read
			known++
		}
	}
	out.labels, out.at = labels[:known], out.at[:known]
	if len(out.at) == 0 {
		return out, unanswerable("no party in this result has labels of its records")
	}
	if known == len(labels) {
		out.points = all.matrix
		return out, nil
	}
	_, k := all.matrix.Dims()
	if out.points, err = dense(from, known, k); err != nil {
		return out, err
	}
	for i, at := range out.at {
		out.points.SetRow(i, all.matrix.RawRowView(int(at)))
	}
	return out, nil
}

// train fills the section from a matrix of records and their labels, and returns the index of each
// record's predicted class.
func (r *run) train(ctx context.Context, index int, a study.Analysis, level estimate.Level, known labelled, trainer trainer, out *Analysis) ([]int, error) {
	o, ok := a.Options.(study.ClassifierOptions)
	if !ok {
		return nil, fmt.Errorf("options %T", a.Options)
	}
	plan, points, labels := known.plan, known.points, known.labels
	l := plan.Labels
	if l == nil {
		return nil, errors.New("no labels travel with the sketch")
	}
	from, err := r.scratch(out.Sketch)
	if err != nil {
		return nil, err
	}
	data := linear.Data{Room: from, Memory: r.work(out.Sketch), Points: points, Labels: labels, Classes: len(l.Classes), Noise: linear.Randomised{Other: l.Response.Other()}}
	start := func(what string, about ...[]byte) *rand.Rand {
		return rand.New(rand.NewChaCha8(protocol.Hash("cosketch/1/analysis/"+what, about...)))
	}
	// All classifiers of a study use the same folds, which makes them comparable.
	folds := linear.Folds{Count: o.Folds, Level: level, Rand: start("folds", r.Study.ID[:]), Progress: r.tell(index, a.Kind)}
	by := trainer(o, start(string(a.Kind), r.Study.ID[:], transcript.Uint32(uint32(index))))
	p, _ := by.(linear.Perceptron)
	voted := p.Voted
	v, err := linear.CrossValidate(ctx, data, by, folds)
	if err != nil {
		return nil, err
	}
	model, err := linear.Train(ctx, data, by)
	if err != nil {
		return nil, err
	}
	_, coordinates := points.Dims()
	out.Classifier = &Classifier{
		Column: r.Study.Columns[l.Column].Name, Classes: l.Classes, Options: o.String(), Labels: string(plan.Sketch().Labels),
		Other: l.Response.Other(), Records: len(labels), Accuracy: number(v.Accuracy), Folds: v.Folds, FoldsError: v.Error,
		Baseline: number(v.Baseline), Majority: l.Classes[v.Majority], Confusion: v.Confusion, Unit: plan.Unit(),
		Coordinates: coordinates, Voted: voted, ClassPlanes: classPlanes(model, l.Classes),
	}
	for _, s := range model.Scorers {
		out.Classifier.Unfinished = out.Classifier.Unfinished || s.Unfinished
	}
	if l.Response.Other() == 0 {
		if out.Classifier.Margins, err = margins(from, v, labels, l.Classes); err != nil {
			return nil, err
		}
	}
	if out.Classifier.Scatter, err = groups(ctx, from, points, v.Predicted, len(l.Classes), r.Study.Privacy.Mechanism); err != nil {
		return nil, err
	}
	return v.Predicted, nil
}

// margins returns the margins of each class's records.
func margins(from room.Allocator, v linear.Validation, labels []int, classes []string) ([]Margins, error) {
	own, err := room.Of[float64](from, len(labels))
	if err != nil {
		return nil, err
	}
	out := make([]Margins, len(classes))
	for c := range out {
		n := 0
		for i, label := range labels {
			if label == c {
				own[n] = v.Margins[i]
				n++
			}
		}
		out[c] = Margins{classes[c], quantilesOf(own[:n])}
	}
	return out, nil
}

// trainer returns a trainer of the kernel with the options of a study.
type trainer func(o study.ClassifierOptions, random *rand.Rand) linear.Trainer

// classifier returns the kind of a classifier, with at most so many planes per class.
func classifier(name study.AnalysisKind, planes int64, by trainer) kind {
	return kind{
		name: name,
		ways: []way{onRecords(func(r *run, ctx context.Context, index, sk int, a study.Analysis) (Analysis, error) {
			return r.classify(ctx, index, sk, a, by)
		})},
		most: func(t *taken) int64 {
			return plus(mostNumbers(2, t.classes, t.classes+20), times(mostEntry*t.classes*planes, t.k+4))
		},
		// takes: a copy; its label, index, fold, prediction and margin; what training knows of it;
		// lists of records.
		record: func(_ study.Analysis, k int64) (takes, stays int64) { return 8*k + 104, 4 },
	}
}

func ofPerceptron() kind {
	return classifier(study.Perceptron, 1, func(o study.ClassifierOptions, random *rand.Rand) linear.Trainer {
		return linear.Perceptron{Epochs: o.Epochs, Rand: random}
	})
}

func ofVotedPerceptron() kind {
	return classifier(study.VotedPerceptron, linear.MostPlanes, func(o study.ClassifierOptions, random *rand.Rand) linear.Trainer {
		return linear.Perceptron{Epochs: o.Epochs, Voted: true, Rand: random}
	})
}

func ofSVM() kind {
	return classifier(study.SVM, 1, func(o study.ClassifierOptions, random *rand.Rand) linear.Trainer {
		return linear.SVM{Cost: o.Cost, Squared: o.Loss == study.SquaredHinge, Rand: random}
	})
}

func ofRidge() kind {
	return classifier(study.RidgeClassification, 1, func(o study.ClassifierOptions, _ *rand.Rand) linear.Trainer {
		return linear.Ridge{Penalty: o.Penalty}
	})
}

func classPlanes(m linear.Model, classes []string) (out []Planes) {
	if m.Classes == 2 {
		classes = classes[1:]
	}
	for i, s := range m.Scorers {
		one := Planes{Class: classes[i]}
		for j, p := range s.Planes {
			plane := Plane{Weights: p.Weights, Bias: p.Bias}
			if s.Votes != nil {
				plane.Votes = s.Votes[j]
			}
			one.Planes = append(one.Planes, plane)
		}
		out = append(out, one)
	}
	return out
}
