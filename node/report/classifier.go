package report

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// Sizes of confusion matrices, in pixels.
const (
	confusionCell = 76.0
	mostClasses   = 9
)

// classifier draws how well a label was predicted.
func (s *Section) classifier(id string, a analysis.Analysis) {
	c := *a.Classifier
	s.skip("classifier", "classifier_classes", "classifier_folds", "classifier_confusion", "classifier_class_planes", "classifier_class_planes_planes", "classifier_class_planes_planes_weights",
		"classifier_margins", "classifier_margins_quantiles", "classifier_scatter", "classifier_scatter_points", "classifier_scatter_variance", "classifier_scatter_centres")
	s.Title += " of " + c.Column
	s.Summary = fmt.Sprintf("right are %s, and %s by always saying “%s”", numberText(c.Accuracy), numberText(c.Baseline), c.Majority)
	s.Figures = append(s.Figures, folds(id, c))
	if len(c.Classes) <= mostClasses {
		s.Figures = append(s.Figures, confusion(id, c))
	}
	if len(c.Margins) > 0 && len(c.Classes) <= mostClasses {
		s.Figures = append(s.Figures, margins(id, c))
		var of [][]analysis.Quantile
		for _, m := range c.Margins {
			of = append(of, m.Quantiles)
		}
		s.table(quantileGrid("Margins", c.Classes, of...))
	}
	if c.Scatter != nil {
		s.Figures = append(s.Figures, groupPlot(id+"-scatter", "Predicted classes", *c.Scatter, c.Classes))
	}
	fit := Grid{Caption: "How it was found", Columns: []GridColumn{{"what", false}, {"value", true}}, Rows: [][]string{
		{"accuracy on records that the model did not know", numberText(c.Accuracy)},
		{"accuracy of always saying “" + c.Majority + "”", numberText(c.Baseline)},
		{"records", fmt.Sprint(c.Records)}, {"options", c.Options}, {"labels", c.Labels}, {"coordinates of a record", fmt.Sprint(c.Coordinates)},
	}}
	if c.Unfinished {
		fit.Rows = append(fit.Rows, []string{"training", "cut off before the best planes"})
	}
	s.table(fit)
	s.table(confusionGrid(c))
	s.Notes = append(s.Notes, "The model's planes are in the result's files; party predict places new records with them, where the records are.")
}

// folds draws the accuracy in each fold beside the whole one and guessing.
func folds(id string, c analysis.Classifier) figure.Figure {
	each, names := figure.Curve{Name: "accuracy in a fold", Look: figure.Marks}, []string{}
	for i, share := range c.Folds {
		each.Points = append(each.Points, figure.Point{X: float64(i), Y: share, Title: fmt.Sprintf("fold %d: %.3f", i+1, share)})
		names = append(names, fmt.Sprint(i+1))
	}
	last := float64(len(c.Folds)) - 0.5
	whole := figure.Curve{Name: "of all folds, with its interval", Look: figure.Smooth, Band: true, Points: []figure.Point{numberPoint(-0.5, c.Accuracy), numberPoint(last, c.Accuracy)}}
	chart := figure.Chart{
		ID: id + "-folds", Title: "Accuracy on records that the model did not know", Height: 200, Width: 420, Names: names,
		X: figure.Dimension{Label: "fold"}, Y: figure.Dimension{Label: "share that is predicted right", Include: []float64{1}},
		Description: fmt.Sprintf("The accuracy in each of %d folds, beside that of all of them, %s.", len(c.Folds), numberText(c.Accuracy)),
		Caption:     "The line is what counts, the band its interval. The dotted line is what always saying the most frequent class is right about.",
		Curves:      []figure.Curve{each, whole},
	}
	if c.Baseline.Estimate != nil {
		chart.References = []figure.Reference{{Name: "most frequent class", At: *c.Baseline.Estimate}}
	}
	return chart.Figure()
}

