package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// writeLDA prints what the classes are, how far apart, and by what they are told.
func writeLDA(w io.Writer, a analysis.Analysis, l analysis.LDA) {
	var why reasons
	Paragraph(w, "  ", fmt.Sprintf("Tells the %d classes of %s apart by %d of %d columns. Each party can predict the classes of its own records; nobody has counted how many predictions are right.",
		len(l.Classes), l.Column, len(a.Features), len(a.Features)+len(l.Drowned)))
	if ridge := l.Ridged(); ridge != "" {
		Paragraph(w, "  ", ridge)
	}
	people := a.People()
	shares := NewTable(heads(people, "class", ">share of records")...)
	for c, n := range l.Shares[:min(len(l.Shares), mostRows)] {
		number, between := why.text(n)
		shares.Add(cells(people, n, l.Classes[c], number, between)...)
	}
	shares.Write(w)
	omitted(w, len(l.Shares), "classes")
	apart := NewTable("classes", ">squared distance", forRecords, ">accuracy, if normal", forRecords)
	for _, p := range l.Apart[:min(len(l.Apart), mostRows)] {
		distance, between := why.text(p.Distance)
		accuracy, within := why.text(p.Accuracy)
		apart.Add(l.Classes[p.I]+" and "+l.Classes[p.J], distance, between, accuracy, within)
	}
	apart.Write(w)
	omitted(w, len(l.Apart), "pairs of classes")
	for c, weights := range l.Weights[:min(len(l.Weights), mostScores)] {
		t := NewTable("column", ">mean in "+l.Classes[0], ">in "+l.Classes[c+1], ">weight in the score", forRecords)
		for i, n := range weights[:min(len(weights), mostRows)] {
			first, _ := why.text(l.Means[0][i])
			mean, _ := why.text(l.Means[c+1][i])
			weight, between := why.text(n)
			t.Add(featureText(a.Features, i), first, mean, weight, between)
		}
		Paragraph(w, "  ", fmt.Sprintf("The score of %s over %s:", l.Classes[c+1], l.Classes[0]))
		t.Write(w)
		omitted(w, len(weights), "columns")
	}
	if len(l.Weights) > mostScores {
		fmt.Fprintf(w, "  … %d of %d scores; --format json prints all\n", mostScores, len(l.Weights))
	}
	why.write(w)
	leftOut(w, l.Reference, "the values with which the others of their column are compared")
	if len(l.LeftOut) > 0 {
		Paragraph(w, "  ", fmt.Sprintf("without the classes %s: their shares do not stand out of the noise", strings.Join(l.LeftOut, ", ")))
	}
	leftOut(w, l.Drowned, faint)
}

// mostScores bounds how many scores are printed.
const mostScores = 3
