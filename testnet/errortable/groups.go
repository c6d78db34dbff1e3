package errortable

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/linear"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// points returns all records in the units in which the study sketches them, without the label.
func (t *truth) points() *mat.Dense {
	var kept []column
	for _, c := range t.Study.Columns {
		if !c.Label {
			kept = append(kept, t.columns[c.Title()])
		}
	}
	out := mat.NewDense(len(t.Data.Pooled.Rows), len(kept), nil)
	for j, c := range kept {
		for i, x := range c.bounded {
			out.Set(i, j, c.encode(x))
		}
	}
	return out
}

// groups compares the clusters that the parties have for their records.
func (t *truth) groups(ctx context.Context, a analysis.Analysis, forecast *Forecast) (Groups, error) {
	out := Groups{Kind: a.Kind, Forecast: forecast}
	if a.KMeans != nil {
		out.Clusters = a.KMeans.Clusters
	} else {
		out.Clusters = a.CellMeans.Clusters
	}
	pooled, err := cluster.KMeans(ctx, t.points(), cluster.Options{
		Clusters: out.Clusters,
		Rand:     rand.New(rand.NewPCG(1, 1)), // fixed, as ten restarts find an equally good optimum from any seed
	})
	if err != nil {
		return out, fmt.Errorf("k-means on the pooled data: %w", err)
	}
	var found, same, known []int
	cells := []string(nil)
	if t.Template.Known != "" {
		if cells, err = t.Data.Pooled.Column(t.Template.Known); err != nil {
			return out, err
		}
		out.Column, out.Known = t.Template.Known, new(Agreement)
	}
	classes, label := map[string]int{}, map[int]int{}
	for p, part := range t.Data.Parties {
		if p >= len(t.Labels) || len(t.Labels[p]) != len(part.Rows) {
			return out, fmt.Errorf("%s has not the cluster of each of its %d records", part.Name, len(part.Rows))
		}
		for i, row := range part.Rows {
			// In a vertical study several parties have the same record, with the same cluster.
			if other, told := label[row]; told && other != t.Labels[p][i] {
				return out, fmt.Errorf("%s has the cluster %d for a record of which another party has %d", part.Name, t.Labels[p][i], other)
			} else if told {
				continue
			}
			label[row] = t.Labels[p][i]
			found, same = append(found, t.Labels[p][i]), append(same, pooled.Labels[row])
			if cells != nil {
				if _, ok := classes[cells[row]]; !ok {
					classes[cells[row]] = len(classes)
				}
				known = append(known, classes[cells[row]])
			}
		}
	}
	if out.Pooled, err = agreement(found, same); err != nil || cells == nil {
		return out, err
	}
	if *out.Known, err = agreement(found, known); err != nil {
		return out, err
	}
	out.Ceiling, err = cluster.Agreement(same, known)
	return out, err
}

func agreement(found, other []int) (out Agreement, err error) {
	out.Baseline = cluster.MajorityShare(other)
	out.Share, err = cluster.Agreement(found, other)
	return out, err
}

// classes compares a classifier with the same classifier trained on the pooled data and plain
// labels.
func (t *truth) classes(ctx context.Context, asked study.Analysis, c analysis.Classifier, forecast *Forecast) (Classes, error) {
	out := Classes{Kind: asked.Kind, Column: c.Column, Labels: c.Labels, Forecast: forecast}
	if c.Accuracy.Estimate == nil || c.Accuracy.Low == nil || c.Accuracy.High == nil {
		return out, fmt.Errorf("%s has no accuracy", asked.Kind)
	}
	out.Accuracy, out.Low, out.High = *c.Accuracy.Estimate, *c.Accuracy.Low, *c.Accuracy.High
	options, ok := asked.Options.(study.ClassifierOptions)
	if !ok {
		return out, fmt.Errorf("%s has options %T", asked.Kind, asked.Options)
	}
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	var by linear.Trainer
	switch asked.Kind {
	case study.RidgeClassification:
		by = linear.Ridge{Penalty: options.Penalty}
	case study.SVM:
		by = linear.SVM{Cost: options.Cost, Squared: options.Loss == study.SquaredHinge, Rand: rng()}
	default:
		by = linear.Perceptron{Epochs: options.Epochs, Voted: asked.Kind == study.VotedPerceptron, Rand: rng()}
	}
	data := linear.Data{Points: t.points(), Classes: 2}
	for _, x := range t.columns[c.Column].raw {
		data.Labels = append(data.Labels, int(x))
	}
	v, err := linear.CrossValidate(ctx, data, by, linear.Folds{Count: options.Folds, Rand: rng()})
	if err != nil {
		return out, fmt.Errorf("%s on the pooled data: %w", asked.Kind, err)
	}
	out.Pooled, out.Baseline = v.Accuracy.Estimate, cluster.MajorityShare(data.Labels)
	return out, nil
}
