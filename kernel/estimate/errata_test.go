package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

// What the sources state about the error of estimates, compared with simulation.
// research/docs/errata.md names these tests. Seeds are fixed. With other seeds a correct formula
// would fail with probability below 1e-6, at five standard errors of a variance.

// normalMatrix draws the k rows of N(0, 1/k) entries that the sources use, and sketches points with
// them.
func normalMatrix(rng *rand.Rand, k int, points [][]float64) [][]float64 {
	out := make([][]float64, len(points))
	for j := range out {
		out[j] = make([]float64, k)
	}
	for i := range k {
		for d := range points[0] {
			r := rng.NormFloat64() / math.Sqrt(float64(k))
			for j, p := range points {
				out[j][i] += r * p[d]
			}
		}
	}
	return out
}

// spread is the mean and the variance of draws, and five relative standard errors of the variance,
// from the draws' kurtosis.
func spread(draws []float64) (mean, variance, tolerance float64) {
	n := float64(len(draws))
	for _, x := range draws {
		mean += x / n
	}
	var fourth float64
	for _, x := range draws {
		variance += (x - mean) * (x - mean) / n
		fourth += math.Pow(x-mean, 4) / n
	}
	return mean, variance, 5 * math.Sqrt((fourth/(variance*variance)-1)/n)
}

func matches(t *testing.T, what string, draws []float64, right float64, printed ...float64) {
	t.Helper()
	_, variance, tolerance := spread(draws)
	t.Logf("%s: %.4g, corrected %.4g, printed %.4g", what, variance, right, printed)
	if math.Abs(variance/right-1) > tolerance {
		t.Errorf("%s: variance %.4g, corrected formula %.4g", what, variance, right)
	}
	for _, p := range printed {
		if math.Abs(variance/p-1) <= tolerance {
			t.Errorf("%s: variance %.4g does not tell the printed %.4g from it", what, variance, p)
		}
	}
}

// Liu 2006, lemma 5.6: Var[u·v] = (|x|²|y|² + (x·y)²)/k. The last displays of its proof have Σx²y²
// instead of |x|²|y|².
func TestErrataInnerProductVariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const d, k = 20, 16
	points := [][]float64{make([]float64, d), make([]float64, d)}
	var coincident float64
	for i := range d {
		points[0][i], points[1][i] = rng.NormFloat64(), rng.NormFloat64()
		coincident += math.Pow(points[0][i]*points[1][i], 2)
	}
	var draws []float64
	for range 20_000 {
		s := normalMatrix(rng, k, points)
		draws = append(draws, dot(s[0], s[1]))
	}
	product := dot(points[0], points[1])
	right := (dot(points[0], points[0])*dot(points[1], points[1]) + product*product) / k
	matches(t, "inner product", draws, right, (coincident+product*product)/k)
}

// Liu 2006: the variance of a squared distance of unit vectors is 2|x-y|⁴/k, up to 32/k for
// y = -x, and not at most 8/k. Its standard deviation falls as 1/√k, not exponentially.
func TestErrataDistanceBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	points := [][]float64{{0.6, 0.8, 0, 0}, {-0.6, -0.8, 0, 0}}
	deviation := map[int]float64{}
	for _, k := range []int{8, 32} {
		var draws []float64
		for range 20_000 {
			s := normalMatrix(rng, k, points)
			var distance float64
			for i := range k {
				distance += math.Pow(s[0][i]-s[1][i], 2)
			}
			draws = append(draws, distance)
		}
		matches(t, "opposite vectors", draws, 32/float64(k), 8/float64(k))
		_, variance, _ := spread(draws)
		deviation[k] = math.Sqrt(variance)
	}
	if ratio := deviation[8] / deviation[32]; math.Abs(ratio-2) > 0.1 {
		t.Errorf("four times the k has %.3f times less deviation", ratio)
	}
}

