package cluster

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// joinedRecords are records of three parties, four columns each, joined from sketches that are
// added: each party has a record with probability 0.6 and sends its part of it with noise. The
// parts that a party lacks are zero.
type joinedRecords struct {
	points    *mat.Dense
	kinds     []int // true cluster of each record
	noise     []float64
	whole     []int
	centroids *mat.Dense // of the clusters, projected
}

func joined(rng *rand.Rand) (out joinedRecords) {
	const records, clusters, columns, k, noise = 1500, 4, 12, 32, 0.02
	centres, signs := make([][]float64, clusters), mat.NewDense(columns, k, nil)
	for c := range centres {
		for range columns {
			centres[c] = append(centres[c], 0.35*rng.NormFloat64())
		}
	}
	for i := range columns {
		for j := range k {
			signs.Set(i, j, float64(1-2*rng.IntN(2))/math.Sqrt(k))
		}
	}
	var rows []float64
	for range records {
		kind, x, parties := rng.IntN(clusters), make([]float64, columns), 0
		for p := range 3 {
			if rng.Float64() >= 0.6 {
				continue
			}
			parties++
			for j := 4 * p; j < 4*p+4; j++ {
				x[j] = centres[kind][j] + 0.15*rng.NormFloat64()
			}
		}
		if parties == 0 {
			continue
		}
		if parties == 3 {
			out.whole = append(out.whole, len(out.kinds))
		}
		var y mat.VecDense
		y.MulVec(signs.T(), mat.NewVecDense(columns, x))
		for j := range k {
			rows = append(rows, y.AtVec(j)+math.Sqrt(noise*float64(parties))*rng.NormFloat64())
		}
		out.kinds, out.noise = append(out.kinds, kind), append(out.noise, noise*float64(parties))
	}
	out.points = mat.NewDense(len(out.kinds), k, rows)
	out.centroids = mat.NewDense(clusters, k, nil)
	out.centroids.Mul(mat.NewDense(clusters, columns, slices.Concat(centres...)), signs)
	return out
}

// off returns the mean squared distance of the true centroids from the nearest found ones.
func (r joinedRecords) off(found Result) (sum float64) {
	clusters, _ := r.centroids.Dims()
	for c := range clusters {
		at := found.Centroids.RawRowView(Nearest(found.Centroids, r.centroids.RawRowView(c)))
		for j, v := range r.centroids.RawRowView(c) {
			sum += (at[j] - v) * (at[j] - v) / float64(clusters)
		}
	}
	return sum
}

// Records of every party locate clusters better than all joined records do: they agree more with
// the true clusters, and the error of centroids is at most a third. The records of the fewest
// parties have the least noise, and lack the most. Weighting by the inverse of the variance
// therefore does harm, which the test would detect.
func TestExtendOfJoinedRecords(t *testing.T) {
	var agree, off [3]float64 // equal weights; weighted by noise; those of every party
	const trials = 8
	for trial := range uint64(trials) {
		r := joined(rand.New(rand.NewPCG(trial, 5)))
		options := func() Options { return Options{Clusters: 4, Rand: rand.New(rand.NewPCG(trial, 6))} }
		alike, err := KMeans(context.Background(), r.points, options())
		if err != nil {
			t.Fatal(err)
		}
		weights := make([]float64, len(r.noise))
		for i, v := range r.noise {
			weights[i] = 1 / (0.01 + v) // 0.01: spread of records within their clusters
		}
		weighted, err := Weighted(context.Background(), r.points, weights, options())
		if err != nil {
			t.Fatal(err)
		}
		_, k := r.points.Dims()
		some := mat.NewDense(len(r.whole), k, nil)
		for i, at := range r.whole {
			some.SetRow(i, r.points.RawRowView(at))
		}
		part, err := KMeans(context.Background(), some, options())
		if err != nil {
			t.Fatal(err)
		}
		extended, err := Extend(context.Background(), r.points, part, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, found := range []Result{alike, weighted, extended} {
			share, err := Agreement(found.Labels, r.kinds)
			if err != nil {
				t.Fatal(err)
			}
			agree[i] += share / trials
			off[i] += r.off(found) / trials
		}
	}
	t.Logf("all alike, by noise, those of every party: agreement %.3f, centroids off by %.4f", agree, off)
	if !(agree[2] > agree[0]+0.02 && off[2] < off[0]/3) {
		t.Errorf("those of every party agree in %.3f and are off by %.4f, all alike in %.3f and by %.4f", agree[2], off[2], agree[0], off[0])
	}
	if !(agree[1] < agree[0]) {
		t.Errorf("weighted by noise they agree in %.3f, all alike in %.3f: the test could not tell", agree[1], agree[0])
	}
}

// Extending to the points that centroids were found on changes nothing; other points go to the
// nearest centroid.
func TestExtend(t *testing.T) {
	r := joined(rand.New(rand.NewPCG(1, 5)))
	found, err := KMeans(context.Background(), r.points, Options{Clusters: 4, Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{0, 1, 3} {
		again, err := Extend(context.Background(), r.points, found, workers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.Labels, found.Labels) || !slices.Equal(again.Sizes, found.Sizes) || again.Inertia != found.Inertia || !mat.Equal(again.Centroids, found.Centroids) {
			t.Errorf("%d workers: extending to the same points changed something", workers)
		}
	}
	if _, err := Extend(context.Background(), mat.NewDense(2, 3, nil), found, 1, nil); err == nil {
		t.Error("points of 3 coordinates went to centroids of 32")
	}
}
