package cluster

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/room"
)

// SuggestOptions are the options of Suggest.
type SuggestOptions struct {
	Most     int              // required: the largest number of clusters, at least 2
	Records  estimate.Records // required: the errors of the points
	Restarts int              // of k-means for each number; default 5
	Options  Options          // of k-means: Rand, required, Workers, and Room
}

// Suggestion is a suggested number of clusters.
type Suggestion struct {
	Clusters  int       // 0: nothing is suggested
	Undefined string    // why nothing is suggested
	Index     []float64 // the index of 2, 3, … clusters; 0 if clusters do not stand out of their error
}

// suggestSample is the number of points on which numbers of clusters are compared: if telling two
// numbers apart takes more points, either will do.
const suggestSample = 1 << 14

// Suggest chooses a number of clusters by the index of the package comment: from 2 to Most, but at
// most a third of the points.
func Suggest(ctx context.Context, points *mat.Dense, o SuggestOptions) (Suggestion, error) {
	m, _ := points.Dims()
	k := o.Options.withDefaults()
	if k.Restarts = o.Restarts; k.Restarts == 0 {
		k.Restarts = 5
	}
	k.Clusters = 1
	if err := k.check(m); err != nil {
		return Suggestion{}, fmt.Errorf("suggesting a number of clusters: %w", err)
	}
	most := min(o.Most, m/3)
	if most < 2 {
		return Suggestion{Undefined: fmt.Sprintf("%d records are too few to compare numbers of clusters", m)}, nil
	}
	if m > suggestSample {
		order, err := room.Of[int32](k.Room, m)
		if err != nil {
			return Suggestion{}, fmt.Errorf("suggesting a number of clusters: %w", err)
		}
		for i := range order {
			order[i] = int32(i)
		}
		k.Rand.Shuffle(m, func(i, j int) { order[i], order[j] = order[j], order[i] })
		if points, err = gather(k.Room, points.RawMatrix(), order[:suggestSample]); err != nil {
			return Suggestion{}, fmt.Errorf("suggesting a number of clusters: %w", err)
		}
		m = suggestSample
	}
	found, err := groupings(ctx, points, k, most)
	if err != nil {
		return Suggestion{}, err
	}
	return choose(points, found, o.Records)
}

// groupings returns the groupings into 1, 2, … clusters.
func groupings(ctx context.Context, points *mat.Dense, k Options, most int) (found []Result, err error) {
	for k.Clusters = 1; k.Clusters <= most; k.Clusters++ {
		r, err := KMeans(ctx, points, k)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, nil
}

// choose compares groupings with the first, which has a single cluster.
func choose(points *mat.Dense, found []Result, records estimate.Records) (out Suggestion, err error) {
	var best float64
	for i, f := range found[1:] {
		index, err := standing(points, found[0], f, records)
		if err != nil {
			return Suggestion{}, fmt.Errorf("suggesting a number of clusters: %w", err)
		}
		if out.Index = append(out.Index, index); index > best {
			best, out.Clusters = index, i+2
		}
	}
	if out.Clusters == 0 {
		out.Undefined = "no clusters stand out of the noise"
	}
	return out, nil
}

// standOut is how many of its standard errors the spread between clusters must exceed.
const standOut = 4

// standing returns the index of a grouping; 0 if it does not stand out of its error.
func standing(points *mat.Dense, whole, found Result, records estimate.Records) (float64, error) {
	n, clusters := float64(len(found.Labels)), float64(found.nonEmpty())
	if clusters < 2 {
		return 0, nil
	}
	v, k := records.Noise.Variance, float64(records.K)
	optimism, error2 := optimism(points, found, found.means(points), v)
	between := whole.Inertia - found.Inertia - float64((clusters-1)*k*v) - optimism
	own := float64((clusters - 1) * k * (float64(2*v*v) + records.Noise.FourthCumulant/n))
	deviation := math.Sqrt(float64(4*v*max(between, 0)) + own + error2)
	if between <= standOut*deviation {
		return 0, nil
	}
	within, err := Inertia(points, found, records, 0)
	if err != nil {
		return 0, err
	}
	if !within.Defined() || within.High <= 0 {
		// Nothing is left within clusters: more of them divide the same spread by more.
		return math.MaxFloat64 / clusters, nil
	}
	return between / (clusters - 1) / (within.High / (n - clusters)), nil
}
