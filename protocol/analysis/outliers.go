package analysis

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// Outliers is the section of outliers. The scores of records are told to their parties
// alone.
//
//section:outliers of outliers
type Outliers struct {
	Neighbors int         `json:"neighbors"`                         // that a record was compared with
	Score     study.Score `json:"score"`                             // lof or distance
	Quantiles []Quantile  `json:"quantiles" by:"share"`              // of the scores
	Threshold float64     `json:"threshold"`                         // scores above it stand out
	Above     []int       `json:"above" by:"features" of:"records"`  // how many do, by Features
	Top       int         `json:"top"`                               // records that are ranked
	Ranked    []int       `json:"ranked" by:"features" of:"records"` // how many of these each party has, by Features
	Scatter   *Scatter    `json:"scatter,omitempty"`                 // those that stand out are group 1
}

func (o *Outliers) check(a Analysis) error {
	if o.Neighbors < 1 || len(o.Above) != len(a.Features) || len(o.Ranked) != len(a.Features) {
		return fmt.Errorf("outliers among %d neighbours, at %d and %d parties of %d", o.Neighbors, len(o.Above), len(o.Ranked), len(a.Features))
	}
	for i, n := range o.Above {
		if n < 0 || o.Ranked[i] < 0 {
			return fmt.Errorf("%d outliers, %d ranked", n, o.Ranked[i])
		}
	}
	if o.Scatter != nil {
		return o.Scatter.check(2, 0)
	}
	return nil
}

// A local outlier factor above this stands out: around the record it is half as thin
// again as around its neighbours. A distance does that is beyond the upper quartile by
// three times the distance of the quartiles (Tukey's far out values).
const (
	lofStandsOut = 1.5
	farOut       = 3
)

// outliers scores the records of all parties.
func (r *run) outliers(ctx context.Context, index, sk int, a study.Analysis) (Analysis, error) {
	o, ok := a.Options.(study.OutliersOptions)
	if !ok {
		return Analysis{}, fmt.Errorf("options %T", a.Options)
	}
	all, err := r.points(ctx, sk)
	if err != nil {
		return Analysis{}, err
	}
	graph, err := r.graph(ctx, index, sk, a.Kind, all, o.Neighbors)
	if err != nil {
		return Analysis{}, err
	}
	d, err := r.distances(sk, all, 0)
	if err != nil {
		return Analysis{}, err
	}
	if _, err := d.told(all, pairsWithin(all)); err != nil {
		return Analysis{}, err
	}
	out := Analysis{Kind: a.Kind, Sketch: sk, Joined: all.joined, Rests: premise.List{premise.AsReleased}, Units: measure.Density, Features: r.parties()}
	section := &Outliers{Neighbors: o.Neighbors, Score: o.Score, Top: min(o.Top, all.len()), Threshold: lofStandsOut}
	var scores []float64
	if o.Score == study.ScoreDistance {
		out.Rests, out.Units = premise.List{premise.NoiseTakenOff}, measure.Squared
		for i := range all.len() {
			near, squared := graph.Of(i)
			scores = append(scores, d.debiased(i, int(near[o.Neighbors-1]), squared[o.Neighbors-1]))
		}
		quartiles := quantiles(scores)
		section.Threshold = quartiles[3].Value + farOut*(quartiles[3].Value-quartiles[1].Value)
	} else {
		scores = graph.LocalOutlierFactor()
	}
	section.Quantiles = quantiles(scores)
	ranks := section.rank(scores, all, len(r.Contributions))
	if section.Scatter, err = groups(ctx, all.matrix, section.standing(scores), 2, r.Study.Privacy.Mechanism); err != nil {
		return Analysis{}, err
	}
	out.Outliers = section
	r.label(all, RowColumn{Analysis: index, Sketch: sk, Name: scoreColumn, Numbers: scores})
	r.label(all, RowColumn{Analysis: index, Sketch: sk, Name: outlierColumn, Integers: ranks})
	return out, nil
}

// standing tells the records that stand out, by 1.
func (o *Outliers) standing(scores []float64) []int {
	out := make([]int, len(scores))
	for i, score := range scores {
		if score > o.Threshold {
			out[i] = 1
		}
	}
	return out
}

// rank counts, and returns the rank of each record, 1 for the greatest score; 0 for
// those that are not ranked.
func (o *Outliers) rank(scores []float64, all *points, parties int) []int {
	o.Above, o.Ranked = make([]int, parties), make([]int, parties)
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
		if scores[i] > o.Threshold {
			o.Above[all.holder(i)]++
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	ranks := make([]int, len(scores))
	for rank, record := range order[:o.Top] {
		ranks[record] = rank + 1
		o.Ranked[all.holder(record)]++
	}
	return ranks
}

// quantiles are the usual ones, with straight lines between the values.
func quantiles(values []float64) []Quantile { return quantilesOf(slices.Clone(values)) }

// quantilesOf sorts the values for it.
func quantilesOf(sorted []float64) []Quantile {
	slices.Sort(sorted)
	var out []Quantile
	for _, share := range []float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		at := share * float64(len(sorted)-1)
		low := int(math.Floor(at))
		high := min(low+1, len(sorted)-1)
		out = append(out, Quantile{share, sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])})
	}
	return out
}

func ofOutliers() kind {
	return kind{
		name: study.Outliers, ways: []way{onRecords((*run).outliers)},
		record: func(a study.Analysis) int64 {
			o, _ := a.Options.(study.OutliersOptions)
			return recordBytes + neighborBytes*int64(o.Neighbors)
		},
	}
}
