package audit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
)

// What publications state about how little a projection reveals, and how they measure it, compared
// with experiments. research/docs/errata.md names these tests. All seeds are fixed.

func normals(rng *rand.Rand, rows, cols int, scale float64) *mat.Dense {
	out := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			out.Set(i, j, scale*rng.NormFloat64())
		}
	}
	return out
}

// Liu 2006, VI-A, measures privacy by the error of Rᵀu. Its relative square is (d+1)/k, which
// exceeds 1 for k ≤ d: guessing zero is better. The shortest x with Rx = u has 1 - k/d.
func TestErrataReconstructionError(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const d, k, trials = 60, 30, 200
	var transposed, shortest float64
	for range trials {
		r := normals(rng, k, d, 1/math.Sqrt(k))
		x := mat.NewVecDense(d, nil)
		for i := range d {
			x.SetVec(i, rng.NormFloat64())
		}
		var u, back, least mat.VecDense
		u.MulVec(r, x)
		back.MulVec(r.T(), &u)
		if err := least.SolveVec(r, &u); err != nil {
			t.Fatal(err)
		}
		back.SubVec(&back, x)
		least.SubVec(&least, x)
		transposed += mat.Dot(&back, &back) / mat.Dot(x, x) / trials
		shortest += mat.Dot(&least, &least) / mat.Dot(x, x) / trials
	}
	t.Logf("Rᵀu %.3f, the shortest %.3f", transposed, shortest)
	if math.Abs(transposed/((d+1.)/k)-1) > 0.05 || math.Abs(shortest-(1-float64(k)/d)) > 0.03 {
		t.Errorf("relative errors %.3f and %.3f, want %.3f and %.3f", transposed, shortest, (d+1.)/k, 1-float64(k)/d)
	}
}

// pursue is orthogonal matching pursuit: it selects weight columns of r, one after the other, that
// explain u.
func pursue(r *mat.Dense, u *mat.VecDense, weight int) ([]int, error) {
	k, d := r.Dims()
	var chosen []int
	rest := mat.VecDenseCopyOf(u)
	for range weight {
		best, at := -1.0, 0
		for j := range d {
			if fit := math.Abs(mat.Dot(r.ColView(j), rest)); fit > best && !slices.Contains(chosen, j) {
				best, at = fit, j
			}
		}
		chosen = append(chosen, at)
		basis := mat.NewDense(k, len(chosen), nil)
		for i, j := range chosen {
			basis.SetCol(i, mat.Col(nil, j, r))
		}
		var weights, explained mat.VecDense
		if err := weights.SolveVec(basis, u); err != nil {
			return nil, err
		}
		explained.MulVec(basis, &weights)
		rest.SubVec(u, &explained)
	}
	return chosen, nil
}

// Liu 2006, VI-A, and Dhaliwal 2019 claim that no element can be found even if R is known. With k =
// 80 for 200 values of which ten are 1, plain matching pursuit recovers most records exactly, to
// the last value.
func TestErrataSparseRecordsAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	const d, k, weight, trials = 200, 80, 10, 60
	exact := 0
	for range trials {
		r := normals(rng, k, d, 1/math.Sqrt(k))
		ones := rng.Perm(d)[:weight]
		x := mat.NewVecDense(d, nil)
		for _, i := range ones {
			x.SetVec(i, 1)
		}
		var u mat.VecDense
		u.MulVec(r, x)
		found, err := pursue(r, &u, weight)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(found)
		slices.Sort(ones)
		if slices.Equal(found, ones) {
			exact++
		}
	}
	t.Logf("%d of %d records exactly", exact, trials)
	if exact < trials*6/10 {
		t.Errorf("only %d of %d records were found", exact, trials)
	}
}

// Liu 2006, IV: four sources mixed into two cannot be separated exactly. This means little: a
// source of high energy is nearly unchanged in the mixture, before any analysis.
func TestErrataMixturesShowStrongSources(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const n, trials = 2000, 50
	var shown []float64
	for range trials {
		r := normals(rng, 2, 4, 1)
		sources := normals(rng, 4, n, 1)
		for j := range n {
			sources.Set(0, j, 10*sources.At(0, j))
		}
		var mixed mat.Dense
		mixed.Mul(r, sources)
		best := 0.0
		for i := range 2 {
			a, b := mixed.RawRowView(i), sources.RawRowView(0)
			var ab, aa, bb float64
			for j := range n {
				ab, aa, bb = ab+a[j]*b[j], aa+a[j]*a[j], bb+b[j]*b[j]
			}
			best = max(best, math.Abs(ab/math.Sqrt(aa*bb)))
		}
		shown = append(shown, best)
	}
	slices.Sort(shown)
	if median := shown[trials/2]; median < 0.97 {
		t.Errorf("in the middle the source correlates %.3f with a coordinate", median)
	}
}

