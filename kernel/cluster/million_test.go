package cluster

import (
	"context"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// groups draws points around centres that are a few standard deviations apart.
func groups(points, dimension, clusters int) (*mat.Dense, []int) {
	rng := rand.New(rand.NewPCG(9, 9))
	centres := make([][]float64, clusters)
	for c := range centres {
		for range dimension {
			centres[c] = append(centres[c], 1.5*rng.NormFloat64())
		}
	}
	out, kinds := mat.NewDense(points, dimension, nil), make([]int, points)
	for i := range points {
		kinds[i] = rng.IntN(clusters)
		row := out.RawRowView(i)
		for j := range row {
			row[j] = centres[kinds[i]][j] + rng.NormFloat64()
		}
	}
	return out, kinds
}

// With the default bound, at the size from which mini-batches are used: they find the groups, leave
// an inertia within 1 % of that around the groups' own means and within 0.1 % of what whole
// iterations leave, and give the same result for any number of workers.
func TestMillionPoints(t *testing.T) {
	if os.Getenv("COSKETCH_FULL") != "1" {
		t.Skip("clusters more than a million points; COSKETCH_FULL=1 asks for it")
	}
	const points, dimension, clusters = 1_200_000, 16, 10
	x, kinds := groups(points, dimension, clusters)
	cluster := func(workers, above int) Result {
		found, err := KMeans(context.Background(), x, Options{Clusters: clusters, Rand: rand.New(rand.NewPCG(1, 2)), Workers: workers, BatchAbove: above})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	found, whole := cluster(2, 0), cluster(2, points)
	if found.Batches == 0 || whole.Batches != 0 {
		t.Fatalf("%d and %d mini-batches", found.Batches, whole.Batches)
	}
	if again := cluster(1, 0); !mat.Equal(again.Centroids, found.Centroids) || again.Inertia != found.Inertia {
		t.Error("one worker finds something else than two")
	}
	agree, err := Agreement(found.Labels, kinds)
	if err != nil {
		t.Fatal(err)
	}
	own := Result{Centroids: mat.NewDense(clusters, dimension, nil), Labels: kinds, Sizes: make([]int, clusters)}
	for _, kind := range kinds {
		own.Sizes[kind]++
	}
	means, around := own.means(x), 0.0
	for i, kind := range kinds {
		m := means.RawRowView(kind)
		for j, v := range x.RawRowView(i) {
			around += (v - m[j]) * (v - m[j])
		}
	}
	t.Logf("%d mini-batches; agreement %.4f; inertia %.5f of that around the groups' means, %.6f of whole iterations'",
		found.Batches, agree, found.Inertia/around, found.Inertia/whole.Inertia)
	if agree < 0.99 || found.Inertia > 1.01*around || found.Inertia > 1.001*whole.Inertia {
		t.Errorf("agreement %.4f, inertia %.5g, around the groups' means %.5g, of whole iterations %.5g", agree, found.Inertia, around, whole.Inertia)
	}
}

// BenchmarkMillionPoints compares mini-batches with whole iterations.
func BenchmarkMillionPoints(b *testing.B) {
	x, _ := groups(1_200_000, 16, 10)
	for name, above := range map[string]int{"mini-batches": 0, "whole": 1_200_000} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := KMeans(b.Context(), x, Options{Clusters: 10, Restarts: 1, Rand: rand.New(rand.NewPCG(1, 2)), Workers: 2, BatchAbove: above}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
