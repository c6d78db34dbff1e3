package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// crossed draws a table of 4 × 5 of n records, of which a part has the column that goes with its row.
func crossed(rng *rand.Rand, n int, dependent float64) []float64 {
	out := make([]float64, 20)
	for range n {
		i := min(int(4*math.Pow(rng.Float64(), 1.5)), 3)
		j := rng.IntN(5)
		if rng.Float64() < dependent {
			j = i
		}
		out[5*i+j]++
	}
	return out
}

func cramer(cells []float64, rows, cols int) float64 {
	c, err := NewCounted(cells, rows, cols, 0, sumOf(cells))
	if err != nil {
		panic(err)
	}
	return c.V(0).Interval.Estimate
}

func sumOf(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

func noisy(rng *rand.Rand, cells []float64, sd float64) []float64 {
	out := make([]float64, len(cells))
	for i, n := range cells {
		out[i] = n + sd*rng.NormFloat64()
	}
	return out
}

// Intervals of cells, of their parts of rows and columns, and of V cover as often as they say, with the noise of ten
// tables of three parties at ε = 1 (laplace).
func TestCountedCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	sd := math.Sqrt(3) * math.Sqrt2 * 10
	const trials, slow = 8000, 500 // V takes longer
	for _, dependent := range []float64{0, 0.1, 0.4, 0.8} {
		cells := crossed(rng, 15_000, dependent)
		v := cramer(cells, 4, 5)
		var cell, row, column, cramers float64
		for trial := range trials {
			c, err := NewCounted(noisy(rng, cells, sd), 4, 5, sd*sd, 15_000)
			if err != nil {
				t.Fatal(err)
			}
			i, j := rng.IntN(4), rng.IntN(5)
			truth := cells[5*i+j]
			var inRow, inColumn float64
			for k := range 5 {
				inRow += cells[5*i+k]
			}
			for k := range 4 {
				inColumn += cells[5*k+j]
			}
			holds := func(e Estimate, truth float64) float64 {
				if !e.Defined() {
					t.Fatal(e)
				}
				if e.Low-1e-9 <= truth && truth <= e.High+1e-9 {
					return 1
				}
				return 0
			}
			cell += holds(c.Cell(i, j, 0), truth) / trials
			row += holds(c.OfRow(i, j, 0), truth/inRow) / trials
			column += holds(c.OfColumn(i, j, 0), truth/inColumn) / trials
			if trial < slow {
				cramers += holds(c.V(0), v) / slow
			}
		}
		t.Logf("dependent %v, V %.3f: coverage of cells %.3f, of rows %.3f, of columns %.3f, of V %.3f", dependent, v, cell, row, column, cramers)
		for what, covered := range map[string]float64{"cells": cell, "rows": row, "columns": column} {
			if covered < 0.94 || covered > 0.96 {
				t.Errorf("dependent %v: %s are covered %.3f", dependent, what, covered)
			}
		}
		if cramers < 0.92 || cramers > 0.995 {
			t.Errorf("dependent %v: V is covered %.3f", dependent, cramers)
		}
	}
}

// Cramér's V by hand: a table of 2 × 2 that depends wholly has 1, one that does not 0, and χ² = 8 of 50 makes 0.4.
func TestCramersV(t *testing.T) {
	for _, c := range []struct {
		cells []float64
		want  float64
	}{{[]float64{10, 0, 0, 30}, 1}, {[]float64{10, 20, 20, 40}, 0}, {[]float64{15, 10, 5, 20}, math.Sqrt(25. / 3 / 50)}} {
		if got := cramer(c.cells, 2, 2); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.cells, got, c.want)
		}
	}
	c, err := NewCounted([]float64{5, 4, 6, 5}, 2, 2, 400, 20)
	if err != nil || c.V(0).Defined() || c.OfRow(0, 0, 0).Defined() {
		t.Errorf("a table of noise has %v and %v: %v", c.V(0), c.OfRow(0, 0, 0), err)
	}
	if _, err := NewCounted([]float64{1, 2, 3}, 2, 2, 1, 6); err == nil {
		t.Error("three cells are taken for four")
	}
}

// The noncentral χ² is what sums of squares of moved normals make, and at many degrees near its normal limit.
func TestNoncentralChiSquared(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const draws = 40_000
	for _, nc := range []float64{0, 3, 60} {
		for _, x := range []float64{4, 20, 70} {
			hits := 0.0
			for range draws {
				first := rng.NormFloat64() + math.Sqrt(nc)
				sum := first * first
				for range 11 {
					z := rng.NormFloat64()
					sum += z * z
				}
				if sum <= x {
					hits++
				}
			}
			if p := noncentralChiSquared(x, 12, nc); math.Abs(p-hits/draws) > 0.012 {
				t.Errorf("noncentrality %v, at most %v: %.4f, drawn %.4f", nc, x, p, hits/draws)
			}
		}
	}
	just, above := noncentralChiSquared(manyNoncentral-25, 12, manyNoncentral), noncentralChiSquared(manyNoncentral-25, 12, manyNoncentral+1e-6)
	if math.Abs(just-above) > 0.01 {
		t.Errorf("the mixture has %.4f, the normal law %.4f", just, above)
	}
}