// Liu 2006, figure 6(a): the error of inner products has mean zero over matrices R, not over the
// entries of one. Columns of positive numbers share a direction, so within one R all errors are
// correlated. If they were not, the mean of 190 of them would have a standard deviation of 1/√190
// of theirs.
func TestErrataErrorsOfOneMatrixLean(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const d, n, k = 100, 20, 50
	points := make([][]float64, n)
	for j := range points {
		for range d {
			points[j] = append(points[j], rng.Float64())
		}
		length := math.Sqrt(dot(points[j], points[j]))
		for i := range points[j] {
			points[j][i] /= length
		}
	}
	var means, pooled []float64
	for range 400 {
		s := normalMatrix(rng, k, points)
		var sum, count float64
		for a := range n {
			for b := range a {
				e := dot(s[a], s[b]) - dot(points[a], points[b])
				pooled = append(pooled, e)
				sum, count = sum+e, count+1
			}
		}
		means = append(means, sum/count)
	}
	_, between, _ := spread(means)
	_, within, _ := spread(pooled)
	if ratio := math.Sqrt(between / within); ratio < 0.5 {
		t.Errorf("means of one R deviate by %.2f of a single error", ratio)
	}
	// cos ≈ 3/4 between columns of U[0,1]: a single error has standard deviation √((1+.75²)/k).
	if want := math.Sqrt((1 + 0.75*0.75) / k); math.Abs(math.Sqrt(within)/want-1) > 0.1 {
		t.Errorf("a single error deviates by %.4f, want %.4f", math.Sqrt(within), want)
	}
}

// DPPro 2017, eq. (8): with entries N(0, 1/k), as its algorithm draws them, |xR|² is unbiased
// without a factor. The factor √(d/k) belongs to matrices with orthonormal rows.
func TestErrataNormNeedsNoFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	const d, k = 40, 10
	x := make([]float64, d)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	var draws []float64
	for range 20_000 {
		s := normalMatrix(rng, k, [][]float64{x})
		draws = append(draws, dot(s[0], s[0]))
	}
	mean, variance, _ := spread(draws)
	if z := (mean - dot(x, x)) / math.Sqrt(variance/float64(len(draws))); math.Abs(z) > 5 {
		t.Errorf("|xR|² is %.1f standard errors off |x|²", z)
	}
	if scaled := mean * d / k; math.Abs(scaled/dot(x, x)-4) > 0.2 {
		t.Errorf("scaled by d/k it is %.2f times |x|²", scaled/dot(x, x))
	}
}

// Dhaliwal 2019, claim 7, for noise of variance σ² = 2b² on both sides: 2r⁴/k + 8σ²r² + 14kσ⁴. The
// printed 2r⁴/k + 2k(7σ⁴-σ²) + 4σ²r² has half the cross term, and subtracts a constant from a
// variance.
func TestErrataLaplaceDistanceVariance(t *testing.T) {
	full.Statistical(t)
	rng := rand.New(rand.NewPCG(5, 1))
	const d, k = 30, 12
	z := [][]float64{make([]float64, d)}
	for i := range d {
		z[0][i] = rng.NormFloat64()
	}
	for _, b := range []float64{0.3, 0.6, 1} {
		var draws []float64
		for range full.Or(20_000, 60_000) {
			var distance float64
			for _, v := range normalMatrix(rng, k, z)[0] {
				v += b * (laplace(rng) - laplace(rng))
				distance += v * v
			}
			draws = append(draws, distance)
		}
		r2, v := dot(z[0], z[0]), 2*b*b
		right := 2*r2*r2/k + 8*v*r2 + 14*k*v*v
		printed := 2*r2*r2/k + 2*k*(7*v*v-v) + 4*v*r2
		matches(t, "distance with laplace noise", draws, right, printed)
	}
}

// Dhaliwal 2019, figure 4: a projected coordinate of unit blobs has variance d/k, not 1. So with
// noise its standard deviation is √(d/k + 2b²).
func TestErrataProjectedDeviation(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	const d, k, b = 60, 6, 0.5
	var draws []float64
	for range 4000 {
		x := [][]float64{make([]float64, d)}
		for i := range d {
			x[0][i] = rng.NormFloat64()
		}
		draws = append(draws, normalMatrix(rng, k, x)[0][0]+b*laplace(rng))
	}
	matches(t, "projected coordinate", draws, d/k+2*b*b, 1+2*b*b)
}
