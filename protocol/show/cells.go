package show

import (
	"fmt"
	"strconv"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
)

// cells shows clusters that were found by cells: their record counts, their centres, and what
// remains unknown.
func (s *section) cells(c analysis.CellMeans) {
	const inText, onPage = 4, 12 // clusters with centroids side by side
	s.skip("cell_means", "cell_means_sizes", "cell_means_centroids", "cell_means_centroids_dates", "cell_means_separations")
	s.heading.Says = fmt.Sprintf("%d clusters of %d records", c.Clusters, c.Records)
	s.note("%d of %d cells stand out of the noise; their centroids choose the clusters, the best of %d starts. Each cell is then added to the nearest cluster, %d records in all. Intervals are at %s %% each. They cover the noise, and take the grouping of the cells as given.",
		c.Kept, c.Cells, c.Restarts, c.Records, block.Brief(100*c.Level))
	if c.Suggested > 0 && c.Suggested != c.Clusters {
		s.note("The records look more like %d clusters than like %d.", c.Suggested, c.Clusters)
	}
	var sizes, apart []block.ForestRow
	for i, n := range c.Sizes {
		sizes = append(sizes, block.ForestRow{Name: strconv.Itoa(i), Number: n.Shown()})
	}
	for _, p := range c.Separations {
		apart = append(apart, block.ForestRow{Name: fmt.Sprintf("%d and %d", p.I, p.J), Number: p.Shown()})
	}
	s.forest("sizes", "Records in each cluster", block.Forest{Rows: named("cluster ", sizes), Common: true, Unit: "records"})
	t := estimates("cluster", "records", sizes)
	t.Caption, t.Things, t.HasFigure = "Records in each cluster", "clusters", true
	s.tables = append(s.tables, t)
	if len(apart) > 0 {
		s.forest("apart", "Squared distances of the centroids", block.Forest{Rows: named("clusters ", apart), Common: true, Unit: "squared distance, in encoded units"})
		t := estimates("clusters", "squared distance", apart)
		t.Caption, t.Things, t.HasFigure = "How far their centroids are apart, in encoded units", "pairs of clusters", true
		s.tables = append(s.tables, t)
	}
	centres := block.Table{Caption: "Centroids, in original units, with intervals " + block.ForRecords, Columns: []block.Column{block.Words("column")}, Of: len(s.a.Features), Things: "columns"}
	shown := min(c.Clusters, onPage)
	for i := range shown {
		centres.Columns = append(centres.Columns, block.Column{Name: fmt.Sprintf("cluster %d", i), Number: true, PageOnly: i >= inText})
	}
	for j, f := range s.a.Features[:min(len(s.a.Features), block.MostRows)] {
		row := block.Cells(f.Name())
		for i := range shown {
			n := c.Centroids[i][j].Shown()
			row = append(row, block.Cell{Text: n.String(), Undefined: n.Undefined})
		}
		centres.Rows = append(centres.Rows, row)
	}
	s.tables = append(s.tables, centres)
	if shown < c.Clusters {
		s.note("The table of centroids has the first %d of %d clusters; the result's files have all.", shown, c.Clusters)
	}
}

// named prefixes rows with what they are about, if no heading says it.
func named(what string, rows []block.ForestRow) (out []block.ForestRow) {
	for _, r := range rows {
		r.Name = what + r.Name
		out = append(out, r)
	}
	return out
}
