package plan

import (
	"fmt"
	"strconv"

	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofKMeans() forecaster { return ofTypicalRecords(study.KMeans) }

// By cells or code points, k-means is judged by how well the number of records of a cluster is
// known: half its interval must not exceed the number itself, and clusters must be distinguishable.
func ofKMeansByCells() forecaster {
	return forecaster{
		kind: study.KMeans, other: map[sketch.Side]errorFunc{sketch.Cells: clusterSize, sketch.Codes: codeSize}, asks: once, about: allPlaces, names: unnamed, inward: true,
		measure: "share of the records of a cluster, where all have as many", usable: halfWithin,
		worth: func(f judgement) string {
			each := f.cell.unionRecords() / float64(clusters(f.asked))
			return fmt.Sprintf("clusters of equal size would have %s records each, known to ± %s", whole(each, 3), whole(f.Chosen.AtWorst.HalfWidth*each, 2)) + f.cell.otherRounds(f.asked, each)
		},
		otherwise: func(f judgement) string {
			return f.cell.otherRounds(f.asked, f.cell.unionRecords()/float64(clusters(f.asked)))
		},
	}
}

// clusters returns the number of clusters that k-means looks for; the smallest if the data decide.
func clusters(a study.Analysis) int {
	o, _ := a.Options.(study.KMeansOptions)
	return max(o.Clusters, 2)
}

// clusterSize forecasts the number of records of a cluster.
func clusterSize(c *cell, q question) (forecast.Error, error) {
	count, err := c.countNoise()
	if err != nil {
		return forecast.Error{}, err
	}
	f := forecast.Cells{
		Columns: c.columns(c.viewer()), Keep: forecast.Whole(), Records: c.unionRecords(), Cells: 1 << c.sketch().Projection.K,
		Clusters: clusters(q.analysis), Subspace: c.sketch().Subspace, Count: count,
	}
	if f.Keep, f.Product, err = c.fromMoments(); err != nil {
		return forecast.Error{}, err
	}
	return f.Size(), nil
}

// whole formats a number with so many digits, without an exponent.
func whole(x float64, digits int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil {
		rounded = x
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func ofGroupDistance() forecaster {
	return forecaster{
		kind: study.GroupDistance, other: map[sketch.Side]errorFunc{sketch.Records: (*cell).groups}, about: allPlaces, wide: true, relative: true,
		asks: func(c *cell, a study.Analysis) (out []question) { // all pairs of parties, including each with itself
			for i := range c.Study.Parties {
				for j := range i + 1 {
					out = append(out, question{a, place{party: j}, place{party: i}})
				}
			}
			return out
		},
		names: func(c *cell, q question) []analysis.Feature {
			return []analysis.Feature{{Party: c.Study.Parties[q.x.party].Name}, {Party: c.Study.Parties[q.y.party].Name}}
		},
		measure: "share of the mean squared distance", usable: halfWithin,
		worth:   func(f judgement) string { return "mean distances are known to ± " + width(f.Chosen) },
		tooWide: "half of its interval would be wider than the mean distance itself",
	}
}

// groups returns the relative error of a mean of squared distances, of one party's records or
// between two parties'.
func (c *cell) groups(q question) (forecast.Error, error) {
	law, _, err := c.law()
	if err != nil {
		return forecast.Error{}, err
	}
	g := forecast.Groups{
		Law: law, Columns: c.columns(0), Kept: c.keep(0).Square, Level: c.level(q.analysis),
		Sizes: [2]float64{c.records(q.x.party), c.records(q.y.party)},
	}
	if q.x.party == q.y.party {
		return g.Within()
	}
	return g.Between()
}