// margins draws how clearly the records of each class were predicted.
func margins(id string, c analysis.Classifier) figure.Figure {
	middle := figure.Curve{Name: "median, with the middle half of the records", Look: figure.Marks}
	tails := figure.Curve{Name: "5 % and 95 %", Look: figure.Marks}
	for i, m := range c.Margins {
		q := m.Quantiles
		if len(q) != 5 {
			continue
		}
		at := func(j int) float64 { return q[j].Value }
		middle.Points = append(middle.Points, figure.Point{X: float64(i), Y: at(2), Low: at(1), High: at(3), Title: minus(fmt.Sprintf("%s: median %s, middle half from %s to %s", c.Classes[i], brief(at(2)), brief(at(1)), brief(at(3))))})
		for _, j := range []int{0, 4} {
			tails.Points = append(tails.Points, figure.Point{X: float64(i), Y: at(j), Title: minus(fmt.Sprintf("%s: %.0f %% at most %s", c.Classes[i], 100*q[j].Share, brief(at(j))))})
		}
	}
	return figure.Chart{
		ID: id + "-margins", Title: "How clearly records of each class are predicted", Height: 220, Width: max(260, 90*float64(len(c.Classes))), Names: c.Classes,
		Y: figure.Dimension{Label: "score of the true class less the highest other", Include: []float64{0}}, Curves: []figure.Curve{middle, tails},
		References:  []figure.Reference{{Name: "right above", At: 0}},
		Description: fmt.Sprintf("Quantiles of the margins of the records of %d classes, by models that did not know the record.", len(c.Classes)),
		Caption:     "A record above the line is predicted right, the further above, the more clearly.",
	}.Figure()
}

// confusion draws which classes are taken for which, as shares of the true class.
func confusion(id string, c analysis.Classifier) figure.Figure {
	n := len(c.Classes)
	room := 46.0
	for _, class := range c.Classes {
		room = max(room, 30+6.4*float64(len([]rune(shortened(class)))))
	}
	side := confusionCell * float64(n)
	d := &figure.Drawing{}
	d.Begin(room, 44, "")
	d.Begin(0, confusionCell/2, fmt.Sprintf(`stroke-width="%g"`, confusionCell))
	for i, row := range c.Confusion {
		for j, records := range row {
			d.Filled(figure.Colour(part(records, row)), fmt.Sprintf("M%g %gh%g", float64(j)*confusionCell, float64(i)*confusionCell, confusionCell),
				fmt.Sprintf("%s taken for %s: %s records", c.Classes[i], c.Classes[j], minus(fmt.Sprintf("%.0f", records))))
		}
	}
	d.End()
	d.Begin(0, 0, `class="cells" pointer-events="none"`)
	for i, row := range c.Confusion {
		for j, records := range row {
			x, y, share := (float64(j)+0.5)*confusionCell, (float64(i)+0.5)*confusionCell, part(records, row)
			class := ""
			if figure.White(share, 0) {
				class = "strong"
			}
			d.Text(class, x, y, fmt.Sprintf("%.0f %%", 100*share))
			d.Text(class+" sub", x, y+15, minus(fmt.Sprintf("%.0f", records)))
		}
	}
	d.End()
	d.Rect("frame", 0, 0, side, side)
	for i, class := range c.Classes {
		d.Text("label end", -8, (float64(i)+0.5)*confusionCell+4, shortened(class))
		d.Text("label mid", (float64(i)+0.5)*confusionCell, -8, shortened(class))
	}
	d.Text("soft mid", side/2, -28, "predicted")
	d.Upwards("soft mid", 14-room, side/2, "true")
	d.End()
	return figure.Figure{
		ID: id + "-confusion", Title: "Which classes are taken for which", Drawing: d, Width: room + side + 6, Height: 44 + side + 6,
		Description: fmt.Sprintf("%d true classes by %d predicted ones, as shares of the true class. The table holds every number.", n, n),
		Caption:     "A row is a true class: how large a share of its records is predicted as each class, and under it how many records.",
	}
}

// part is a count's share of its row, between 0 and 1; estimates may lie outside.
func part(of float64, row []float64) float64 {
	sum := 0.0
	for _, x := range row {
		sum += math.Max(x, 0)
	}
	if sum == 0 {
		return 0
	}
	return min(max(of/sum, 0), 1)
}

func confusionGrid(c analysis.Classifier) Grid {
	g := Grid{Caption: "Records by true class and predicted class", Columns: []GridColumn{{"true", false}}}
	shown := min(len(c.Classes), 30)
	for _, class := range c.Classes[:shown] {
		g.Columns = append(g.Columns, GridColumn{"as " + class, true})
	}
	for i, row := range c.Confusion[:shown] {
		cells := []string{c.Classes[i]}
		for _, records := range row[:shown] {
			cells = append(cells, minus(fmt.Sprintf("%.5g", records)))
		}
		g.Rows = append(g.Rows, cells)
	}
	g.Omitted = len(c.Classes) - shown
	return g
}
