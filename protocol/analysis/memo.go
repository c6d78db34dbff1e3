package analysis

import (
	"context"
	"encoding/json"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/protocol/study"
)

// Memo keeps what a run has found so far of records that are gathered beside the memory, which
// takes long: a run on the same contributions that is begun anew goes on behind that.
type Memo interface {
	Recall(step string) ([]byte, error) // nil: nothing is kept
	Remember(step string, found []byte) error
}

// recall reads what a step found; false where that is not kept, or not as this version writes it.
func (r *run) recall(sk int, step string, into any) (bool, error) {
	if n, err := r.needs(sk); err != nil || r.Memo == nil || !n.apart {
		return false, err
	}
	raw, err := r.Memo.Recall(step)
	if err != nil {
		return false, &KeepError{err}
	}
	return raw != nil && json.Unmarshal(raw, into) == nil, nil
}

func (r *run) remember(sk int, step string, found any) error {
	if n, err := r.needs(sk); err != nil || r.Memo == nil || !n.apart {
		return err
	}
	raw, err := json.Marshal(found)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", step, err)
	}
	if err := r.Memo.Remember(step, raw); err != nil {
		return &KeepError{err}
	}
	return nil
}

// answered is an analysis and what it tells each contribution.
type answered struct {
	Analysis Analysis
	Columns  [][]RowColumn
}

// once answers an analysis, unless a run before has.
func (r *run) once(index, sk int, answer func() (Analysis, error)) (Analysis, error) {
	step := fmt.Sprintf("answer-%d", index)
	var kept answered
	known, err := r.recall(sk, step, &kept)
	if err != nil {
		return Analysis{}, err
	}
	if known && (len(kept.Columns) == 0 || len(kept.Columns) == len(r.Contributions)) {
		for i, columns := range kept.Columns {
			for _, c := range columns {
				r.inform(i, c)
			}
		}
		return kept.Analysis, nil
	}
	out, err := answer()
	if err != nil {
		return out, err
	}
	kept = answered{Analysis: out}
	for _, l := range r.labels {
		var own []RowColumn
		for _, c := range l.Columns {
			if c.Analysis == index {
				own = append(own, c)
			}
		}
		kept.Columns = append(kept.Columns, own)
	}
	return out, r.remember(sk, step, kept)
}

// centroids are a [cluster.Model].
type centroids struct {
	Rows                [][]float64
	Iterations, Batches int
}

// kmeans clusters points, from where a run before has found that clusters are.
func (r *run) kmeans(ctx context.Context, index, sk int, points *mat.Dense, o study.KMeansOptions) (cluster.Result, error) {
	step := fmt.Sprintf("centroids-%d", index)
	opts := cluster.Options{
		Clusters: o.Clusters, Restarts: o.Restarts, Workers: r.Workers, Memory: r.work(sk), Rand: r.starts("k-means", index),
		Found: func(m cluster.Model) error {
			c := centroids{Iterations: m.Iterations, Batches: m.Batches}
			for i := range o.Clusters {
				c.Rows = append(c.Rows, mat.Row(nil, i, m.Centroids))
			}
			return r.remember(sk, step, c)
		},
	}
	var kept centroids
	known, err := r.recall(sk, step, &kept)
	if err != nil {
		return cluster.Result{}, err
	}
	if _, k := points.Dims(); known && kept.fits(o.Clusters, k) {
		opts.Known = &cluster.Model{Centroids: mat.NewDense(o.Clusters, k, nil), Iterations: kept.Iterations, Batches: kept.Batches}
		for i, row := range kept.Rows {
			opts.Known.Centroids.SetRow(i, row)
		}
	}
	return cluster.KMeans(ctx, points, opts)
}

func (c centroids) fits(clusters, k int) bool {
	for _, row := range c.Rows {
		if len(row) != k {
			return false
		}
	}
	return len(c.Rows) == clusters
}
