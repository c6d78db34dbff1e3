package console

import (
	"fmt"
	"io"
	"strconv"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// writeMeans prints the means of columns, in their order.
func writeMeans(w io.Writer, a analysis.Analysis) {
	people := a.People()
	t := NewTable(heads(people, "of", ">estimate")...)
	for i, m := range a.Means[:min(len(a.Means), mostRows)] {
		number, between := numberText(m)
		t.Add(cells(people, m, featureText(a.Features, i), number, between)...)
	}
	t.Write(w)
	omitted(w, len(a.Means), "means")
	for _, line := range a.Amounts(interval) {
		Paragraph(w, "  ", line)
	}
}

// numberText is a number and its interval, rounded to it.
func numberText(n analysis.Number) (number, between string) {
	if n.Estimate == nil || n.Low == nil || n.High == nil {
		return "undefined", n.Undefined
	}
	return interval(*n.Estimate, *n.Low, *n.High)
}

// writeCellMeans prints clusters that were found by cells: how many records they have,
// where their centres are, and what stays unsaid.
func writeCellMeans(w io.Writer, a analysis.Analysis) {
	c := *a.CellMeans
	Paragraph(w, "  ", fmt.Sprintf("%d of %d cells stand out of the noise; their centroids choose the clusters. Each cell is then added to the nearest cluster, %d records in all. Intervals are at %s %% each. They cover the noise, and take the grouping of the cells as given.",
		c.Kept, c.Cells, c.Records, Brief(100*c.Level)))
	if c.Suggested > 0 && c.Suggested != c.Clusters {
		Paragraph(w, "  ", fmt.Sprintf("The records look more like %d clusters than like %d.", c.Suggested, c.Clusters))
	}
	sizes := NewTable(">cluster", ">records", forRecords)
	for i, n := range c.Sizes[:min(len(c.Sizes), mostRows)] {
		number, between := numberText(n)
		sizes.Add(strconv.Itoa(i), number, between)
	}
	sizes.Write(w)
	omitted(w, len(c.Sizes), "clusters")
	if len(c.Separations) > 0 {
		fmt.Fprintln(w, "  How far their centroids are apart, in encoded units:")
		apart := NewTable("clusters", ">squared distance", forRecords)
		for _, p := range c.Separations[:min(len(c.Separations), mostRows)] {
			number, between := numberText(p.Number)
			apart.Add(fmt.Sprintf("%d and %d", p.I, p.J), number, between)
		}
		apart.Write(w)
		omitted(w, len(c.Separations), "pairs of clusters")
	}
	if len(c.Centroids) > mostColumns {
		Paragraph(w, "  ", "Centroids and their intervals are in the document.")
		return
	}
	fmt.Fprintln(w, "  Their centroids, with intervals for these records:")
	names := []string{"centroid"}
	for i := range c.Centroids {
		names = append(names, fmt.Sprintf(">of %d", i), ">interval")
	}
	t := NewTable(names...)
	for j := range a.Features[:min(len(a.Features), mostRows)] {
		row := []string{featureText(a.Features, j)}
		for _, centroid := range c.Centroids {
			number, between := "?", ""
			if j < len(centroid) {
				number, between = numberText(centroid[j])
			}
			row = append(row, number, between)
		}
		t.Add(row...)
	}
	t.Write(w)
	omitted(w, len(a.Features), "columns")
}

// mostColumns bounds how many clusters' centroids are printed beside each other.
const mostColumns = 3
