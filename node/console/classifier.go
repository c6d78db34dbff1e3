package console

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// mostClasses bounds the confusion matrix that is printed.
const mostClasses = 8

// writeClassifier prints how well a label was predicted, beside the baseline, and which
// classes were taken for which.
func writeClassifier(w io.Writer, c analysis.Classifier) {
	how := "labels as they are"
	if c.Other > 0 {
		how = "labels randomised, and numbers corrected for that"
	}
	Paragraph(w, "  ", fmt.Sprintf("Predicts %s (%d classes) from %d coordinates, trained on %d records, %s; %s.",
		c.Column, len(c.Classes), c.Coordinates, c.Records, how, c.Options))
	t := NewTable("", ">accuracy", forPeople)
	add := func(name string, n analysis.Number) {
		if n.Estimate == nil || n.Low == nil || n.High == nil {
			t.Add(name, "undefined", n.Undefined)
			return
		}
		number, between := interval(*n.Estimate, *n.Low, *n.High)
		t.Add(name, number, between)
	}
	add(fmt.Sprintf("cross-validated, %d folds", len(c.Folds)), c.Accuracy)
	add("always "+c.Majority, c.Baseline)
	t.Write(w)
	if c.Accuracy.Low != nil && c.Baseline.Estimate != nil && *c.Accuracy.Low <= *c.Baseline.Estimate {
		Paragraph(w, "  ", "No better than the baseline for certain.")
	}
	if c.Unfinished {
		Paragraph(w, "  ", "Training was cut off before the best plane was found: a lower cost ends sooner.")
	}
	least, most := c.Accuracy.Estimate, c.Accuracy.Estimate
	for i := range c.Folds {
		if least == nil || c.Folds[i] < *least {
			least = &c.Folds[i]
		}
		if most == nil || c.Folds[i] > *most {
			most = &c.Folds[i]
		}
	}
	if least != nil && len(c.Folds) > 0 {
		Paragraph(w, "  ", fmt.Sprintf("Single folds: %s to %s, standard error of their mean %s.", threeDigits(*least), threeDigits(*most), threeDigits(math.Round(c.FoldsError*1e6)/1e6)))
	}
	writeConfusion(w, c)
}

func writeConfusion(w io.Writer, c analysis.Classifier) {
	shown := min(len(c.Classes), mostClasses)
	heads := []string{"true class"}
	for _, name := range c.Classes[:shown] {
		heads = append(heads, ">"+name)
	}
	t := NewTable(heads...)
	for i, name := range c.Classes[:shown] {
		row := []string{name}
		for _, n := range c.Confusion[i][:shown] {
			row = append(row, strconv.FormatFloat(math.Round(n)+0, 'f', 0, 64)) // + 0: no minus before zero
		}
		t.Add(row...)
	}
	fmt.Fprintln(w, "  Records by predicted class:")
	t.Write(w)
	if len(c.Classes) > shown {
		fmt.Fprintf(w, "  … %d of %d classes; --format json prints all\n", shown, len(c.Classes))
	}
}
