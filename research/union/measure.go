package union

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/research/rehearsal"
	"github.com/cosketch/cosketch/testnet/networks"
)

// Promise returns the privacy block of a study: unit record, gaussian noise, this ε.
func Promise(epsilon dp.Epsilon) string {
	return fmt.Sprintf("{unit: record, mechanism: gaussian, epsilon: %s, delta: 1e-6}", networks.Decimal(float64(epsilon)))
}

// Clusters holds agreements of a study's clusters with other groupings, averaged over trials.
type Clusters struct {
	Pooled    float64 // with k-means on the pooled records, columns scaled to [0, 1] (the pooled clusters)
	Deviation float64 // standard error of Pooled over the trials; 0 for one trial
	Known     float64 // with the known grouping; 0 without one
	Scales    float64 // of noiseless k-means on the pooled records in the study's scales, with the pooled clusters
	Baseline  float64 // of one cluster for all records, with the pooled clusters
	Ceiling   float64 // of the pooled clusters with the known grouping
	Suggested []int   // number of clusters that the cells suggest, by trial
	Faint     int     // trials in which too few cells stood out of the noise; they count as one cluster for all
}

// MeasureClusters measures a study's k-means in so many trials, dealing the records out anew in
// each.
func MeasureClusters(ctx context.Context, p Pooled, clusters int, a Ask, trials int) (out Clusters, err error) {
	a.Analyses = fmt.Sprintf("{kind: k-means, clusters: %d}", clusters)
	bounded := p
	bounded.Columns = Bounded(make([]string, len(p.Columns)), p.Records)
	pooled, err := cluster.KMeans(ctx, bounded.scaled(), cluster.Options{Clusters: clusters, Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		return out, err
	}
	own, err := cluster.KMeans(ctx, p.scaled(), cluster.Options{Clusters: clusters, Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		return out, err
	}
	if out.Scales, err = cluster.Agreement(own.Labels, pooled.Labels); err != nil {
		return out, err
	}
	out.Baseline = cluster.MajorityShare(pooled.Labels)
	if p.Known != nil {
		if out.Ceiling, err = cluster.Agreement(pooled.Labels, p.Known); err != nil {
			return out, err
		}
	}
	var each []float64 // agreement with the pooled clusters
	for trial := range trials {
		answer, order, err := p.trial(ctx, a, uint64(trial))
		if err != nil {
			return out, err
		}
		labels := make([]int, len(p.Records))
		for party, found := range answer.Labels {
			for i, label := range found {
				labels[order[party][i]] = label
			}
		}
		if answer.Labels == nil {
			out.Faint++
		}
		if c := answer.Result.Analyses[0].CellMeans; c != nil {
			out.Suggested = append(out.Suggested, c.Suggested)
		}
		for _, with := range []struct {
			sum   *float64
			other []int
		}{{&out.Pooled, pooled.Labels}, {&out.Known, p.Known}} {
			if with.other == nil {
				continue
			}
			agree, err := cluster.Agreement(labels, with.other)
			if err != nil {
				return out, err
			}
			if *with.sum += agree / float64(trials); with.sum == &out.Pooled {
				each = append(each, agree)
			}
		}
	}
	if trials > 1 {
		out.Deviation = stat.StdErr(stat.StdDev(each, nil), float64(trials))
	}
	return out, nil
}

// Correlations is the accuracy of a study's correlations, over all pairs.
type Correlations struct {
	RMSE      float64
	Covered   float64 // share of the intervals that hold the pooled correlation
	Half      float64 // mean half width of an interval
	Undefined int     // pairs without an estimate
}

// Forecast returns the plan's forecast for the first analysis of a study of the pooled records,
// dealt out evenly.
func Forecast(p Pooled, a Ask) (plan.Analysis, error) {
	own, _ := p.deal(rand.New(rehearsal.Source(0, 1)))
	asked, err := prepare(Data{Columns: p.Columns, Parties: own}, a)
	if err != nil {
		return plan.Analysis{}, err
	}
	o := plan.Options{Study: asked.study, Party: study.Everyone, Records: map[string]int64{}}
	for i, party := range asked.study.Parties {
		o.Records[party.Name] = int64(asked.counts[i])
	}
	made, err := plan.Make(o)
	if err != nil {
		return plan.Analysis{}, err
	}
	for _, sk := range made.Sketches {
		if len(sk.Analyses) > 0 {
			return sk.Analyses[0], nil
		}
	}
	return plan.Analysis{}, errors.New("the plan forecasts nothing")
}

// trial deals the records out and plays a study of them; order holds the record indices of each
// party.
func (p Pooled) trial(ctx context.Context, a Ask, trial uint64) (answer *Answer, order [][]int, err error) {
	own, order := p.deal(rand.New(rehearsal.Source(trial, 1)))
	study, err := prepare(Data{Columns: p.Columns, Parties: own}, a)
	if err != nil {
		return nil, nil, err
	}
	answer, err = study.draw(ctx, rehearsal.Source(trial, 2))
	return answer, order, err
}

// MeasureCorrelations measures a study's correlations once.
func MeasureCorrelations(ctx context.Context, p Pooled, a Ask, trial uint64) (out Correlations, err error) {
	a.Analyses = "{kind: correlation}"
	answer, _, err := p.trial(ctx, a, trial)
	if err != nil {
		return out, err
	}
	columns := make([][]float64, len(p.Columns))
	for j := range columns {
		for _, r := range p.Records {
			columns[j] = append(columns[j], r[j])
		}
	}
	var defined float64
	for _, pair := range answer.Result.Analyses[0].Pairs {
		if pair.Estimate == nil {
			out.Undefined++
			continue
		}
		truth := stat.Correlation(columns[pair.I], columns[pair.J], nil)
		defined++
		out.RMSE += (*pair.Estimate - truth) * (*pair.Estimate - truth)
		out.Half += (*pair.High - *pair.Low) / 2
		if *pair.Low <= truth && truth <= *pair.High {
			out.Covered++
		}
	}
	if defined > 0 {
		out.RMSE, out.Covered, out.Half = math.Sqrt(out.RMSE/defined), out.Covered/defined, out.Half/defined
	}
	return out, nil
}
