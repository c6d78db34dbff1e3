package show

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofPerceptron() kind {
	return kind{name: study.Perceptron, own: predicted}
}

func ofVotedPerceptron() kind {
	return kind{name: study.VotedPerceptron, own: predicted}
}

func ofSVM() kind {
	return kind{name: study.SVM, title: "support vector machine", own: predicted}
}

func ofRidge() kind {
	return kind{name: study.RidgeClassification, own: predicted}
}

func predicted(s *section) { show(s.a.Classifier, s.classifier) }

// mostClasses limits the classes of figures, and of columns side by side in a text.
const mostClasses = 9

// classifier shows how well a label was predicted, beside the baseline, and which classes were
// mistaken for which.
func (s *section) classifier(c analysis.Classifier) {
	s.skip("classifier", "classifier_classes", "classifier_folds", "classifier_confusion", "classifier_class_planes", "classifier_class_planes_planes", "classifier_class_planes_planes_weights",
		"classifier_margins", "classifier_margins_quantiles", "classifier_scatter", "classifier_scatter_points", "classifier_scatter_variance", "classifier_scatter_centres")
	s.heading.Of = c.Column
	s.heading.Says = fmt.Sprintf("right are %s, and %s by always saying “%s”", c.Accuracy.Shown(), c.Baseline.Shown(), c.Majority)
	s.figure("folds", folds(c))
	if len(c.Classes) <= mostClasses {
		s.figure("confusion", block.Figure{
			Title: "Which classes are taken for which", Plot: block.Confusion{Classes: c.Classes, Counts: c.Confusion},
			Description: fmt.Sprintf("%d true classes by %d predicted ones, as shares of the true class. The table holds every number.", len(c.Classes), len(c.Classes)),
			Caption:     "A row is a true class: how large a share of its records is predicted as each class, and under it how many records.",
		})
	}
	if len(c.Margins) > 0 && len(c.Classes) <= mostClasses {
		s.figure("margins", margins(c))
	}
	if c.Scatter != nil {
		s.figure("scatter", groupPlot("Predicted classes", *c.Scatter, c.Classes))
	}
	s.trained(c)
	accuracy := estimates("predicted", "right", []block.ForestRow{{Name: fmt.Sprintf("cross-validated, %d folds", len(c.Folds)), Number: c.Accuracy.Shown()}, {Name: "always “" + c.Majority + "”", Number: c.Baseline.Shown()}})
	accuracy.Caption, accuracy.Columns[2].Name = "Accuracy on records that the model did not know", block.ForPeople
	s.tables = append(s.tables, accuracy, confused(c))
	if len(c.Margins) > 0 && len(c.Classes) <= mostClasses {
		var of [][]analysis.Quantile
		for _, m := range c.Margins {
			of = append(of, m.Quantiles)
		}
		t := quantiles("Margins", c.Classes, of...)
		t.Folded = true
		s.tables = append(s.tables, t)
	}
}

// trained says on what the classifier was trained, and how.
func (s *section) trained(c analysis.Classifier) {
	how := "labels as they are"
	if c.Other > 0 {
		how = "labels randomised, and numbers corrected for that"
	}
	s.note("Predicts %s (%d classes) from %d coordinates, trained on %d records, %s; %s.", c.Column, len(c.Classes), c.Coordinates, c.Records, how, c.Options)
	if c.Accuracy.Low != nil && c.Baseline.Estimate != nil && *c.Accuracy.Low <= *c.Baseline.Estimate {
		s.note("No better than the baseline for certain.")
	}
	if c.Unfinished {
		s.note("Training was cut off before the best plane was found: a lower cost ends sooner.")
	}
	if len(c.Folds) > 0 {
		least, most := c.Folds[0], c.Folds[0]
		for _, x := range c.Folds {
			least, most = min(least, x), max(most, x)
		}
		s.note("Single folds: %s to %s, standard error of their mean %s.", block.Digits(least, 3), block.Digits(most, 3), block.Digits(math.Round(c.FoldsError*1e6)/1e6, 3))
	}
	s.note("The model's planes are in the result's files; party advanced predict places new records with them, where the records are.")
}

