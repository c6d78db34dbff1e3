package cluster

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/room"
)

// SuggestOptions says among which numbers of clusters to choose.
type SuggestOptions struct {
	Most     int              // required: the largest number, at least 2
	Records  estimate.Records // required: how the points err
	Restarts int              // of k-means for each number; default 5
	Options  Options          // of k-means: Rand, required, Workers, and Room
}

// Suggestion is how many clusters there seem to be.
type Suggestion struct {
	Clusters  int       // 0: nothing is suggested
	Undefined string    // why
	Index     []float64 // the index of 2, 3, … clusters; 0 where clusters do not stand out of their error
}

// suggestOf is how many points numbers of clusters are compared on: where more would
// tell two numbers apart, either will do.
const suggestOf = 1 << 14

// Suggest chooses a number of clusters from 2 to Most, which is cut to a third of the
// points, by the index of the package comment.
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
	if m > suggestOf {
		order, err := room.Of[int32](k.Room, m)
		if err != nil {
			return Suggestion{}, fmt.Errorf("suggesting a number of clusters: %w", err)
		}
		for i := range order {
			order[i] = int32(i)
		}
		k.Rand.Shuffle(m, func(i, j int) { order[i], order[j] = order[j], order[i] })
		if points, err = gather(k.Room, points.RawMatrix(), order[:suggestOf]); err != nil {
			return Suggestion{}, fmt.Errorf("suggesting a number of clusters: %w", err)
		}
		m = suggestOf
	}
	found, err := groupings(ctx, points, k, most)
	if err != nil {
		return Suggestion{}, err
	}
	return choose(points, found, o.Records)
}

// groupings are those into 1, 2, … clusters.
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

// choose compares groupings with the one of a single cluster, which is the first.
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

// standOut is how many standard deviations of what is between clusters it takes.
const standOut = 4

// standing is the index of a grouping; 0 where it does not stand out of its error.
func standing(points *mat.Dense, whole, found Result, records estimate.Records) (float64, error) {
	n, clusters := float64(len(found.Labels)), float64(found.filled())
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
		// Nothing is left within clusters: each more divides the same by more.
		return math.MaxFloat64 / clusters, nil
	}
	return between / (clusters - 1) / (within.High / (n - clusters)), nil
}
