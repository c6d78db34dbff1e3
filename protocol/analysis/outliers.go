package analysis

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// Outliers is the section of outliers. Only their parties are told the scores of records.
//
//section:outliers of outliers
type Outliers struct {
	Neighbors int         `json:"neighbors"`                         // number of neighbours that a record was compared with
	Score     study.Score `json:"score"`                             // lof or distance
	Quantiles []Quantile  `json:"quantiles" by:"share"`              // quantiles of the scores
	Threshold float64     `json:"threshold"`                         // scores above it stand out
	Above     []int       `json:"above" by:"features" of:"records"`  // number of records that stand out, by Features
	Top       int         `json:"top"`                               // number of records that are ranked
	Ranked    []int       `json:"ranked" by:"features" of:"records"` // number of ranked records of each party, by Features
	Scatter   *Scatter    `json:"scatter,omitempty"`                 // picture of the records; group 1 are those that stand out
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

// lofStandsOut: a local outlier factor above this stands out. The neighbours' density is then more
// than 1.5 times that around the record. farOut: a distance stands out if it exceeds the upper
// quartile by more than three interquartile ranges (Tukey's far out values).
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
	from, err := r.scratch(sk)
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
	out := Analysis{Kind: a.Kind, Sketch: sk, Joined: all.joined, Assumptions: premise.List{premise.AsReleased}, Units: measure.Density, Features: r.parties()}
	section := &Outliers{Neighbors: o.Neighbors, Score: o.Score, Top: min(o.Top, all.len()), Threshold: lofStandsOut}
	var scores []float64
	if o.Score == study.ScoreDistance {
		out.Assumptions, out.Units = premise.List{premise.NoiseTakenOff}, measure.Squared
		if scores, err = room.Of[float64](from, all.len()); err != nil {
			return Analysis{}, err
		}
		for i := range scores {
			near, squared := graph.Of(i)
			scores[i] = d.debiased(i, int(near[o.Neighbors-1]), squared[o.Neighbors-1])
		}
		quartiles, err := quantiles(from, scores)
		if err != nil {
			return Analysis{}, err
		}
		section.Threshold = quartiles[3].Value + farOut*(quartiles[3].Value-quartiles[1].Value)
	} else if scores, err = graph.LocalOutlierFactor(from); err != nil {
		return Analysis{}, err
	}
	if section.Quantiles, err = quantiles(from, scores); err != nil {
		return Analysis{}, err
	}
	ranks, err := section.rank(from, scores, all, len(r.Contributions))
	if err != nil {
		return Analysis{}, err
	}
	standing, err := section.standing(from, scores)
	if err != nil {
		return Analysis{}, err
	}
	if section.Scatter, err = groups(ctx, from, all.matrix, standing, 2, r.Study.Privacy.Mechanism); err != nil {
		return Analysis{}, err
	}
	out.Outliers = section
	if err := r.label(all, RowColumn{Analysis: index, Sketch: sk, Name: scoreColumn, Numbers: scores}); err != nil {
		return Analysis{}, err
	}
	return out, r.label(all, RowColumn{Analysis: index, Sketch: sk, Name: outlierColumn, Integers: ranks})
}

// standing marks the records that stand out with 1.
func (o *Outliers) standing(from room.Allocator, scores []float64) ([]int, error) {
	out, err := room.Of[int](from, len(scores))
	for i := range out {
		if scores[i] > o.Threshold {
			out[i] = 1
		}
	}
	return out, err
}

// rank counts outliers and ranked records, and returns the rank of each record: 1 for the greatest
// score, 0 if it is not ranked.
func (o *Outliers) rank(from room.Allocator, scores []float64, all *points, parties int) ([]int, error) {
	o.Above, o.Ranked = make([]int, parties), make([]int, parties)
	order, err := room.Of[int](from, len(scores))
	if err != nil {
		return nil, err
	}
	ranks, err := room.Of[int](from, len(scores))
	if err != nil {
		return nil, err
	}
	for i := range order {
		order[i] = i
		if scores[i] > o.Threshold {
			o.Above[all.holder(i)]++
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(scores[j], scores[i]), cmp.Compare(i, j)) })
	for rank, record := range order[:o.Top] {
		ranks[record] = rank + 1
		o.Ranked[all.holder(record)]++
	}
	return ranks, nil
}

// quantiles returns the usual quantiles, with linear interpolation.
func quantiles(from room.Allocator, values []float64) ([]Quantile, error) {
	sorted, err := room.Of[float64](from, len(values))
	if err != nil {
		return nil, err
	}
	copy(sorted, values)
	return quantilesOf(sorted), nil
}

// quantilesOf is quantiles, but sorts its argument in place.
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
		// takes: each neighbour and its distance; reach, density, score, rank and quantiles. stays:
		// score and rank.
		record: func(a study.Analysis, _ int64) (takes, stays int64) {
			o, _ := a.Options.(study.OutliersOptions)
			return 12*int64(o.Neighbors) + 64, 16
		},
	}
}
