package analysis

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/protocol/study"
)

// Checkpoint stores intermediate results of a run on records that are gathered on the disk, which takes
// long. A restarted run on the same contributions continues from them.
type Checkpoint interface {
	// Load calls read with what was stored; it does not call it if nothing was.
	Load(step string, read func(io.Reader) error) error
	Save(step string, write func(io.Writer) error) error
}

// recall reads the stored result of a step. It returns false if there is none, or not in this
// version's form.
func (r *run) recall(sk int, step string, into any) (bool, error) {
	if n, err := r.needs(sk); err != nil || r.Memo == nil || !n.apart {
		return false, err
	}
	known := false
	err := r.Memo.Load(step, func(from io.Reader) error {
		known = json.NewDecoder(from).Decode(into) == nil
		return nil
	})
	if err != nil {
		return false, &StoreError{err}
	}
	return known, nil
}

func (r *run) remember(sk int, step string, found any) error {
	if n, err := r.needs(sk); err != nil || r.Memo == nil || !n.apart {
		return err
	}
	if err := r.Memo.Save(step, func(to io.Writer) error { return json.NewEncoder(to).Encode(found) }); err != nil {
		return &StoreError{err}
	}
	return nil
}

// once answers an analysis, unless an earlier run has.
func (r *run) once(index, sk int, answer func() (Analysis, error)) (Analysis, error) {
	n, err := r.needs(sk)
	if err != nil {
		return Analysis{}, err
	}
	if r.Memo == nil || !n.apart {
		return answer()
	}
	step := fmt.Sprintf("answer-%d", index)
	out, known, err := r.answered(sk, step)
	if err != nil || known {
		return out, err
	}
	if out, err = answer(); err != nil {
		return out, err
	}
	told := make([][]RowColumn, len(r.labels))
	for i, l := range r.labels {
		for _, c := range l.Columns {
			if c.Analysis == index {
				told[i] = append(told[i], c)
			}
		}
	}
	if err := r.Memo.Save(step, func(to io.Writer) error {
		w := bufio.NewWriterSize(to, 1<<16)
		if err := errors.Join(json.NewEncoder(w).Encode(out), json.NewEncoder(w).Encode(len(told)), keep(w, told)); err != nil {
			return err
		}
		return w.Flush()
	}); err != nil {
		return out, &StoreError{err}
	}
	return out, nil
}

// answered restores a stored answer, and what it tells each contribution.
func (r *run) answered(sk int, step string) (out Analysis, known bool, err error) {
	from, err := r.persistent(sk)
	if err != nil {
		return out, false, err
	}
	var told [][]RowColumn
	err = r.Memo.Load(step, func(kept io.Reader) error {
		first := json.NewDecoder(kept)
		if first.Decode(&out) != nil {
			return nil
		}
		behind := bufio.NewReaderSize(io.MultiReader(first.Buffered(), kept), 1<<16)
		behind.ReadByte() // the end of the line
		var n int
		if line(behind, &n) != nil || n != 0 && n != len(r.Contributions) {
			return nil
		}
		rows := make([]int, n)
		for i := range rows {
			rows[i] = r.Contributions[i].Sketches[sk].Rows
		}
		var noRoom *room.Error
		told, err = take(behind, from, rows)
		if known = err == nil; errors.As(err, &noRoom) {
			return err
		}
		return nil
	})
	if err != nil {
		return out, false, &StoreError{err}
	}
	if !known {
		return Analysis{}, false, nil
	}
	for i, columns := range told {
		for _, c := range columns {
			r.inform(i, c)
		}
	}
	return out, true, nil
}

// centroids is a [cluster.Model] as it is stored.
type centroids struct {
	Rows                [][]float64
	Iterations, Batches int
}

// kmeans clusters points, starting from the centroids of an earlier run if they are stored.
func (r *run) kmeans(ctx context.Context, index, sk int, points *mat.Dense, o study.KMeansOptions) (cluster.Result, error) {
	step := fmt.Sprintf("centroids-%d", index)
	from, err := r.scratch(sk)
	if err != nil {
		return cluster.Result{}, err
	}
	opts := cluster.Options{
		Room: from, Clusters: o.Clusters, Restarts: o.Restarts, Workers: r.Workers, Memory: r.work(sk), Rand: r.starts("k-means", index),
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
