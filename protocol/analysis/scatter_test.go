package analysis

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/dp"
)

// blobs returns three clusters of 1200, 500 and 4 points around corners of a plane in six
// dimensions.
func blobs() (*mat.Dense, cluster.Result) {
	rng := rand.New(rand.NewPCG(3, 4))
	corners := [][]float64{{0, 0, 0, 0, 0, 0}, {6, 0, 0, 6, 0, 0}, {0, 3, 3, 0, 3, 3}}
	found := cluster.Result{Sizes: []int{1200, 500, 4}, Centroids: mat.NewDense(3, 6, slices.Concat(corners...))}
	points := mat.NewDense(1704, 6, nil)
	for i := range 1704 {
		c := 0
		if i >= 1200 {
			c = 1
		}
		if i%500 == 7 {
			c = 2
		}
		found.Labels = append(found.Labels, c)
		for j := range 6 {
			points.Set(i, j, corners[c][j]+0.1*rng.NormFloat64())
		}
	}
	found.Sizes = make([]int, 3)
	for _, c := range found.Labels {
		found.Sizes[c]++
	}
	return points, found
}

func TestScatterShowsTheClusters(t *testing.T) {
	points, found := blobs()
	s, err := scatter(context.Background(), nil, points, found, dp.Laplace)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Points) > mostDots || len(s.Points) < mostDots-10 || s.Of != 1704 {
		t.Errorf("%d points of %d", len(s.Points), s.Of)
	}
	count := make([]int, 3)
	for i, p := range s.Points {
		count[p.Cluster]++
		if i > 0 && p.X < s.Points[i-1].X {
			t.Fatal("the points are not in the order of x, and so tell more than where they are")
		}
		// Six dimensions of noise 0.1 leave at most 0.5 of a point's distance from its centre.
		if d := math.Hypot(p.X-s.Centres[p.Cluster][0], p.Y-s.Centres[p.Cluster][1]); d > 0.6 {
			t.Errorf("a point of cluster %d is %.2f from its centre", p.Cluster, d)
		}
	}
	for c, n := range count {
		want := float64(found.Sizes[c]) * mostDots / 1704
		if math.Abs(float64(n)-want) > 3 || n == 0 {
			t.Errorf("%d points of cluster %d, want about %.0f", n, c, want)
		}
	}
	// The third cluster is too small to tilt the plane much, so distances of the others are
	// preserved.
	d := math.Hypot(s.Centres[0][0]-s.Centres[1][0], s.Centres[0][1]-s.Centres[1][1])
	if math.Abs(d-6*math.Sqrt2) > 0.05 {
		t.Errorf("the centres are %.2f apart in the plane, %.2f in truth", d, 6*math.Sqrt2)
	}
	if s.Variance[0] < s.Variance[1] || s.Variance[0]+s.Variance[1] > 1 {
		t.Errorf("shares %v", s.Variance)
	}
}

func TestScatterKeepsRowsWithoutNoiseBack(t *testing.T) {
	points, found := blobs()
	if s, err := scatter(context.Background(), nil, points, found, dp.None); s != nil || err != nil {
		t.Errorf("a picture of %v (%v)", s, err)
	}
}

func TestScatterOfEqualRows(t *testing.T) {
	found := cluster.Result{Labels: make([]int, 9), Sizes: []int{9}, Centroids: mat.NewDense(1, 3, nil)}
	if s, err := scatter(context.Background(), nil, mat.NewDense(9, 3, nil), found, dp.Laplace); s != nil || err != nil {
		t.Errorf("a picture of %v (%v)", s, err)
	}
}

// Rows on a line have one direction. The other is zero, not a division by zero.
func TestScatterOfALine(t *testing.T) {
	points := mat.NewDense(4, 2, []float64{0, 0, 1, 2, 2, 4, 3, 6})
	found := cluster.Result{Labels: []int{0, 0, 0, 0}, Sizes: []int{4}, Centroids: mat.NewDense(1, 2, []float64{1.5, 3})}
	s, err := scatter(context.Background(), nil, points, found, dp.Laplace)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Points {
		if math.IsNaN(p.X) || math.IsNaN(p.Y) || math.Abs(p.Y) > 1e-6 {
			t.Errorf("a point at %v", p)
		}
	}
}
