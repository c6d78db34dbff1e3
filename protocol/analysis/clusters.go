package analysis

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/transcript"
)

// KMeans is the section of k-means.
type KMeans struct {
	Clusters  int         `json:"clusters"`
	Restarts  int         `json:"restarts"`
	Sizes     []int       `json:"sizes"`
	Inertia   float64     `json:"inertia"`   // with the noise in it, in squared encoded units
	Centroids [][]float64 `json:"centroids"` // in the space of the sketch, in encoded units
}

func (k *KMeans) check(Analysis) error {
	if k.Clusters < 1 || len(k.Sizes) != k.Clusters {
		return fmt.Errorf("%d sizes of %d clusters", len(k.Sizes), k.Clusters)
	}
	return nil
}

// kMeans clusters the records of all parties. Labels go to each party for its
// own records alone, by the row order of its release.
func (r *run) kMeans(ctx context.Context, index, sk int, a study.Analysis) (Analysis, error) {
	var parts []sketch.Sketch
	for _, c := range r.Contributions {
		parts = append(parts, c.Sketches[sk])
	}
	all, err := sketch.Stack(parts...)
	if err != nil {
		return Analysis{}, err
	}
	plan, err := release.For(r.Study, r.Contributions[0].Party, sk)
	if err != nil {
		return Analysis{}, err
	}
	points := mat.NewDense(all.Rows, all.Cols, nil)
	for i := range all.Rows {
		for j, v := range all.Row(i) {
			points.Set(i, j, float64(v)*plan.Unit())
		}
	}
	o, ok := a.Options.(study.KMeansOptions)
	if !ok {
		return Analysis{}, fmt.Errorf("options %T", a.Options)
	}
	if all.Rows < o.Clusters {
		return Analysis{}, unanswerable("%d records are fewer than %d clusters", all.Rows, o.Clusters)
	}
	start := protocol.Hash("cosketch/1/analysis/k-means", r.Study.ID[:], transcript.Uint32(uint32(index)))
	found, err := cluster.KMeans(ctx, points, cluster.Options{
		Clusters: o.Clusters, Restarts: o.Restarts, Rand: rand.New(rand.NewChaCha8(start)),
	})
	if err != nil {
		return Analysis{}, err
	}
	answer := &KMeans{Clusters: o.Clusters, Restarts: o.Restarts, Sizes: found.Sizes, Inertia: found.Inertia}
	for c := range o.Clusters {
		answer.Centroids = append(answer.Centroids, mat.Row(nil, c, found.Centroids))
	}
	r.label(RowColumn{Analysis: index, Sketch: sk, Name: "cluster", Integers: found.Labels})
	return Analysis{Kind: a.Kind, Sketch: sk, KMeans: answer}, nil
}

// label hands each contribution its own rows of a column about all records.
func (r *run) label(all RowColumn) {
	if r.labels == nil {
		for _, c := range r.Contributions {
			r.labels = append(r.labels, Labels{Format: LabelsFormat, Study: r.Study.ID.String(), Party: r.Study.Parties[c.Party].Name})
		}
	}
	at := 0
	for i, c := range r.Contributions {
		rows := c.Sketches[all.Sketch].Rows
		r.labels[i].Columns = append(r.labels[i].Columns, all.part(at, at+rows))
		at += rows
	}
}
