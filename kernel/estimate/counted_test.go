package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// crossed draws a table of 4 × 5 of n records. In a fraction dependent of these the column is
// determined by the row.
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
	c, err := NewCounted(cells, rows, cols, CountNoise{}, sumOf(cells), 0)
	if err != nil {
		panic(err)
	}
	return c.Associated(rows, cols).V.Interval.Estimate
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

// covers is 1 if the interval contains the truth, else 0.
func covers(e Estimate, truth float64) float64 {
	if e.Low-1e-9 <= truth && truth <= e.High+1e-9 {
		return 1
	}
	return 0
}

// Intervals of cells, of their fractions of rows and columns, and of V have their stated coverage,
// with the noise of ten tables of three parties at ε = 1 (laplace).
func TestCountedCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	sd := math.Sqrt(3) * math.Sqrt2 * 10
	const trials, slow = 4000, 500 // slow is for V
	for _, dependent := range []float64{0, 0.1, 0.4, 0.8} {
		cells := crossed(rng, 15_000, dependent)
		v := cramer(cells, 4, 5)
		var cell, row, column, cramers float64
		for trial := range trials {
			c, err := NewCounted(noisy(rng, cells, sd), 4, 5, CountNoise{Variance: sd * sd}, 15_000, 0)
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
				return covers(e, truth)
			}
			cell += holds(c.Cell(i, j), truth) / trials
			row += holds(c.OfRow(i, j), truth/inRow) / trials
			column += holds(c.OfColumn(i, j), truth/inColumn) / trials
			if trial < slow {
				cramers += holds(c.Associated(4, 5).V, v) / slow
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

// Cramér's V by hand: it is 1 for a 2 × 2 table that is fully dependent, 0 for an independent one,
// and 0.4 for χ² = 8 of 50.
func TestCramersV(t *testing.T) {
	for _, c := range []struct {
		cells []float64
		want  float64
	}{{[]float64{10, 0, 0, 30}, 1}, {[]float64{10, 20, 20, 40}, 0}, {[]float64{15, 10, 5, 20}, math.Sqrt(25. / 3 / 50)}} {
		if got := cramer(c.cells, 2, 2); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.cells, got, c.want)
		}
	}
	c, err := NewCounted([]float64{5, 4, 6, 5}, 2, 2, CountNoise{Variance: 400}, 20, 0)
	if v := c.Associated(2, 2).V; err != nil || v.Defined() || c.OfRow(0, 0).Defined() {
		t.Errorf("a table of noise has %v and %v: %v", v, c.OfRow(0, 0), err)
	}
	if _, err := NewCounted([]float64{1, 2, 3}, 2, 2, CountNoise{Variance: 1}, 6, 0); err == nil {
		t.Error("three cells are taken for four")
	}
}

// The noncentral χ² is the distribution of sums of squares of shifted normals. With a large
// noncentrality it is near its normal limit.
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

// binned returns the counts of values in a tree of bins of equal width between two ends.
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