// binned are the counts of values in a tree of bins of equal width between two ends.
func binned(values []float64, lo, hi float64, depth int) [][]float64 {
	out := make([][]float64, depth)
	for l := range out {
		out[l] = make([]float64, 2<<l)
		for _, v := range values {
			out[l][min(max(int((v-lo)/(hi-lo)*float64(int(2)<<l)), 0), 2<<l-1)]++
		}
	}
	return out
}

// Of ten columns at ε = 1, three parties of 5,000 records each: the median of skewed columns is within 1 % of rank,
// and intervals hold the quantile of the records.
func TestTreeQuantiles(t *testing.T) {
	const n, depth, trials = 15_000, 10, 150
	sd := math.Sqrt(3) * math.Sqrt(10*depth) / 0.2367 // gaussian, δ 1e-6, of ten trees of as many tables
	for _, c := range []struct {
		name   string
		lo, hi float64
		draw   func(*rand.Rand) float64
	}{
		{"lognormal", 0, 50, func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) }},
		{"Pareto", 1, 200, func(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -1/2.2) }},
		{"normal", -4, 4, func(r *rand.Rand) float64 { return r.NormFloat64() }},
	} {
		rng := rand.New(rand.NewPCG(5, 3))
		values := make([]float64, n)
		for i := range values {
			values[i] = c.draw(rng)
		}
		edges := make([]float64, 1<<depth+1)
		for i := range edges {
			edges[i] = c.lo + (c.hi-c.lo)*float64(i)/float64(len(edges)-1)
		}
		rank := func(x float64) (below float64) {
			for _, v := range values {
				if v < x {
					below++
				}
			}
			return below / n
		}
		exact := binned(values, c.lo, c.hi, depth)
		for _, q := range []float64{0.1, 0.5, 0.9} {
			var square, covered float64
			for range trials {
				levels := make([][]float64, depth)
				for l := range levels {
					levels[l] = noisy(rng, exact[l], sd)
				}
				tree, err := NewTree(levels, sd*sd, Noisy{Value: n})
				if err != nil {
					t.Fatal(err)
				}
				e := tree.Quantile(q, edges, 0)
				off := rank(e.Interval.Estimate) - q
				square += off * off / trials
				if rank(e.Low) <= q && q <= rank(e.High) {
					covered += 1. / trials
				}
			}
			rmse := math.Sqrt(square)
			t.Logf("%s, q %v: rank errs by %.4f, covered %.3f", c.name, q, rmse, covered)
			if covered < 0.93 || q == 0.5 && rmse > 0.01 {
				t.Errorf("%s, q %v: rank errs by %.4f, covered %.3f", c.name, q, rmse, covered)
			}
		}
	}
}

// The variances that a tree knows of its prefixes are those of its noise, with a public total and a noisy one, and without
// noise nothing is changed.
func TestTreeKnowsItsNoise(t *testing.T) {
	const depth, trials = 5, 6000
	rng := rand.New(rand.NewPCG(4, 4))
	leaves := make([]float64, 1<<depth)
	for i := range leaves {
		leaves[i] = 1000 * (1 + rng.Float64()) // so that edges stay apart
	}
	exact := make([][]float64, depth)
	total := sumOf(leaves)
	for l := range exact {
		exact[l] = make([]float64, 2<<l)
		for i, n := range leaves {
			exact[l][i>>(depth-1-l)] += n
		}
	}
	for _, totalVariance := range []float64{0, 30} {
		squares := make([]float64, len(leaves)+1)
		var tree *Tree
		for range trials {
			levels := make([][]float64, depth)
			for l := range levels {
				levels[l] = noisy(rng, exact[l], 10)
			}
			var err error
			tree, err = NewTree(levels, 100, Noisy{Value: total + math.Sqrt(totalVariance)*rng.NormFloat64(), Variance: totalVariance})
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for i := range squares {
				d := tree.below[i] - sum
				squares[i] += d * d / trials
				if i < len(leaves) {
					sum += leaves[i]
				}
			}
		}
		for i, got := range squares {
			want := tree.variances[i] + tree.part[i]*tree.part[i]*tree.total.Variance
			if math.Abs(got-want) > 0.1*want+1e-9 {
				t.Errorf("total of variance %v: below edge %d errs by %.3g, said %.3g", totalVariance, i, got, want)
			}
		}
	}
	tree, err := NewTree(exact, 0, Noisy{Value: total})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, n := range leaves {
		if math.Abs(tree.below[i]-sum) > 1e-6 {
			t.Errorf("without noise %v are below edge %d, want %v", tree.below[i], i, sum)
		}
		sum += n
	}
}
