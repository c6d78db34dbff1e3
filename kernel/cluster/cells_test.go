package cluster

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func TestWeightedIsKMeansOfCopies(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	var points, copies []float64
	var weights []float64
	for i := range 30 {
		x := []float64{float64(i%3)*5 + source.NormFloat64(), source.NormFloat64()}
		w := 1 + source.IntN(4)
		points, weights = append(points, x...), append(weights, float64(w))
		for range w {
			copies = append(copies, x...)
		}
	}
	got, err := Weighted(context.Background(), mat.NewDense(30, 2, points), weights, Options{Clusters: 3, Rand: source})
	if err != nil {
		t.Fatal(err)
	}
	want, err := KMeans(context.Background(), mat.NewDense(len(copies)/2, 2, copies), Options{Clusters: 3, Rand: source})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Inertia-want.Inertia) > 1e-9*want.Inertia {
		t.Errorf("inertia %v, that of copies %v", got.Inertia, want.Inertia)
	}
	if n := got.Sizes[0] + got.Sizes[1] + got.Sizes[2]; n != 30 {
		t.Errorf("sizes %v of 30 points", got.Sizes)
	}
}

func TestWeightedRefuses(t *testing.T) {
	points := mat.NewDense(2, 1, []float64{1, 2})
	good := Options{Clusters: 2, Rand: rand.New(rand.NewPCG(1, 1))}
	for name, call := range map[string]func() error{
		"weights":  func() error { _, err := Weighted(context.Background(), points, []float64{1}, good); return err },
		"negative": func() error { _, err := Weighted(context.Background(), points, []float64{1, -1}, good); return err },
		"infinite": func() error {
			_, err := Weighted(context.Background(), mat.NewDense(2, 1, []float64{1, math.Inf(1)}), []float64{1, 1}, good)
			return err
		},
		"clusters": func() error {
			_, err := Weighted(context.Background(), points, []float64{1, 1}, Options{Clusters: 3, Rand: good.Rand})
			return err
		},
		"cancelled": func() error {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_, err := Weighted(ctx, points, []float64{1, 1}, good)
			return err
		},
	} {
		if call() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// Fewer distinct points than clusters are no error.
	if _, err := Weighted(context.Background(), mat.NewDense(3, 1, []float64{1, 1, 1}), []float64{1, 2, 3}, good); err != nil {
		t.Error(err)
	}
}

// fewCells returns cells along a line: two clusters far apart, a cell of noise and an empty one.
func fewCells() Cells {
	c := Cells{Counts: []float64{400, 300, 500, 20, -7, 350}, Sums: mat.NewDense(6, 2, nil), Noise: CellNoise{Count: 100, Sum: 25}, Records: 1551}
	for i, centre := range [][]float64{{1, 0.1}, {1.2, -0.1}, {-1, 0.2}, {50, 50}, {9, 9}, {-1.1, -0.2}} {
		for j, v := range centre {
			c.Sums.Set(i, j, v*c.Counts[i])
		}
	}
	c.Places = mat.NewDense(6, 2, []float64{0.8, 0, 0.8, 0.3, -0.8, 0, 0.8, -0.3, -0.8, 0.3, -0.8, -0.3})
	return c
}

// Cells within the noise do not affect the model, but every cell counts for the numbers.
func TestGroupGivesEveryCell(t *testing.T) {
	c := fewCells()
	o := Options{Clusters: 2, Rand: rand.New(rand.NewPCG(3, 3))}
	got, err := c.Group(context.Background(), nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if got.Kept != 4 {
		t.Errorf("kept %d cells", got.Kept)
	}
	// The counts are 12 records too many, 2 for each cell.
	for i, one := range got.Clusters {
		model, cells, records := []float64{760. / 700, 10. / 700}, []int{0, 1, 3}, 720.-3*2
		if got.Model.At(i, 0) < 0 {
			model, cells, records = []float64{-885. / 850, 30. / 850}, []int{2, 4, 5}, 843-3*2
		}
		sums := make([]float64, 2)
		for _, cell := range cells {
			floats.Add(sums, c.Sums.RawRowView(cell))
		}
		if one.Cells != 3 || one.Records != records || !floats.EqualApprox(sums, one.Sums, 1e-9) {
			t.Errorf("cluster %d: %+v, want %v records and sums %v", i, one, records, sums)
		}
		if !floats.EqualApprox(model, got.Model.RawRowView(i), 1e-12) {
			t.Errorf("cluster %d: model %v, want %v", i, got.Model.RawRowView(i), model)
		}
	}
	o.Clusters = 5
	var faint *ErrTooNoisy
	if _, err := c.Group(context.Background(), nil, o); !errors.As(err, &faint) || faint.Kept != 4 {
		t.Errorf("five clusters of four cells: %v", err)
	}
}

// Sizes add up to a number without noise, so their covariances add up to zero.
func TestCellCovariance(t *testing.T) {
	c := Cells{Counts: make([]float64, 16), Noise: CellNoise{Count: 9}}
	sizes := []int{3, 5, 0, 8}
	for i, a := range sizes {
		var sum float64
		for j, b := range sizes {
			sum += c.Covariance(a, b, i == j)
		}
		if math.Abs(sum) > 1e-12 {
			t.Errorf("covariances of %d cells add up to %v", a, sum)
		}
	}
	if got := c.Covariance(16, 16, true); got != 0 {
		t.Errorf("variance of all cells %v", got)
	}
	if got := c.Covariance(4, 4, true); got != 9*(4-1) {
		t.Errorf("variance of 4 of 16 cells %v", got)
	}
}

func TestGroupProjects(t *testing.T) {
	space := &Subspace{Through: []float64{0, 3}, Axes: mat.NewDense(2, 1, []float64{1, 0})}
	got, err := fewCells().Group(context.Background(), space, Options{Clusters: 2, Rand: rand.New(rand.NewPCG(3, 3))})
	if err != nil {
		t.Fatal(err)
	}
	for c := range 2 {
		row := got.Model.RawRowView(c)
		if math.Abs(row[0]) < 1 || math.Abs(row[1]-3) > 1e-12 {
			t.Errorf("model %v is not in the subspace", row)
		}
	}
}

// Well separated clusters of a few cells each are counted.
func TestSuggest(t *testing.T) {
	source := rand.New(rand.NewPCG(4, 4))
	ring := func(clusters int, apart float64) Cells {
		c := Cells{Sums: mat.NewDense(24, 2, nil), Noise: CellNoise{Count: 1}}
		for i := range 24 {
			angle := 2 * math.Pi * float64(i%clusters) / float64(clusters)
			c.Counts = append(c.Counts, 100)
			c.Sums.SetRow(i, []float64{100 * (apart*math.Cos(angle) + 0.3*source.NormFloat64()), 100 * (apart*math.Sin(angle) + 0.3*source.NormFloat64())})
		}
		return c
	}
	for _, test := range []struct {
		clusters int
		apart    float64
		want     int
	}{{3, 4, 3}, {4, 4, 4}} {
		c := ring(test.clusters, test.apart)
		got, err := c.Suggest(context.Background(), nil, test.apart*test.apart+2*0.25, 8, Options{Rand: source})
		if err != nil || got != test.want {
			t.Errorf("%d clusters: suggested %d, %v", test.clusters, got, err)
		}
	}
	few := fewCells()
	if got, err := few.Suggest(context.Background(), nil, 1, 8, Options{Rand: source}); err != nil || got != 0 {
		t.Errorf("four cells suggest %d clusters, %v", got, err)
	}
}
