package analysis

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/transcript"
)

// KMeans is the section of k-means.
type KMeans struct {
	Clusters  int         `json:"clusters"`
	Restarts  int         `json:"restarts"`
	Sizes     []int       `json:"sizes"`
	Inertia   float64     `json:"inertia"`   // with the noise in it, in squared encoded units
	Noise     float64     `json:"noise"`     // what of the inertia is noise, on average over the noise if it did not change who is in which cluster
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
	all, err := r.points(ctx, sk)
	if err != nil {
		return Analysis{}, err
	}
	o, ok := a.Options.(study.KMeansOptions)
	if !ok {
		return Analysis{}, fmt.Errorf("options %T", a.Options)
	}
	if m := len(all.noise); m < o.Clusters {
		return Analysis{}, unanswerable("%d records are fewer than %d clusters", m, o.Clusters)
	}
	start := protocol.Hash("cosketch/1/analysis/k-means", r.Study.ID[:], transcript.Uint32(uint32(index)))
	found, err := cluster.KMeans(ctx, all.matrix, cluster.Options{
		Clusters: o.Clusters, Restarts: o.Restarts, Rand: rand.New(rand.NewChaCha8(start)),
	})
	if err != nil {
		return Analysis{}, err
	}
	answer := &KMeans{Clusters: o.Clusters, Restarts: o.Restarts, Sizes: found.Sizes, Inertia: found.Inertia}
	_, k := all.matrix.Dims()
	for i, c := range found.Labels { // its mean takes a record's share of its noise along
		answer.Noise += float64(k) * all.noise[i].Variance * (1 - 1/float64(found.Sizes[c]))
	}
	for c := range o.Clusters {
		answer.Centroids = append(answer.Centroids, mat.Row(nil, c, found.Centroids))
	}
	r.label(all, RowColumn{Analysis: index, Sketch: sk, Name: "cluster", Integers: found.Labels})
	return Analysis{Kind: a.Kind, Sketch: sk, Joined: all.joined, KMeans: answer}, nil
}

// label hands each contribution its own rows of a column about all records.
func (r *run) label(all *points, column RowColumn) {
	if r.labels == nil {
		for _, c := range r.Contributions {
			r.labels = append(r.labels, Labels{Format: LabelsFormat, Study: r.Study.ID.String(), Party: r.Study.Parties[c.Party].Name})
		}
	}
	for i, of := range all.of {
		r.labels[i].Columns = append(r.labels[i].Columns, column.rows(of))
	}
}
