package analysis

import (
	"context"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// groupDistance estimates how far apart records are within and between parties: the mean squared
// distances of all pairs, and, as shifts, the squared distances between the parties' mean records.
// The noise hides single distances; means over all pairs may stand out of it. All releases share R,
// and the intervals account for that.
func (r *run) groupDistance(ctx context.Context, _, sk int, a study.Analysis) (Analysis, error) {
	out := Analysis{Kind: a.Kind, Sketch: sk, Assumptions: premise.List{premise.AllPairs}, Units: measure.Squared}
	n := len(r.Contributions)
	level := out.promise(a, Intervals(a.Kind, 0, n))
	groups := make([]*estimate.Group, n)
	for i, c := range r.Contributions {
		out.Features = append(out.Features, Feature{Party: r.Study.Parties[c.Party].Name})
		var err error
		if groups[i], err = r.group(ctx, c, sk); err != nil {
			return Analysis{}, err
		}
	}
	for i, g := range groups {
		out.Pairs = append(out.Pairs, pair(i, i, g.WithinDistance(level)))
		for j := i + 1; j < n; j++ {
			out.Pairs = append(out.Pairs, pair(i, j, g.BetweenDistance(groups[j], level)))
			out.Shifts = append(out.Shifts, pair(i, j, g.MeanShift(groups[j], level)))
		}
	}
	return out, nil
}

// group adds up the records of one party. Their order in the release is random, as estimate.Group
// requires.
func (r *run) group(ctx context.Context, c Contribution, sk int) (*estimate.Group, error) {
	plan, err := release.For(r.Study, c.Party, sk)
	if err != nil {
		return nil, err
	}
	g, err := estimate.Records{
		K: plan.Spec().K, Noise: plan.NoiseOf(0, 1, c.Records), Identity: plan.Spec().OrthogonalRows(len(plan.Features)),
	}.NewGroup()
	if err != nil {
		return nil, err
	}
	record, unit := make([]float64, c.Sketches[sk].Cols), plan.Unit()
	if err := r.eachRow(ctx, c, sk, func(_ int, row []int64) error {
		for j, v := range row {
			record[j] = float64(v) * unit
		}
		return g.Add(record)
	}); err != nil {
		return nil, err
	}
	return g, nil
}

func ofGroupDistance() kind {
	return kind{
		name: study.GroupDistance, ways: []way{onRecords((*run).groupDistance)},
		intervals: func(_, parties int) int { return parties * parties },
	}
}
