package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/distance"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// blobs draws points around centres that are far apart, with their labels.
func blobs(rng *rand.Rand, points, dimension, clusters int, offset float64) (*mat.Dense, []int) {
	centres := mat.NewDense(clusters, dimension, nil)
	for c := range clusters {
		for j := range dimension {
			centres.Set(c, j, offset+8*rng.NormFloat64())
		}
	}
	m := mat.NewDense(points, dimension, nil)
	labels := make([]int, points)
	for i := range points {
		labels[i] = i % clusters
		for j := range dimension {
			m.Set(i, j, centres.At(labels[i], j)+rng.NormFloat64())
		}
	}
	return m, labels
}

func mustCluster(t *testing.T, points *mat.Dense, opts Options) Result {
	t.Helper()
	r, err := KMeans(context.Background(), points, opts)
	if err != nil {
		t.Fatal(err)
	}
	checkConsistent(t, points, r)
	return r
}

// checkConsistent recomputes sizes, labels and inertia the slow way.
func checkConsistent(t *testing.T, points *mat.Dense, r Result) {
	t.Helper()
	n, _ := r.Centroids.Dims()
	sizes := make([]int, n)
	var inertia float64
	for i, label := range r.Labels {
		sizes[label]++
		own := distance.Squared(points.RawRowView(i), r.Centroids.RawRowView(label))
		inertia += own
		for c := range n {
			if d := distance.Squared(points.RawRowView(i), r.Centroids.RawRowView(c)); d < own*(1-1e-6) {
				t.Errorf("point %d is labelled %d at squared distance %g, centroid %d is at %g", i, label, own, c, d)
			}
		}
	}
	if !slices.Equal(sizes, r.Sizes) {
		t.Errorf("sizes %v, counted %v", r.Sizes, sizes)
	}
	if math.Abs(inertia-r.Inertia) > 1e-9*(1+inertia) {
		t.Errorf("inertia %g, recomputed %g", r.Inertia, inertia)
	}
}

// bestInertia tries every grouping of few points.
func bestInertia(points *mat.Dense, clusters int) float64 {
	m, d := points.Dims()
	labels := make([]int, m)
	best := math.Inf(1)
	for {
		var inertia float64
		for c := range clusters {
			mean, size := make([]float64, d), 0.0
			for i, label := range labels {
				if label == c {
					size++
					for j := range mean {
						mean[j] += points.At(i, j)
					}
				}
			}
			for j := range mean {
				mean[j] /= math.Max(size, 1)
			}
			for i, label := range labels {
				if label == c {
					inertia += distance.Squared(points.RawRowView(i), mean)
				}
			}
		}
		best = math.Min(best, inertia)
		i := 0
		for ; i < m && labels[i] == clusters-1; i++ {
			labels[i] = 0
		}
		if i == m {
			return best
		}
		labels[i]++
	}
}

func TestKMeansFindsTheOptimumOfSmallProblems(t *testing.T) {
	rng := source(1)
	for trial := range 40 {
		clusters := 1 + trial%3
		points := mat.NewDense(8, 2, nil)
		for i := range 8 {
			points.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64()})
		}
		r := mustCluster(t, points, Options{Clusters: clusters, Restarts: 300, Rand: source(2)})
		if want := bestInertia(points, clusters); math.Abs(r.Inertia-want) > 1e-9 {
			t.Errorf("trial %d, %d clusters: inertia %g, the least is %g", trial, clusters, r.Inertia, want)
		}
	}
}

func TestKMeansFindsBlobs(t *testing.T) {
	// At an offset of 1e8, distances computed as |x|² − 2xc + |c|² have no correct digit.
	for _, offset := range []float64{0, 1e8} {
		points, labels := blobs(source(3), 1500, 5, 6, offset)
		r := mustCluster(t, points, Options{Clusters: 6, Rand: source(4)})
		agreement, err := Agreement(r.Labels, labels)
		if err != nil {
			t.Fatal(err)
		}
		if agreement < 0.99 {
			t.Errorf("offset %g: agreement with the blobs %.3f", offset, agreement)
		}
	}
}

func TestKMeansIsDeterministic(t *testing.T) {
	points, _ := blobs(source(5), 3000, 7, 4, 0)
	before := mat.DenseCopyOf(points)
	opts := Options{Clusters: 9, Restarts: 3}
	opts.Rand = source(6)
	a := mustCluster(t, points, opts)
	opts.Rand = source(6)
	b := mustCluster(t, points, opts)
	if a.Inertia != b.Inertia || !slices.Equal(a.Labels, b.Labels) || !mat.Equal(a.Centroids, b.Centroids) {
		t.Error("the same source gave two results")
	}
	if !mat.Equal(before, points) {
		t.Error("the points have changed")
	}
}

