package report

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// clusters draws clustered records.
func (s *Section) clusters(id string, k analysis.KMeans) {
	s.skip("k_means_sizes", "k_means_scatter", "k_means_scatter_points", "k_means_scatter_variance", "k_means_scatter_centres", "k_means_suggested_index", "k_means_distances", "k_means_centroids")
	s.Notes = append(s.Notes, "Centroids are in the space of the sketch, where they have no columns: the result's files have them.")
	total := 0
	for _, n := range k.Sizes {
		total += n
	}
	s.Summary = fmt.Sprintf("%d records in %d clusters, the best of %d starts", total, k.Clusters, k.Restarts)
	if k.Scatter != nil {
		s.Figures = append(s.Figures, scatterPlot(id+"-scatter", k))
	}
	if k.Suggested != nil && len(k.Suggested.Index) > 1 {
		s.Figures = append(s.Figures, suggestion(id, *k.Suggested))
	}
	if len(k.Distances) > 0 {
		s.Figures = append(s.Figures, figure.Chart{
			ID: id + "-centroids", Title: "How far rows are from their centroid", Height: 200, Width: 420,
			X:           figure.Dimension{Label: "share of the rows, %", Include: []float64{0, 100}},
			Y:           figure.Dimension{Label: "squared distance, in encoded units", Include: []float64{0}},
			Curves:      []figure.Curve{quantileCurve("", k.Distances)},
			Description: "Quantiles of the rows' squared distances from the centroid of their cluster.",
			Caption:     "Each point: this share of the rows lies at most this far from its centroid, noise included. A steep end means that some rows fit no cluster.",
		}.Figure())
		s.table(quantileGrid("Distances from the centroid", []string{"squared distance"}, k.Distances))
	}
	sizes := Grid{Caption: "Records in each cluster", Columns: []GridColumn{{"cluster", true}, {"records", true}, {"share", true}}}
	for c, n := range k.Sizes[:min(len(k.Sizes), mostRows)] {
		sizes.Rows = append(sizes.Rows, []string{fmt.Sprint(c), fmt.Sprint(n), fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(total, 1)))})
	}
	sizes.Omitted = len(k.Sizes) - len(sizes.Rows)
	s.table(sizes)
}

// suggestion draws the index by which a number of clusters is suggested.
func suggestion(id string, g analysis.Suggested) figure.Figure {
	curve := figure.Curve{}
	for i, x := range g.Index {
		curve.Points = append(curve.Points, figure.Point{X: float64(i + 2), Y: x, Title: fmt.Sprintf("%d clusters: %s", i+2, brief(x))})
	}
	chart := figure.Chart{
		ID: id + "-suggested", Title: "How many clusters stand out", Height: 200, Width: 420, Curves: []figure.Curve{curve},
		X: figure.Dimension{Label: "clusters"}, Y: figure.Dimension{Label: "index of Calinski and Harabasz, without the noise", Include: []float64{0}},
		Description: fmt.Sprintf("The index for 2 to %d clusters.", len(g.Index)+1),
		Caption:     "The higher the index, the better this number of clusters separates the records. It is 0 where they do not stand out of the noise.",
	}
	if g.Clusters != nil {
		chart.References = []figure.Reference{{Name: "suggested", At: float64(*g.Clusters), Upright: true}}
	}
	return chart.Figure()
}

// cells draws clusters that were found by cells.
func (s *Section) cells(id string, a analysis.Analysis) {
	c := *a.CellMeans
	s.skip("cell_means_sizes", "cell_means_centroids", "cell_means_separations")
	s.Summary = fmt.Sprintf("%d clusters of %s records", c.Clusters, fmt.Sprint(c.Records))
	var sizes, apart []entry
	for i, n := range c.Sizes {
		sizes = append(sizes, entry{name: fmt.Sprintf("cluster %d", i), Number: n})
	}
	for _, p := range c.Separations {
		apart = append(apart, entry{name: fmt.Sprintf("clusters %d and %d", p.I, p.J), Number: p.Number})
	}
	s.Figures = append(s.Figures, forest(id+"-sizes", "Records in each cluster", sizes, true, "records"))
	if len(apart) > 0 {
		s.Figures = append(s.Figures, forest(id+"-apart", "Squared distances of the centroids", apart, true, "squared distance, in encoded units"))
	}
	centres := Grid{Caption: "Centroids, in original units, with intervals for these records", Columns: []GridColumn{{"column", false}}}
	shown := min(c.Clusters, 12)
	for i := range shown {
		centres.Columns = append(centres.Columns, GridColumn{fmt.Sprintf("cluster %d", i), true})
	}
	for j, f := range a.Features[:min(len(a.Features), mostRows)] {
		row := []string{f.Name()}
		for i := range shown {
			row = append(row, numberText(c.Centroids[i][j]))
		}
		centres.Rows = append(centres.Rows, row)
	}
	centres.Omitted = len(a.Features) - len(centres.Rows)
	s.Open = append(s.Open, centres)
	if shown < c.Clusters {
		s.Notes = append(s.Notes, fmt.Sprintf("The table of centroids has the first %d of %d clusters; the result's files have all.", shown, c.Clusters))
	}
}

