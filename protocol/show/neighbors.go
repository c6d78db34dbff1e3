package show

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofRecordDistance() kind {
	return kind{name: study.RecordDistance, sizes: true, own: func(s *section) { show(s.a.RecordDistances, s.records) }}
}

func ofNeighbors() kind {
	return kind{name: study.Neighbors, title: "neighbours", own: func(s *section) { show(s.a.Neighbors, s.neighbors) }}
}

// neighbors shows how far records are from their nearest ones, and which parties hold those.
func (s *section) neighbors(n analysis.Neighbors) {
	s.skip("neighbors", "neighbors_nearest", "neighbors_farthest", "neighbors_edges")
	s.heading.Says = fmt.Sprintf("another party holds %s of the %d neighbours of a record; if it said nothing who holds a record, that would be %s",
		block.Percent(n.Across), n.Neighbors, block.Percent(n.Unrelated))
	plot := block.Chart{
		Height: 240, X: block.Dimension{Label: "share of the records, %", Include: []float64{0, 100}}, Y: block.Dimension{Label: "squared distance, " + s.a.Units.Name(), Include: []float64{0}},
		Curves: []block.Curve{quantileCurve("from the nearest neighbour", n.Nearest)},
	}
	names, of := []string{"from the nearest"}, [][]analysis.Quantile{n.Nearest}
	if n.Neighbors > 1 {
		plot.Curves = append(plot.Curves, quantileCurve(fmt.Sprintf("from neighbour %d", n.Neighbors), n.Farthest))
		names, of = append(names, fmt.Sprintf("from number %d", n.Neighbors)), append(of, n.Farthest)
	}
	s.figure("distances", block.Figure{
		Title: "How far the neighbours of records are", Plot: plot,
		Description: fmt.Sprintf("Quantiles of the records' squared distances from the first and the last of %d neighbours.", n.Neighbors),
		Caption:     "Each point: this share of the records lies at most this far from its neighbour. The noise is taken off; 0 where it is larger.",
	})
	s.note("%.0f %% of the variation of distances does not come from noise and projection. The nearer to 100 %%, the more the order of neighbours means.", 100*n.Reliability)
	if n.Unbounded != "" {
		s.note("Parties see distances without intervals: %s.", n.Unbounded)
	}
	edges := block.Table{Caption: "Whose records are near whose", Columns: []block.Column{block.Words("neighbours of records of"), block.Words("held by"), block.Numbers("number"), block.Numbers("share")}, Things: "pairs of parties"}
	for i, counts := range n.Edges {
		total := 0
		for _, count := range counts {
			total += count
		}
		for j, count := range counts {
			if edges.Of++; edges.Of <= block.MostRows {
				edges.Rows = append(edges.Rows, block.Cells(s.a.Features[i].Name(), s.a.Features[j].Name(), fmt.Sprint(count), block.Share(count, total)))
			}
		}
	}
	s.tables = append(s.tables, edges, quantiles("Squared distances", names, of...))
}