// Points may be a view into a larger matrix.
func TestKMeansReadsViews(t *testing.T) {
	whole, _ := blobs(source(7), 700, 6, 3, 0)
	view := whole.Slice(50, 650, 1, 4).(*mat.Dense)
	a := mustCluster(t, view, Options{Clusters: 3, Rand: source(8)})
	b := mustCluster(t, mat.DenseCopyOf(view), Options{Clusters: 3, Rand: source(8)})
	if a.Inertia != b.Inertia || !slices.Equal(a.Labels, b.Labels) {
		t.Errorf("inertia of a view %g, of its copy %g", a.Inertia, b.Inertia)
	}
}

func TestKMeansOnDegeneratePoints(t *testing.T) {
	identical := mat.NewDense(20, 3, nil)
	for i := range 20 {
		identical.SetRow(i, []float64{1, 2, 3})
	}
	if r := mustCluster(t, identical, Options{Clusters: 4, Rand: source(9)}); r.Inertia != 0 || r.Iterations == 0 {
		t.Errorf("identical points: inertia %g after %d iterations", r.Inertia, r.Iterations)
	}
	// Two distinct points, three clusters: one must stay empty.
	two := mat.NewDense(10, 1, []float64{0, 0, 0, 0, 0, 5, 5, 5, 5, 5})
	r := mustCluster(t, two, Options{Clusters: 3, Rand: source(10)})
	if sizes := slices.Sorted(slices.Values(r.Sizes)); r.Inertia != 0 || !slices.Equal(sizes, []int{0, 5, 5}) {
		t.Errorf("two distinct points: sizes %v, inertia %g", r.Sizes, r.Inertia)
	}
	// As many clusters as points.
	points, _ := blobs(source(11), 12, 2, 3, 0)
	if r := mustCluster(t, points, Options{Clusters: 12, Rand: source(12)}); r.Inertia > 1e-20 {
		t.Errorf("a cluster for each point: inertia %g", r.Inertia)
	}
}

// Two centroids at one point leave one of them empty: it restarts at the outlier.
func TestEmptyClusterRestartsAtTheFarthestPoint(t *testing.T) {
	points := mat.NewDense(5, 1, []float64{0, 0.1, 0.2, 0.3, 100})
	l, err := newLloyd(context.Background(), points.RawMatrix(), Options{Clusters: 2, Rand: source(13)}.withDefaults(), true)
	if err != nil {
		t.Fatal(err)
	}
	copy(l.centroids.Data, []float64{0.1, 0.1})
	if _, err := l.assign(); err != nil {
		t.Fatal(err)
	}
	l.refill()
	l.means()
	if !slices.Equal(l.labels, []int32{0, 0, 0, 0, 1}) || l.centroids.Data[1] != 100 {
		t.Errorf("labels %v, centroids %v", l.labels, l.centroids.Data)
	}
}

