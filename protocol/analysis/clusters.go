package analysis

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/transcript"
)

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
	start := protocol.Hash("cosketch/1/analysis/k-means", r.Study.ID[:], transcript.Uint32(uint32(index)))
	found, err := cluster.KMeans(ctx, points, cluster.Options{
		Clusters: a.Clusters, Restarts: a.Restarts, Rand: rand.New(rand.NewChaCha8(start)),
	})
	if err != nil {
		return Analysis{}, err
	}
	out := Analysis{Kind: a.Kind, Sketch: sk, Clusters: a.Clusters, Restarts: a.Restarts, Sizes: found.Sizes, Inertia: &found.Inertia}
	for c := range a.Clusters {
		out.Centroids = append(out.Centroids, mat.Row(nil, c, found.Centroids))
	}
	r.label(index, sk, found.Labels)
	return out, nil
}

// label hands each contribution the labels of its own rows.
func (r *run) label(index, sk int, labels []int) {
	if r.labels == nil {
		for _, c := range r.Contributions {
			r.labels = append(r.labels, Labels{Format: LabelsFormat, Study: r.Study.ID.String(), Party: r.Study.Parties[c.Party].Name})
		}
	}
	at := 0
	for i, c := range r.Contributions {
		rows := c.Sketches[sk].Rows
		r.labels[i].Labels = append(r.labels[i].Labels, RecordLabel{Analysis: index, Sketch: sk, Clusters: labels[at : at+rows : at+rows]})
		at += rows
	}
}
