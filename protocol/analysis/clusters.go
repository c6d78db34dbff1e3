package analysis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/transcript"
)

// KMeans is the section of k-means.
//
//section:k_means of k-means by records
type KMeans struct {
	Clusters  int         `json:"clusters"`                                     // number of clusters
	Restarts  int         `json:"restarts"`                                     // number of starts that were tried
	Whole     int         `json:"whole,omitempty"`                              // number of records that every party holds, if only these determine the centroids; 0 if all records do
	Batches   int         `json:"batches,omitempty"`                            // number of mini-batches, if there are too many records for full iterations
	Sizes     []int       `json:"sizes" by:"cluster" of:"records"`              // number of records of each cluster
	Inertia   float64     `json:"inertia"`                                      // inertia, noise included, in squared encoded units
	Debiased  *Number     `json:"debiased,omitempty"`                           // inertia without the noise: of the records themselves in these clusters
	Suggested *Suggested  `json:"suggested,omitempty"`                          // suggested number of clusters, whatever the study asks for
	Centroids [][]float64 `json:"centroids" by:"cluster,coordinate" of:"value"` // in the space of the sketch, in encoded units
	Distances []Quantile  `json:"distances" by:"share"`                         // quantiles of the rows' squared distances from their centroid, noise included, in encoded units
	Scatter   *Scatter    `json:"scatter,omitempty"`                            // a picture of the clusters
}

// Suggested is the number of clusters that stands out best.
type Suggested struct {
	Clusters  *int      `json:"clusters"`                         // number of clusters; null if undefined
	Most      int       `json:"most"`                             // largest number that was tried
	Index     []float64 `json:"index" by:"clusters+2" of:"index"` // for 2, 3, … clusters, the index of Calinski and Harabasz without the noise; 0 if clusters do not stand out of it
	Undefined string    `json:"undefined,omitempty"`              // why no number is suggested
}

func (k *KMeans) check(Analysis) error {
	if k.Whole < 0 {
		return fmt.Errorf("%d records of every party", k.Whole)
	}
	if k.Clusters < 1 || len(k.Sizes) != k.Clusters {
		return fmt.Errorf("%d sizes of %d clusters", len(k.Sizes), k.Clusters)
	}
	if k.Scatter != nil {
		if err := k.Scatter.check(k.Clusters, k.Clusters); err != nil {
			return err
		}
	}
	if k.Debiased != nil {
		if err := k.Debiased.check(); err != nil {
			return fmt.Errorf("the inertia: %w", err)
		}
	}
	if k.Suggested == nil {
		return nil
	}
	return k.Suggested.check()
}

func (s *Suggested) check() error {
	if s.Clusters == nil && s.Undefined == "" || s.Clusters != nil && (*s.Clusters < 2 || *s.Clusters > s.Most) {
		return errors.New("neither a number of clusters between 2 and the most that were tried nor a reason is suggested")
	}
	if len(s.Index) > max(s.Most-1, 0) {
		return fmt.Errorf("an index of %d numbers of clusters up to %d", len(s.Index), s.Most)
	}
	return nil
}

// wholeEach is the number of records held by every party, per cluster, from which only these
// determine the centroids.
const wholeEach = 30

// recordMeans clusters the records of all parties. If a party lacks a record, its part of it is
// zero, which draws centroids to the centre; and the more parties lack a record, the less noise it
// has. So if enough records are held by every party, only these determine the centroids, and the
// others are assigned to the nearest. (For that reason weighting records by their noise does harm:
// in simulations it put centroids farther off than equal weights do.) Each party gets the labels of
// its own records only, in the row order of its release.
func (r *run) recordMeans(ctx context.Context, index, sk int, a study.Analysis) (Analysis, error) {
	all, err := r.points(ctx, sk)
	if err != nil {
		return Analysis{}, err
	}
	law, err := r.law(sk, all)
	if err != nil {
		return Analysis{}, err
	}
	o, ok := a.Options.(study.KMeansOptions)
	if !ok {
		return Analysis{}, fmt.Errorf("options %T", a.Options)
	}
	if m := all.len(); m < o.Clusters {
		return Analysis{}, unanswerable("%d records are fewer than %d clusters", m, o.Clusters)
	}
	basis, whole := all, 0
	if some, ok := all.whole(); ok && some >= wholeEach*max(o.Clusters, o.MaxClusters) {
		if basis, err = r.wholes(sk, all, some); err != nil {
			return Analysis{}, err
		}
		whole = some
	}
	suggested, err := r.suggest(ctx, index, sk, basis, o)
	if err != nil {
		return Analysis{}, err
	}
	if o.Auto {
		if suggested.Clusters == nil {
			return Analysis{}, unanswerable("%s; a number of clusters instead of auto would be answered", suggested.Undefined)
		}
		o.Clusters = *suggested.Clusters
	}
	from, err := r.scratch(sk)
	if err != nil {
		return Analysis{}, err
	}
	found, err := r.kmeans(ctx, index, sk, basis.matrix, o)
	if err == nil && whole > 0 {
		found, err = cluster.Extend(ctx, all.matrix, found, r.Workers, from)
	}
	if err != nil {
		return Analysis{}, err
	}
	out := Analysis{Kind: a.Kind, Sketch: sk, Units: measure.Squared, Assumptions: premise.Usual(a.Kind, ""), Joined: all.joined}
	inertia, err := cluster.Inertia(all.matrix, found, law, out.promise(a, 1))
	if err != nil {
		return Analysis{}, err
	}
	debiased := number(inertia)
	out.KMeans = &KMeans{
		Clusters: o.Clusters, Restarts: o.Restarts, Whole: whole, Batches: found.Batches, Sizes: found.Sizes,
		Inertia: found.Inertia, Debiased: &debiased, Suggested: &suggested,
	}
	for c := range o.Clusters {
		out.KMeans.Centroids = append(out.KMeans.Centroids, mat.Row(nil, c, found.Centroids))
	}
	if out.KMeans.Distances, err = distancesFrom(from, found, all.matrix); err != nil {
		return Analysis{}, err
	}
	if out.KMeans.Scatter, err = scatter(ctx, from, all.matrix, found, r.Study.Privacy.Mechanism); err != nil {
		return Analysis{}, err
	}
	return out, r.label(all, RowColumn{Analysis: index, Sketch: sk, Name: clusterColumn, Integers: found.Labels})
}