// Liu 2006, table III: its error rate compares the sizes of clusters, half the sum of their
// differences. If clusters exchange records but keep their sizes, this rate is zero.
func TestErrataSizesAreNoErrorRate(t *testing.T) {
	before, after := make([]int, 600), make([]int, 600)
	for i := range before {
		before[i] = i / 100
		after[i] = before[i]
		if i%100 < 30 { // each cluster passes 30 of its records to the next
			after[i] = (before[i] + 1) % 6
		}
	}
	var sizes [6]int
	for i := range before {
		sizes[before[i]]++
		sizes[after[i]]--
	}
	for c, difference := range sizes {
		if difference != 0 {
			t.Errorf("cluster %d changed its size by %d", c, difference)
		}
	}
	agree, err := cluster.Agreement(before, after)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(agree-0.7) > 1e-12 {
		t.Errorf("agreement %.3f, want .7", agree)
	}
}

// Liu 2006, table IV: the printed standard deviation of the ten folds divides by ten, not nine.
func TestErrataFoldsDeviation(t *testing.T) {
	folds := []float64{66.67, 80, 100, 80, 93.33, 86.67, 80, 93.33, 93.33, 93.33}
	var mean, squares float64
	for _, f := range folds {
		mean += f / 10
	}
	for _, f := range folds {
		squares += (f - mean) * (f - mean)
	}
	if math.Abs(mean-86.67) > 0.01 || math.Abs(math.Sqrt(squares/10)-9.43) > 0.01 || math.Abs(math.Sqrt(squares/9)-9.94) > 0.01 {
		t.Errorf("mean %.2f, deviation %.2f or %.2f", mean, math.Sqrt(squares/10), math.Sqrt(squares/9))
	}
}

// Dhaliwal 2019, lemma 1 bounds the l1 norm of R's rows by √k times their l2 norm, at most 2√k. The
// largest l1 norm, which is the exact sensitivity for one value, is 4 at k = 10, where the paper
// uses 6.3.
func TestErrataElementSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for _, c := range []struct {
		d, k   int
		median float64
	}{{50, 10, 3.97}, {100, 20, 5.21}} {
		var longest []float64
		for range 300 {
			p := normals(rng, c.d, c.k, 1/math.Sqrt(float64(c.k)))
			most := 0.0
			for i := range c.d {
				most = max(most, mat.Norm(p.RowView(i).T(), math.Inf(1))) // of a row: Σ|p|
			}
			longest = append(longest, most)
		}
		slices.Sort(longest)
		if median := longest[150]; math.Abs(median/c.median-1) > 0.02 || median > 0.7*2*math.Sqrt(float64(c.k)) {
			t.Errorf("d = %d, k = %d: longest row %.2f in the middle, want %.2f", c.d, c.k, median, c.median)
		}
	}
}

// Dhaliwal 2019, theorem 5, holds for a pair of rows chosen before P. If P is known, as the parties
// know it, the worst pair moves a sketch by the operator norm |P| from l2 to l1. This exceeds the
// calibration √(2k ln 2k) for a third of all P at k = 2 and nearly all at k = 10. The privacy loss
// at a claim of ε = 4 is then at least 5.
func TestErrataRowSensitivityIsNotUniform(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, c := range []struct {
		d, k        int
		least, most float64 // share of all P
		worst       float64 // least ε at a claim of 4
	}{{3, 2, 0.1, 0.45, 4.2}, {10, 3, 0.6, 0.95, 4.5}, {50, 10, 0.99, 1, 4.5}} {
		calibrated := math.Sqrt(2 * float64(c.k) * math.Log(2*float64(c.k)))
		above, worst := 0, 0.0
		const trials = 100
		for range trials {
			p := normals(rng, c.d, c.k, 1/math.Sqrt(float64(c.k)))
			reached := 0.0
			signs := mat.NewVecDense(c.k, nil)
			for pattern := range 1 << (c.k - 1) { // max |vP|₁ over |v|₂ ≤ 1 is max |Ps|₂ over signs s
				for j := range c.k {
					signs.SetVec(j, float64(1-2*(pattern>>j&1)))
				}
				var moved mat.VecDense
				moved.MulVec(p, signs)
				reached = max(reached, mat.Norm(&moved, 2))
			}
			if reached > calibrated {
				above++
			}
			worst = max(worst, 4*reached/calibrated)
		}
		share := float64(above) / trials
		t.Logf("d = %d, k = %d: above %.2f for %.2f of P, ε up to %.2f", c.d, c.k, calibrated, share, worst)
		if share < c.least || share > c.most || worst < c.worst {
			t.Errorf("d = %d, k = %d: above the calibration for %.2f of P, ε up to %.2f", c.d, c.k, share, worst)
		}
	}
}
