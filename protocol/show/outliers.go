package show

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofOutliers() kind {
	return kind{name: study.Outliers, own: func(s *section) { show(s.a.Outliers, s.outliers) }}
}

// outliers shows the scores of records and where they stand out.
func (s *section) outliers(o analysis.Outliers) {
	s.skip("outliers", "outliers_quantiles", "outliers_above", "outliers_ranked", "outliers_scatter", "outliers_scatter_points", "outliers_scatter_variance", "outliers_scatter_centres")
	above := 0
	for _, n := range o.Above {
		above += n
	}
	s.heading.Says = fmt.Sprintf("%d records stand out", above)
	score := "local outlier factor"
	if o.Score == study.ScoreDistance {
		score = "squared distance of the last neighbour"
	}
	s.note("A record stands out if its score, the %s among %d neighbours, is above %s.", score, o.Neighbors, block.Brief(o.Threshold))
	s.figure("scores", block.Figure{
		Title:       "Scores of the records",
		Description: fmt.Sprintf("Quantiles of the scores; %d records have one above %s.", above, block.Brief(o.Threshold)),
		Caption:     "Each point: this share of the records has at most this score. Only a record's own party is told its score.",
		Plot: block.Chart{
			Height: 240, X: block.Dimension{Label: "share of the records, %", Include: []float64{0, 100}}, Y: block.Dimension{Label: score},
			Curves: []block.Curve{quantileCurve("score", o.Quantiles)}, References: []block.Reference{{Name: "stands out above", At: o.Threshold}},
		},
	})
	if o.Scatter != nil {
		s.figure("scatter", groupPlot("Records that stand out", *o.Scatter, []string{"others", "stands out"}))
	}
	whose := block.Table{Caption: "Whose records stand out", Columns: []block.Column{block.Words("records of"), block.Numbers("stand out"), block.Numbers(fmt.Sprintf("among the first %d", o.Top))}, Of: len(o.Above), Things: "parties"}
	for i, f := range s.a.Features[:min(len(s.a.Features), block.MostRows)] {
		whose.Rows = append(whose.Rows, block.Cells(f.Name(), fmt.Sprint(o.Above[i]), fmt.Sprint(o.Ranked[i])))
	}
	s.tables = append(s.tables, whose, quantiles("Scores", []string{"score"}, o.Quantiles))
}