// Ten columns at ε = 1, three parties of 5,000 records each: the median of skewed columns is within
// 1 % of rank, and intervals contain the quantile of the records.
func TestTreeQuantiles(t *testing.T) {
	const n, depth, trials = 15_000, 10, 150
	sd := math.Sqrt(3) * math.Sqrt(10*depth) / 0.2367 // gaussian, δ 1e-6, for ten trees of depth tables each
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
				tree, err := NewTree(levels, CountNoise{Variance: sd * sd}, Noisy{Value: n})
				if err != nil {
					t.Fatal(err)
				}
				e, _ := tree.Quantile(q, edges, 0)
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

// A tree's variances of its prefixes are those of its noise, with a public total and a noisy one.
// Without noise nothing changes.
func TestTreeKnowsItsNoise(t *testing.T) {
	const depth, trials = 5, 6000
	rng := rand.New(rand.NewPCG(4, 4))
	leaves := make([]float64, 1<<depth)
	for i := range leaves {
		leaves[i] = 1000 * (1 + rng.Float64()) // so that edges are distinct
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
		var tree *Ranked
		for range trials {
			levels := make([][]float64, depth)
			for l := range levels {
				levels[l] = noisy(rng, exact[l], 10)
			}
			var err error
			tree, err = NewTree(levels, CountNoise{Variance: 100}, Noisy{Value: total + math.Sqrt(totalVariance)*rng.NormFloat64(), Variance: totalVariance})
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for i := range squares {
				d := tree.raw[i] - sum
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
	tree, err := NewTree(exact, CountNoise{}, Noisy{Value: total})
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

// laplaces is the sum of the parties' integer Laplace noise of a scale.
func laplaces(rng *rand.Rand, parties int, scale float64) (sum float64) {
	for range parties {
		sum += math.Floor(rng.ExpFloat64()*scale) - math.Floor(rng.ExpFloat64()*scale)
	}
	return sum
}

// discrete is the variance of such noise from one party.
func discrete(scale float64) float64 {
	p := math.Exp(-1 / scale)
	return 2 * p / (1 - p) / (1 - p)
}

// The quantile of one Laplace variable is ln(1/2p)/√2. That of a sum of many is near the normal
// one.
func TestLaplaceQuantile(t *testing.T) {
	for _, tail := range []float64{0.025, 1e-4, 1e-8} {
		if got, want := laplaceQuantile(1, tail), math.Log(1/(2*tail))/math.Sqrt2; math.Abs(got-want) > 1e-8 {
			t.Errorf("tail %v: %v, want %v", tail, got, want)
		}
		normal := Level(1 - 2*tail).z()
		if got := laplaceQuantile(200, tail); got < normal-0.02 || got > normal*1.02 {
			t.Errorf("tail %v of 200: %v beside %v", tail, got, normal)
		}
	}
}

// Intervals that must hold simultaneously do so under Laplace noise of one party and of three, weak
// and strong. Those of a normal distribution would often not.
func TestCountedHoldsTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	const trials, wide = 1000, 40
	cells := make([]float64, wide)
	for i := range cells {
		cells[i] = 500
	}
	for _, parties := range []int{1, 3} {
		for _, scale := range []float64{0.4, 10} {
			noise := CountNoise{Variance: float64(parties) * discrete(scale), Laplace: parties}
			var together, each float64
			for range trials {
				noised := make([]float64, wide)
				for i, n := range cells {
					noised[i] = n + laplaces(rng, parties, scale)
				}
				c, err := NewCounted(noised, wide, 1, noise, 500*wide, Level(0.95).Bonferroni(wide))
				alone, wrong := NewCounted(noised, wide, 1, noise, 500*wide, 0)
				if err != nil || wrong != nil {
					t.Fatal(err, wrong)
				}
				all := 1.0
				for i := range cells {
					all *= covers(c.Cell(i, 0), 500)
				}
				together += all / trials
				each += covers(alone.Cell(0, 0), 500) / trials
			}
			t.Logf("%d parties, scale %v: each covered %.3f, together %.3f", parties, scale, each, together)
			if together < 0.93 || each < 0.93 || scale > 1 && each > 0.975 {
				t.Errorf("%d parties, scale %v: each covered %.3f, together %.3f", parties, scale, each, together)
			}
		}
	}
}

// Rows that do not stand out, and cells of absent values, are left out of V, which is of the rest.
// For the population, intervals cover the distribution that records were drawn from.
func TestAssociatedOfWhatStandsOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	const n, trials = 15_000, 800
	sd := math.Sqrt(3) * math.Sqrt2 * 4
	for _, dependent := range []float64{0.02, 0.3, 0.7} {
		law := make([]float64, 5*4) // 3 × 3, a rare row and a rare column; the last ones are for absent values
		shares := []float64{0.5, 0.3, 0.1995, 0.0005, 0}
		for i, r := range shares {
			for j, c := range shares[:3] {
				law[4*i+j] = r * (c + shares[3]/3) * (1 - dependent)
			}
			if i < 3 {
				law[4*i+i] += r * dependent
			}
		}
		truth := cramerOf(law, 4, 3)
		var records, people, cell, share float64
		for range trials {
			counts := make([]float64, len(law))
			for range n {
				u, at := rng.Float64(), 0
				for ; at < len(law)-1 && u >= law[at]; at++ {
					u -= law[at]
				}
				counts[at]++
			}
			c, err := NewCounted(noisy(rng, counts, sd), 5, 4, CountNoise{Variance: sd * sd}, n, 0)
			if err != nil {
				t.Fatal(err)
			}
			a := c.Associated(4, 3)
			if len(a.Rows) != 3 || len(a.Columns) != 3 || !a.V.Defined() {
				t.Fatalf("of %v and %v: %v", a.Rows, a.Columns, a.V)
			}
			var own []float64
			for i := range 3 {
				own = append(own, counts[4*i:4*i+3]...)
			}
			records += covers(a.V, cramer(own, 3, 3)) / trials
			wide := func(e Estimate) Estimate {
				e.Low, e.High = e.Population.Low, e.Population.High
				return e
			}
			people += covers(wide(a.V), truth) / trials
			cell += covers(wide(c.Cell(1, 1)), n*law[5]) / trials
			share += covers(wide(c.OfRow(1, 1)), law[5]/shares[1]) / trials
		}
		t.Logf("dependent %v, V %.3f: covered %.3f for these records, %.3f for people like these; a cell %.3f, a share %.3f for people", dependent, truth, records, people, cell, share)
		if records < 0.92 || people < 0.92 || cell < 0.92 || share < 0.92 || cell > 0.98 || share > 0.98 {
			t.Errorf("dependent %v, V %.3f: covered %.3f for these records, %.3f for people like these; a cell %.3f, a share %.3f for people", dependent, truth, records, people, cell, share)
		}
	}
}

// cramerOf is Cramér's V of the first rows and columns of a distribution over four columns.
func cramerOf(law []float64, rows, cols int) float64 {
	var own []float64
	for i := range rows {
		own = append(own, law[4*i:4*i+cols]...)
	}
	c, err := NewCounted(own, rows, cols, CountNoise{}, sumOf(own), 0)
	if err != nil {
		panic(err)
	}
	all := Association{}
	for i := range rows {
		all.Rows = append(all.Rows, i)
	}
	for j := range cols {
		all.Columns = append(all.Columns, j)
	}
	return c.v(all).Interval.Estimate
}

// Bins of one table give quantiles, and histograms of tables and trees have bars that cover, with
// and without absent values.
func TestRankedBins(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	const n, trials, depth, bins, absent = 9000, 300, 8, 40, 1000
	sd := 30.0
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Exp(rng.NormFloat64())
	}
	exact := binned(values, 0, 20, depth)
	flat := make([]float64, bins+1)
	for _, v := range values {
		flat[min(int(2*v), bins-1)]++
	}
	flat[bins] = absent
	rank := func(x float64) (below float64) {
		for _, v := range values {
			if v < x {
				below++
			}
		}
		return below
	}
	for _, tree := range []bool{true, false} {
		var covered, people, bars, total float64
		for range trials {
			var r *Ranked
			var err error
			if tree {
				levels := make([][]float64, depth)
				for l := range levels {
					levels[l] = noisy(rng, exact[l], sd)
				}
				r, err = NewTree(levels, CountNoise{Variance: sd * sd}, Noisy{Value: n + sd/math.Sqrt(depth)*rng.NormFloat64(), Variance: sd * sd / depth})
			} else {
				r, err = NewBins(noisy(rng, flat, sd), true, CountNoise{Variance: sd * sd}, n+absent)
			}
			if err != nil {
				t.Fatal(err)
			}
			edges := make([]float64, r.Bins()+1)
			for i := range edges {
				edges[i] = 20 * float64(i) / float64(r.Bins())
			}
			for _, q := range []float64{0.25, 0.5, 0.9} {
				e, _ := r.Quantile(q, edges, 0)
				if rank(e.Low) <= q*n && q*n <= rank(e.High) {
					covered += 1. / trials / 3
				}
				if e.Population.Low > e.Low || e.Population.High < e.High {
					t.Errorf("tree %v, q %v: %v beside %v", tree, q, e, e.Population)
				}
				if truth := math.Exp(normalQuantile(q)); e.Population.Low <= truth && truth <= e.Population.High {
					people += 1. / trials / 3
				}
			}
			drawn := r.Histogram()
			for i, bar := range drawn {
				if i > 0 && drawn[i-1].To != bar.From || len(drawn) < 5 || len(drawn) > mostBars+2 || drawn[0].From != 0 || drawn[len(drawn)-1].To != r.Bins() {
					t.Fatalf("tree %v: bars %v", tree, drawn)
				}
				truth := rank(edges[bar.To]) - rank(edges[bar.From])
				if bar.To == r.Bins() {
					truth = n - rank(edges[bar.From])
				}
				bars += covers(r.Between(bar, 0), truth) / trials / float64(len(drawn))
			}
			total += covers(r.Total(0), n) / trials
		}
		t.Logf("tree %v: quantiles covered %.3f, of people %.3f, bars %.3f, total %.3f", tree, covered, people, bars, total)
		if covered < 0.93 || people < 0.93 || bars < 0.93 || bars > 0.97 || total < 0.91 || total > 0.985 {
			t.Errorf("tree %v: quantiles covered %.3f, of people %.3f, bars %.3f, total %.3f", tree, covered, people, bars, total)
		}
	}
}

func normalQuantile(q float64) float64 { return math.Sqrt2 * math.Erfinv(2*q-1) }

// For constant, empty and tiny columns the result is what is known, or the reason why nothing is.
func TestRankedOfOddData(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const depth = 6
	edges := make([]float64, 1<<depth+1)
	for i := range edges {
		edges[i] = float64(i)
	}
	of := func(values []float64, sd, total float64) *Ranked {
		levels := binned(values, 0, 1<<depth, depth)
		for l := range levels {
			levels[l] = noisy(rng, levels[l], sd)
		}
		r, err := NewTree(levels, CountNoise{Variance: sd * sd}, Noisy{Value: total, Variance: sd * sd / depth})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	constant := make([]float64, 5000)
	for i := range constant {
		constant[i] = 17
	}
	if e, in := of(constant, 20, 5000).Quantile(0.5, edges, 0); in != (Ends{17, 18}) || e.Low != 17 || e.High != 18 {
		t.Errorf("constant: %v in %v", e, in)
	}
	if e, _ := of(nil, 20, 3).Quantile(0.5, edges, 0); e.Defined() {
		t.Errorf("of no record: %v", e)
	}
	if r := of(nil, 20, 3); r.Histogram() != nil {
		t.Errorf("of no record: %v", r.Histogram())
	}
	if e, _ := of([]float64{3, 40, 50, 60, 61}, 20, 5).Quantile(0.5, edges, 0); e.Defined() {
		t.Errorf("of five records: %v", e)
	}
	if e, in := of(constant, 0, 5000).Quantile(0.5, edges, 0); e.Low != 17 || e.High != 18 || in.From != 17 {
		t.Errorf("without noise: %v", e)
	}
}