func TestKMeansRefuses(t *testing.T) {
	points := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	for _, test := range []struct {
		points *mat.Dense
		opts   Options
		want   string
	}{
		{points, Options{Clusters: 2}, "no source of randomness"},
		{points, Options{Rand: source(1)}, "0 clusters"},
		{points, Options{Clusters: 4, Rand: source(1)}, "4 clusters of 3 points"},
		{&mat.Dense{}, Options{Clusters: 1, Rand: source(1)}, "1 clusters of 0 points"},
		{points, Options{Clusters: 2, Restarts: -1, Rand: source(1)}, "-1 restarts"},
		{points, Options{Clusters: 2, Tolerance: math.NaN(), Rand: source(1)}, "tolerance"},
		{mat.NewDense(2, 1, []float64{1, math.NaN()}), Options{Clusters: 2, Rand: source(1)}, "not finite"},
		{mat.NewDense(2, 1, []float64{1, math.Inf(-1)}), Options{Clusters: 2, Rand: source(1)}, "not finite"},
		{mat.NewDense(2, 1, []float64{1, 1e200}), Options{Clusters: 2, Rand: source(1)}, "too large"},
	} {
		if _, err := KMeans(context.Background(), test.points, test.opts); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}

func TestKMeansIsCancellable(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	points, _ := blobs(source(14), 100, 2, 3, 0)
	if _, err := KMeans(ctx, points, Options{Clusters: 3, Rand: source(15)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context canceled", err)
	}
}

// The result depends neither on the workers nor on whether points stay packed, to the bit.
func TestKMeansDoesNotDependOnWorkers(t *testing.T) {
	points, _ := blobs(source(18), 3*distance.ChunkRows+17, 7, 4, 1e3)
	for _, above := range []int{0, 2 * distance.ChunkRows} {
		var want Result
		for i, workers := range []int{1, 2, 5} {
			got := mustCluster(t, points, Options{Clusters: 12, Restarts: 2, Workers: workers, BatchAbove: above, Memory: int64(i), Rand: source(19)})
			if i == 0 {
				want = got
			} else if got.Inertia != want.Inertia || !slices.Equal(got.Labels, want.Labels) || !mat.Equal(got.Centroids, want.Centroids) {
				t.Errorf("%d workers, batches above %d: another result", workers, above)
			}
		}
		if (want.Batches > 0) != (above > 0) {
			t.Errorf("%d batches of %d points, above %d", want.Batches, 3*distance.ChunkRows+17, above)
		}
	}
}

// Mini-batches that continue from a known model give the same result, and do not compute the model
// again.
func TestKMeansGoesOn(t *testing.T) {
	points, _ := blobs(source(18), 3*distance.ChunkRows+17, 7, 4, 1e3)
	o := Options{Clusters: 12, Restarts: 2, BatchAbove: 2 * distance.ChunkRows, Rand: source(19)}
	var found []Model
	o.Found = func(m Model) error { found = append(found, m); return nil }
	want := mustCluster(t, points, o)
	if len(found) != 1 || found[0].Batches != want.Batches {
		t.Fatalf("found %+v", found)
	}
	o.Known, o.Rand = &found[0], source(20)
	got := mustCluster(t, points, o)
	if got.Inertia != want.Inertia || !slices.Equal(got.Labels, want.Labels) || !mat.Equal(got.Centroids, want.Centroids) || got.Batches != want.Batches || got.Iterations != want.Iterations {
		t.Error("another result")
	}
	if len(found) != 1 {
		t.Error("it looked for clusters again")
	}
	o.Clusters = 11
	if _, err := KMeans(t.Context(), points, o); err == nil {
		t.Error("a model of other clusters is taken")
	}
	full := errors.New("full")
	o.Clusters, o.Known, o.Found = 12, nil, func(Model) error { return full }
	if _, err := KMeans(t.Context(), points, o); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

// Labels are the nearest centroids even if float32 cannot tell them apart.
func TestLabelsBeyondFloat32(t *testing.T) {
	points := mat.NewDense(4000, 3, nil)
	rng := source(20)
	for i := range 4000 {
		far, near := float64(i%2), float64(i/2%2)
		points.SetRow(i, []float64{1e6 * far, 1e-3*near + 1e-5*rng.NormFloat64(), 1e-5 * rng.NormFloat64()})
	}
	r := mustCluster(t, points, Options{Clusters: 4, Rand: source(21)})
	for i, label := range r.Labels {
		if label != r.Labels[i%4] {
			t.Fatalf("point %d has label %d, one beside it %d", i, label, r.Labels[i%4])
		}
	}
}

// The inertia of mini-batches is within 1 % of that with all points in every iteration.
func TestMiniBatchesComeClose(t *testing.T) {
	points, _ := blobs(source(22), 60_000, 8, 10, 0)
	o := Options{Clusters: 10, Restarts: 3, Workers: 2, Rand: source(23)}
	want := mustCluster(t, points, o)
	o.BatchAbove, o.Rand = 8192, source(24)
	got := mustCluster(t, points, o)
	if got.Batches == 0 || got.Inertia > 1.01*want.Inertia {
		t.Errorf("inertia %g after %d batches, %g with all points", got.Inertia, got.Batches, want.Inertia)
	}
}

// The cost of k-means on 200,000 records with k = 64: 20 clusters, one start, 20 iterations, points
// without any clusters.
func BenchmarkKMeans(b *testing.B) {
	rng := source(16)
	points := mat.NewDense(200_000, 64, nil)
	for i := range points.RawMatrix().Data {
		points.RawMatrix().Data[i] = rng.NormFloat64()
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			for b.Loop() {
				r, err := KMeans(context.Background(), points, Options{Clusters: 20, Restarts: 1, MaxIterations: 20, Tolerance: 1e-300, Workers: workers, Rand: source(17)})
				if err != nil || r.Iterations != 20 {
					b.Fatalf("%d iterations: %v", r.Iterations, err)
				}
			}
		})
	}
}