func confused(c analysis.Classifier) block.Table {
	const most = 30
	shown := min(len(c.Classes), most)
	t := block.Table{Caption: "Records by true class and predicted class", Columns: []block.Column{block.Words("true class")}, Of: len(c.Classes), Things: "classes"}
	for i, class := range c.Classes[:shown] {
		t.Columns = append(t.Columns, block.Column{Name: "as " + class, Number: true, PageOnly: i >= mostClasses})
	}
	for i, row := range c.Confusion[:shown] {
		cells := block.Cells(c.Classes[i])
		for _, n := range row[:shown] {
			cells = append(cells, block.Cell{Text: block.Count(n)})
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// folds draws the accuracy in each fold beside the overall one and guessing.
func folds(c analysis.Classifier) block.Figure {
	each, names := block.Curve{Name: "accuracy in a fold", Look: block.Marks}, []string{}
	for i, share := range c.Folds {
		each.Points = append(each.Points, block.Point{X: float64(i), Y: share, Title: fmt.Sprintf("fold %d: %.3f", i+1, share)})
		names = append(names, fmt.Sprint(i+1))
	}
	last := float64(len(c.Folds)) - 0.5
	whole := block.Curve{Name: "of all folds, with its interval", Look: block.Smooth, Band: true, Points: []block.Point{block.PointOf(-0.5, c.Accuracy.Shown()), block.PointOf(last, c.Accuracy.Shown())}}
	plot := block.Chart{
		Height: 200, Width: 420, Names: names, Curves: []block.Curve{each, whole},
		X: block.Dimension{Label: "fold"}, Y: block.Dimension{Label: "share that is predicted right", Include: []float64{1}},
	}
	if c.Baseline.Estimate != nil {
		plot.References = []block.Reference{{Name: "most frequent class", At: *c.Baseline.Estimate}}
	}
	return block.Figure{
		Title: "Accuracy on records that the model did not know", Plot: plot,
		Description: fmt.Sprintf("The accuracy in each of %d folds, beside that of all of them, %s.", len(c.Folds), c.Accuracy.Shown()),
		Caption:     "The line is what counts, the band its interval. The dotted line is the accuracy of always predicting the most frequent class.",
	}
}

// margins draws how clearly the records of each class were predicted.
func margins(c analysis.Classifier) block.Figure {
	middle := block.Curve{Name: "median, with the middle half of the records", Look: block.Marks}
	tails := block.Curve{Name: "5 % and 95 %", Look: block.Marks}
	for i, m := range c.Margins {
		q := m.Quantiles
		if len(q) != 5 {
			continue
		}
		at := func(j int) float64 { return q[j].Value }
		middle.Points = append(middle.Points, block.Point{X: float64(i), Y: at(2), Low: at(1), High: at(3), Title: minus(fmt.Sprintf("%s: median %s, middle half from %s to %s", c.Classes[i], block.Brief(at(2)), block.Brief(at(1)), block.Brief(at(3))))})
		for _, j := range []int{0, 4} {
			tails.Points = append(tails.Points, block.Point{X: float64(i), Y: at(j), Title: minus(fmt.Sprintf("%s: %.0f %% at most %s", c.Classes[i], 100*q[j].Share, block.Brief(at(j))))})
		}
	}
	return block.Figure{
		Title:       "How clearly records of each class are predicted",
		Description: fmt.Sprintf("Quantiles of the margins of the records of %d classes, by models that did not know the record.", len(c.Classes)),
		Caption:     "A record above the line is predicted right, the further above, the more clearly.",
		Plot: block.Chart{
			Height: 220, Width: max(260, 90*float64(len(c.Classes))), Names: c.Classes, Curves: []block.Curve{middle, tails},
			Y: block.Dimension{Label: "score of the true class less the highest other", Include: []float64{0}}, References: []block.Reference{{Name: "right above", At: 0}},
		},
	}
}
