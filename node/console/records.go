package console

import (
	"fmt"
	"io"
	"strconv"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// What analyses of the records side say of all records together. Who is in which cluster,
// or near whom, is in each party's own table.

func writeClusters(w io.Writer, a analysis.KMeans) {
	total := 0
	for _, n := range a.Sizes {
		total += n
	}
	t := NewTable(">cluster", ">records", ">share")
	for c, n := range a.Sizes[:min(len(a.Sizes), mostRows)] {
		t.Add(strconv.Itoa(c), strconv.Itoa(n), share(n, total))
	}
	t.Write(w)
	omitted(w, len(a.Sizes), "clusters")
	if d := a.Debiased; d != nil {
		text := "undefined: " + d.Undefined
		if d.Estimate != nil && d.Low != nil && d.High != nil {
			number, between := interval(*d.Estimate, *d.Low, *d.High)
			text = number + " " + between
		}
		Paragraph(w, "  ", fmt.Sprintf("Inertia: %s with the noise, without it %s.", Brief(a.Inertia), text))
	}
	if a.Whole > 0 {
		Paragraph(w, "  ", fmt.Sprintf("Centroids are those of the %d records that every party has; the others went to the nearest.", a.Whole))
	}
	if s := a.Suggested; s != nil && s.Clusters != nil {
		Paragraph(w, "  ", fmt.Sprintf("Of 2 to %d clusters, %d stand out best.", s.Most, *s.Clusters))
	} else if s != nil {
		Paragraph(w, "  ", fmt.Sprintf("Of 2 to %d clusters none is suggested: %s.", s.Most, s.Undefined))
	}
}

func share(n, total int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(total, 1)))
}

func writeNeighbors(w io.Writer, a analysis.Analysis) {
	n := a.Neighbors
	t := NewTable("neighbours of records of", "held by", ">number", ">share")
	rows := 0
	for i, counts := range n.Edges {
		total := 0
		for _, count := range counts {
			total += count
		}
		for j, count := range counts {
			if rows++; rows <= mostRows {
				t.Add(featureText(a.Features, i), featureText(a.Features, j), strconv.Itoa(count), share(count, total))
			}
		}
	}
	t.Write(w)
	omitted(w, rows, "pairs of parties")
	Paragraph(w, "  ", fmt.Sprintf("Another party holds %.1f %% of the %d neighbours of a record; if it said nothing who holds a record, that would be %.1f %%.",
		100*n.Across, n.Neighbors, 100*n.Unrelated))
	Paragraph(w, "  ", fmt.Sprintf("%.0f %% of how distances differ does not come from noise and projection. The nearer to 100 %%, the more the order of neighbours means.", 100*n.Told))
	writeQuantiles(w, []string{"nearest", "number " + strconv.Itoa(n.Neighbors)}, n.Nearest, n.Farthest)
	if n.Unbounded != "" {
		Paragraph(w, "  ", "Parties see distances without intervals: "+n.Unbounded)
	}
}

func writeOutliers(w io.Writer, a analysis.Analysis) {
	o := a.Outliers
	t := NewTable("records of", ">stand out", fmt.Sprintf(">among the first %d", o.Top))
	for i := range o.Above[:min(len(o.Above), mostRows)] {
		t.Add(featureText(a.Features, i), strconv.Itoa(o.Above[i]), strconv.Itoa(o.Ranked[i]))
	}
	t.Write(w)
	omitted(w, len(o.Above), "parties")
	by := "local outlier factor"
	if o.Score == study.ScoreDistance {
		by = "squared distance of the last neighbour"
	}
	Paragraph(w, "  ", fmt.Sprintf("A record stands out if its score, the %s among %d neighbours, is above %s.", by, o.Neighbors, Brief(o.Threshold)))
	writeQuantiles(w, []string{"score"}, o.Quantiles)
}

// writeQuantiles prints distributions beside each other, which have the same shares.
func writeQuantiles(w io.Writer, names []string, of ...[]analysis.Quantile) {
	header := []string{">share of records"}
	for _, name := range names {
		header = append(header, ">"+name+", at most")
	}
	t := NewTable(header...)
	for i, q := range of[0] {
		row := []string{share(int(1000*q.Share+0.5), 1000)}
		for _, values := range of {
			value := ""
			if i < len(values) {
				value = Brief(values[i].Value)
			}
			row = append(row, value)
		}
		t.Add(row...)
	}
	t.Write(w)
}
