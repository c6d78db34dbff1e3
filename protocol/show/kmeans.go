package show

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofKMeans() kind {
	return kind{name: study.KMeans, title: "k-means", own: func(s *section) {
		show(s.a.KMeans, s.clusters)
		show(s.a.CellMeans, s.cells)
	}}
}

// clusters shows clustered records. Each party's own table says which of its records are in which
// cluster.
func (s *section) clusters(k analysis.KMeans) {
	s.skip("k_means", "k_means_sizes", "k_means_debiased", "k_means_scatter", "k_means_scatter_points", "k_means_scatter_variance", "k_means_scatter_centres", "k_means_suggested", "k_means_suggested_index", "k_means_distances", "k_means_centroids")
	total := 0
	for _, n := range k.Sizes {
		total += n
	}
	s.heading.Says = fmt.Sprintf("%d records in %d clusters, the best of %d starts", total, k.Clusters, k.Restarts)
	if k.Scatter != nil {
		s.figure("scatter", clusterPlot(k))
	}
	if k.Suggested != nil && len(k.Suggested.Index) > 1 {
		s.figure("suggested", suggestion(*k.Suggested))
	}
	s.note("Centroids are in the space of the sketch, where they have no columns: the result's files have them.")
	if d := k.Debiased; d != nil {
		without := d.Shown()
		text := without.String()
		if without.Undefined != "" {
			text = "undefined: " + without.Undefined
		}
		s.note("Inertia: %s with the noise, without it %s.", block.Brief(k.Inertia), text)
	}
	if k.Whole > 0 {
		s.note("Centroids are those of the %d records that every party has; the others went to the nearest.", k.Whole)
	}
	if k.Batches > 0 {
		s.note("There are too many records for whole iterations: clusters were found by %d mini-batches.", k.Batches)
	}
	if g := k.Suggested; g != nil && g.Clusters != nil {
		s.note("Of 2 to %d clusters, %d stand out best.", g.Most, *g.Clusters)
	} else if g != nil {
		s.note("Of 2 to %d clusters none is suggested: %s.", g.Most, g.Undefined)
	}
	sizes := block.Table{Caption: "Records in each cluster", Columns: []block.Column{block.Numbers("cluster"), block.Numbers("records"), block.Numbers("share")}, Of: len(k.Sizes), Things: "clusters"}
	for c, n := range k.Sizes[:min(len(k.Sizes), block.MostRows)] {
		sizes.Rows = append(sizes.Rows, block.Cells(fmt.Sprint(c), fmt.Sprint(n), block.Share(n, total)))
	}
	s.tables = append(s.tables, sizes)
	if len(k.Distances) > 0 {
		s.figure("centroids", block.Figure{
			Title:       "How far rows are from their centroid",
			Description: "Quantiles of the rows' squared distances from the centroid of their cluster.",
			Caption:     "Each point: this share of the rows lies at most this far from its centroid, noise included. A steep end means that some rows fit no cluster.",
			Plot: block.Chart{
				Height: 200, Width: 420, X: block.Dimension{Label: "share of the rows, %", Include: []float64{0, 100}}, Y: block.Dimension{Label: "squared distance, in encoded units", Include: []float64{0}},
				Curves: []block.Curve{quantileCurve("", k.Distances)},
			},
		})
		s.tables = append(s.tables, quantiles("Squared distances of rows from their centroid", []string{"squared distance"}, k.Distances))
	}
}

// clusterPlot draws a sample of clustered records. Shape and colour both show the cluster, and its
// number is at its centre.
func clusterPlot(k analysis.KMeans) block.Figure {
	f, plot := planeOf(*k.Scatter)
	for c := range k.Clusters {
		plot.Groups = append(plot.Groups, fmt.Sprint(c))
	}
	plot.Centres = []block.Centre{}
	for c, at := range k.Scatter.Centres {
		plot.Centres = append(plot.Centres, block.Centre{X: at[0], Y: at[1], Title: fmt.Sprintf("cluster %d: %d records", c, k.Sizes[c])})
	}
	f.Title = "Clusters in the plane in which the sketched records vary most"
	f.Description = fmt.Sprintf("%d of %d sketched records in %d clusters, each with a shape of its own and its number at its centre.", len(plot.Points), k.Scatter.Of, k.Clusters)
	f.Caption += " Shape and colour show the cluster, numbers its centre, and ellipses two standard deviations of its marks."
	f.Plot = plot
	return f
}

// groupPlot draws a sample of records by what the analysis says of them, with a legend.
func groupPlot(what string, in analysis.Scatter, names []string) block.Figure {
	f, plot := planeOf(in)
	plot.Groups = names
	f.Title = what + ", in the plane in which the sketched records vary most"
	f.Description = fmt.Sprintf("%d of %d sketched records, with a shape for each of %d groups.", len(plot.Points), in.Of, len(names))
	f.Caption += " Shape and colour both show the group."
	f.Plot = plot
	return f
}

// planeOf returns the common parts of pictures of sketched records.
func planeOf(in analysis.Scatter) (f block.Figure, plot block.Scatter) {
	for _, p := range in.Points {
		plot.Points = append(plot.Points, block.Dot{X: p.X, Y: p.Y, Group: p.Cluster})
	}
	plot.Axes = fmt.Sprintf("first direction (%.0f %% of the variance) →   second (%.0f %%) ↑", 100*in.Variance[0], 100*in.Variance[1])
	f.Caption = fmt.Sprintf("%d of %d records, as sketched: with noise and projection, so that marks spread wider than the records. Nobody is told which party a mark is from.", len(in.Points), in.Of)
	return f, plot
}

// suggestion draws the index by which a number of clusters is suggested.
func suggestion(g analysis.Suggested) block.Figure {
	curve := block.Curve{}
	for i, x := range g.Index {
		curve.Points = append(curve.Points, block.Point{X: float64(i + 2), Y: x, Title: fmt.Sprintf("%d clusters: %s", i+2, block.Brief(x))})
	}
	plot := block.Chart{
		Height: 200, Width: 420, Curves: []block.Curve{curve},
		X: block.Dimension{Label: "clusters"}, Y: block.Dimension{Label: "index of Calinski and Harabasz, without the noise", Include: []float64{0}},
	}
	if g.Clusters != nil {
		plot.References = []block.Reference{{Name: "suggested", At: float64(*g.Clusters), Upright: true}}
	}
	return block.Figure{
		Title: "How many clusters stand out", Plot: plot, Description: fmt.Sprintf("The index for 2 to %d clusters.", len(g.Index)+1),
		Caption: "The higher the index, the better this number of clusters separates the records. It is 0 where they do not stand out of the noise.",
	}
}