// neighbors draws how far records are from their nearest ones.
func (s *Section) neighbors(id string, a analysis.Analysis) {
	n := *a.Neighbors
	s.skip("neighbors", "neighbors_nearest", "neighbors_farthest", "neighbors_edges")
	s.Summary = fmt.Sprintf("%.0f %% of them are at another party; %.0f %% would be if parties did not matter", 100*n.Across, 100*n.Unrelated)
	chart := figure.Chart{
		ID: id + "-distances", Title: "How far the neighbours of records are", Height: 240,
		X:           figure.Dimension{Label: "share of the records, %", Include: []float64{0, 100}},
		Y:           figure.Dimension{Label: "squared distance, " + unitName(a), Include: []float64{0}},
		Curves:      []figure.Curve{quantileCurve("from the nearest neighbour", n.Nearest)},
		Description: fmt.Sprintf("Quantiles of the records' squared distances from the first and the last of %d neighbours.", n.Neighbors),
		Caption:     "Each point: this share of the records lies at most this far from its neighbour. The noise is taken off; 0 where it is larger.",
	}
	s.Notes = append(s.Notes, fmt.Sprintf("%.0f %% of how distances differ does not come from noise and projection. The nearer to 100 %%, the more the order of neighbours means.", 100*n.Told))
	if n.Neighbors > 1 {
		chart.Curves = append(chart.Curves, quantileCurve(fmt.Sprintf("from neighbour %d", n.Neighbors), n.Farthest))
	}
	s.Figures = append(s.Figures, chart.Figure())
	s.table(quantileGrid("Squared distances", []string{"from the nearest neighbour", fmt.Sprintf("from neighbour %d", n.Neighbors)}, n.Nearest, n.Farthest))
	edges := Grid{Caption: "Whose records are near whose", Columns: []GridColumn{{"records of", false}}}
	for i, f := range a.Features {
		edges.Columns = append(edges.Columns, GridColumn{"neighbours at " + f.Name(), true})
		row := []string{f.Name()}
		for _, count := range n.Edges[i] {
			row = append(row, fmt.Sprint(count))
		}
		edges.Rows = append(edges.Rows, row)
	}
	s.table(edges)
	if n.Unbounded != "" {
		s.Notes = append(s.Notes, "Distances are told without intervals: "+n.Unbounded+".")
	}
}

// outliers draws the scores of records and where they stand out.
func (s *Section) outliers(id string, a analysis.Analysis) {
	o := *a.Outliers
	s.skip("outliers", "outliers_quantiles", "outliers_above", "outliers_ranked", "outliers_scatter", "outliers_scatter_points", "outliers_scatter_variance", "outliers_scatter_centres")
	above := 0
	for _, n := range o.Above {
		above += n
	}
	s.Summary = fmt.Sprintf("%d records stand out", above)
	score := "squared distance from neighbour " + fmt.Sprint(o.Neighbors)
	if o.Score == study.ScoreLOF {
		score = "local outlier factor"
	}
	chart := figure.Chart{
		ID: id + "-scores", Title: "Scores of the records", Height: 240,
		X: figure.Dimension{Label: "share of the records, %", Include: []float64{0, 100}}, Y: figure.Dimension{Label: score},
		Curves:      []figure.Curve{quantileCurve("score", o.Quantiles)},
		References:  []figure.Reference{{Name: "stands out above", At: o.Threshold}},
		Description: fmt.Sprintf("Quantiles of the scores; %d records have one above %s.", above, brief(o.Threshold)),
		Caption:     "Each point: this share of the records has at most this score. Only a record's own party is told its score.",
	}
	s.Figures = append(s.Figures, chart.Figure())
	if o.Scatter != nil {
		s.Figures = append(s.Figures, groupPlot(id+"-scatter", "Records that stand out", *o.Scatter, []string{"others", "stands out"}))
	}
	s.table(quantileGrid("Scores", []string{score}, o.Quantiles))
	whose := Grid{Caption: fmt.Sprintf("Records that stand out, with a score above %s, and those among the %d highest scores", brief(o.Threshold), o.Top), Columns: []GridColumn{{"party", false}, {"stand out", true}, {"ranked", true}}}
	for i, f := range a.Features {
		whose.Rows = append(whose.Rows, []string{f.Name(), fmt.Sprint(o.Above[i]), fmt.Sprint(o.Ranked[i])})
	}
	s.table(whose)
}

func quantileCurve(name string, quantiles []analysis.Quantile) figure.Curve {
	c := figure.Curve{Name: name}
	for _, q := range quantiles {
		c.Points = append(c.Points, figure.Point{X: 100 * q.Share, Y: q.Value, Title: minus(fmt.Sprintf("%s at most for %.0f %%", brief(q.Value), 100*q.Share))})
	}
	return c
}

// quantileGrid sets quantiles of the same shares side by side.
func quantileGrid(caption string, names []string, of ...[]analysis.Quantile) Grid {
	g := Grid{Caption: caption + ", by quantile", Columns: []GridColumn{{"share of the records", true}}}
	for _, name := range names {
		g.Columns = append(g.Columns, GridColumn{name, true})
	}
	for i, q := range of[0] {
		row := []string{fmt.Sprintf("%.0f %%", 100*q.Share)}
		for _, quantiles := range of {
			text := ""
			if i < len(quantiles) {
				text = minus(brief(quantiles[i].Value))
			}
			row = append(row, text)
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// unitName is an analysis's unit in a word.
func unitName(a analysis.Analysis) string {
	units, _, _ := strings.Cut(a.Units, ":")
	return units
}
