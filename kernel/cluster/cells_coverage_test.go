package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// exactCells are sums of records without noise, and the moments that place them.
type exactCells struct {
	records int
	cells   Cells
	of      Gaussian
	h       *mat.Dense
}

// cellsOf sums n records with a random partition.
func cellsOf(n, d, l int, draw func(into []float64), rng *rand.Rand) exactCells {
	out := exactCells{records: n, h: directionsOf(d, l, rng), of: Gaussian{Mean: make([]float64, d)}}
	out.cells = Cells{Counts: make([]float64, 1<<l), Sums: mat.NewDense(1<<l, d, nil), Records: float64(n)}
	second, x := mat.NewSymDense(d, nil), make([]float64, d)
	for range n {
		draw(x)
		cell := signCell(x, out.h)
		out.cells.Counts[cell]++
		floats.Add(out.cells.Sums.RawRowView(cell), x)
		floats.AddScaled(out.of.Mean, 1/float64(n), x)
		second.SymRankOne(second, 1/float64(n), mat.NewVecDense(d, x))
	}
	second.SymRankOne(second, -1, mat.NewVecDense(d, out.of.Mean))
	out.of.Covariance = second
	return out
}

// noised adds noise to counts and sums. The noise of moments is small in comparison and left out.
func (e exactCells) noised(noise CellNoise, rng *rand.Rand) Cells {
	out := Cells{Counts: append([]float64(nil), e.cells.Counts...), Sums: mat.DenseCopyOf(e.cells.Sums), Records: e.cells.Records, Noise: noise}
	for i := range out.Counts {
		out.Counts[i] += math.Sqrt(noise.Count) * rng.NormFloat64()
		for j := range e.of.Mean {
			out.Sums.Set(i, j, out.Sums.At(i, j)+math.Sqrt(noise.Sum)*rng.NormFloat64())
		}
	}
	return out
}

// Intervals cover the true number of records, in designs in which intervals of only the cells that
// stand out of the noise fail: the noise decides which cells do.
func TestIntervalsOfCellsCover(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation; others look at the workers")
	}
	const draws, partitions, parties, z = 800, 8, 3, 1.959964
	mu := 0.2367 * math.Sqrt(0.75) // of ε = 1, less the moments' share
	sd := math.Sqrt2 / mu * math.Sqrt(parties)
	type tally struct{ held, of float64 }
	share := func(a tally) float64 { return a.held / a.of }
	for _, test := range []struct {
		n, d, l, clusters int
		weak              bool // clusters; otherwise one normal cloud, correlated by .49
		fails             bool // whether the interval of the kept cells fails
	}{
		{12_600, 8, 8, 4, false, true},
		{3000, 6, 6, 3, false, true},
		{6000, 6, 8, 3, false, true},
		{20_000, 16, 9, 8, true, true},
		{20_000, 16, 7, 8, true, false},
	} {
		name := fmt.Sprintf("%d records, %d columns, %d cells, %d clusters", test.n, test.d, 1<<test.l, test.clusters)
		var sizes, old, means tally
		for partition := range partitions {
			rng := rand.New(rand.NewPCG(uint64(partition), uint64(test.n+test.l)))
			_, draw := correlated(test.d, 0.49, rng)
			if test.weak {
				draw = weakClusters(test.d, test.clusters, rng)
			}
			exact := cellsOf(test.n, test.d, test.l, draw, rng)
			places, err := Places(exact.of, exact.h)
			if err != nil {
				t.Fatal(err)
			}
			noise := CellNoise{Count: sd * sd, Sum: sd * sd * float64(test.d) / 9 * 1.5 * 1.5}
			for range draws / partitions {
				c := exact.noised(noise, rng)
				c.Places = places
				found, err := c.Group(context.Background(), nil, Options{Clusters: test.clusters, Restarts: 3, Rand: rng})
				if err != nil {
					t.Fatal(err)
				}
				truth, sums := make([]float64, test.clusters), mat.NewDense(test.clusters, test.d, nil)
				for i := range c.Counts {
					at := Nearest(found.Model, places.RawRowView(i))
					truth[at] += exact.cells.Counts[i]
					floats.Add(sums.RawRowView(at), exact.cells.Sums.RawRowView(i))
				}
				for k, one := range found.Clusters {
					if one.Cells == 0 {
						continue
					}
					v := c.Covariance(one.Cells, one.Cells, true)
					sizes.of++
					if math.Abs(one.Records-truth[k]) <= z*math.Sqrt(v) {
						sizes.held++
					}
					if one.Records < 4*math.Sqrt(v) {
						continue
					}
					for j, s := range one.Sums { // by Fieller's method
						mean := sums.At(k, j) / truth[k]
						means.of++
						if off := s - mean*one.Records; off*off <= z*z*(float64(one.Cells)*noise.Sum+mean*mean*v) {
							means.held++
						}
					}
				}
				var kept, true float64
				heard := c.significant()
				for _, i := range heard {
					kept, true = kept+c.Counts[i], true+exact.cells.Counts[i]
				}
				old.of++
				if math.Abs(kept-true) <= z*sd*math.Sqrt(float64(len(heard))) {
					old.held++
				}
			}
		}
		t.Logf("%s: sizes %.3f, means %.3f, number in kept cells %.3f", name, share(sizes), share(means), share(old))
		if share(sizes) < 0.93 || share(means) < 0.93 {
			t.Errorf("%s: sizes are held in %.3f of %.0f, means in %.3f of %.0f", name, share(sizes), sizes.of, share(means), means.of)
		}
		if test.fails && share(old) > 0.85 {
			t.Errorf("%s: the number in kept cells is held in %.3f, which is well: this tells nothing", name, share(old))
		}
	}
}

// weakClusters draws records around centres that are about as far apart as the records' spread.
func weakClusters(d, k int, rng *rand.Rand) func(into []float64) {
	centres := mat.NewDense(k, d, nil)
	for i := range k {
		for j := range d {
			centres.Set(i, j, rng.NormFloat64()/5)
		}
	}
	return func(into []float64) {
		copy(into, centres.RawRowView(rng.IntN(k)))
		for j := range into {
			into[j] += rng.NormFloat64() / 3.5
		}
	}
}