// distancesFrom returns quantiles of the rows' squared distances from their centroids.
func distancesFrom(from room.Allocator, found cluster.Result, points *mat.Dense) ([]Quantile, error) {
	out, err := room.Of[float64](from, len(found.Labels))
	if err != nil {
		return nil, err
	}
	for i, c := range found.Labels {
		centroid := found.Centroids.RawRowView(c)
		for j, x := range points.RawRowView(i) {
			out[i] += float64((x - centroid[j]) * (x - centroid[j]))
		}
	}
	return quantilesOf(out), nil
}

// suggest compares numbers of clusters.
func (r *run) suggest(ctx context.Context, index, sk int, all *points, o study.KMeansOptions) (Suggested, error) {
	law, err := r.law(sk, all)
	if err != nil {
		return Suggested{}, err
	}
	from, err := r.scratch(sk)
	if err != nil {
		return Suggested{}, err
	}
	out := Suggested{Most: o.MaxClusters}
	if !o.Auto {
		out.Most = study.DefaultMaxClusters
	}
	found, err := cluster.Suggest(ctx, all.matrix, cluster.SuggestOptions{
		Most: out.Most, Records: law, Options: cluster.Options{Workers: r.Workers, Rand: r.starts("suggestion", index), Room: from},
	})
	if err != nil {
		return Suggested{}, err
	}
	if out.Index, out.Undefined = found.Index, found.Undefined; found.Clusters > 0 {
		out.Clusters = &found.Clusters
	}
	return out, nil
}

// starts returns the generator of an analysis's random starts, which everybody can reproduce.
func (r *run) starts(what string, index int) *rand.Rand {
	return rand.New(rand.NewChaCha8(protocol.Hash("cosketch/1/analysis/"+what, r.Study.ID[:], transcript.Uint32(uint32(index)))))
}

// label gives each contribution its own rows of a column about all records.
func (r *run) label(all *points, column RowColumn) error {
	from, err := r.persistent(column.Sketch)
	if err != nil {
		return err
	}
	for i, of := range all.of {
		own, err := column.rows(from, of)
		if err != nil {
			return err
		}
		if from == nil {
			own = own.spelt()
		}
		r.inform(i, own)
	}
	return nil
}

// inform gives one contribution a column about its rows.
func (r *run) inform(contribution int, column RowColumn) {
	if r.labels == nil {
		for _, c := range r.Contributions {
			r.labels = append(r.labels, Labels{Format: LabelsFormat, Study: r.Study.ID.String(), Party: r.Study.Parties[c.Party].Name})
		}
	}
	r.labels[contribution].Columns = append(r.labels[contribution].Columns, column)
}

func ofKMeans() kind {
	return kind{
		name: study.KMeans, ways: []way{{sketch.Codes, (*run).codeMeans}, {sketch.Cells, (*run).cellMeans}, onRecords((*run).recordMeans)},
		most: func(t *taken) int64 {
			o, _ := t.asked.Options.(study.KMeansOptions)
			clusters, size := int64(max(o.Clusters, o.MaxClusters)), int64(0)
			if t.values > 0 { // by cells: each pair of clusters
				size = mostNumbers(2, clusters, clusters)
			}
			return plus(size, plus(mostNumbers(2, clusters, t.values+4), times(mostEntry*clusters, t.k)))
		},
		// Its label, three times, its norm, its distance, and its position in an order.
		record:    func(study.Analysis, int64) (takes, stays int64) { return 32, 8 },
		asked:     study.KMeansOptions{Clusters: 256},
		shortened: ": means of clusters are of the shortened data",
	}
}
