package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// promise returns the guarantee of a mechanism at ε, with δ = 1e-6 if it needs one.
func promise(t testing.TB, m dp.Mechanism, epsilon dp.Epsilon) dp.Guarantee {
	t.Helper()
	b := dp.Budget{Epsilon: epsilon}
	if m == dp.Gaussian {
		b.Delta = 1e-6
	}
	g, err := dp.Promise(m, b)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// spread returns a difference of squared length r2 whose fourth powers are negligible, as in the
// tables below.
func spread(r2 float64) Difference { return Difference{Squared: r2} }

func attribute(t testing.TB, m Method, k, d int, epsilon dp.Epsilon) Law {
	t.Helper()
	l, err := m.Attribute(k, d, promise(t, m.Mechanism, epsilon))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The variances at k = 128, d = 1024, |z|² = 100 to the digits given.
func TestVariancesAtFixedK(t *testing.T) {
	for _, test := range []struct {
		method  Method
		epsilon dp.Epsilon
		want    float64
	}{
		{Method{dp.Laplace, projection.Sparse, 1}, 1, 8923},
		{Method{dp.Laplace, projection.Sparse, 1}, 4, 283},
		{Method{dp.Laplace, projection.Sparse, 1}, 8, 181},
		{Method{dp.Laplace, projection.Sparse, 4}, 1, 1.21e5},
		{Method{dp.Laplace, projection.Sparse, 4}, 4, 1003},
		{Method{dp.Laplace, projection.Rademacher, 0}, 1, 1.18e8},
		{Method{dp.Laplace, projection.Rademacher, 0}, 8, 3.20e4},
		{Method{dp.Gaussian, projection.Hadamard, 0}, 1, 3.41e5},
		{Method{dp.Gaussian, projection.Hadamard, 0}, 4, 3353},
		{Method{dp.Gaussian, projection.Hadamard, 0}, 8, 663},
	} {
		got := attribute(t, test.method, 128, 1024, test.epsilon).Distance(Difference{Squared: 100, Fourth: 100})
		if math.Abs(got/test.want-1) > 0.005 {
			t.Errorf("%s at ε = %g: variance %.4g, want %.4g", test.method, test.epsilon, got, test.want)
		}
	}
}

// The relative RMSE at the best k, and k, at δ = 1e-6. The error is flat around the best k, so if
// the table's family has a slightly different error its k is up to 8 % off.
func TestBestK(t *testing.T) {
	count := Method{dp.Laplace, projection.Sparse, 1}
	sparse4 := Method{dp.Laplace, projection.Sparse, 4}
	signs := Method{dp.Laplace, projection.Rademacher, 0}
	gauss := Method{dp.Gaussian, projection.Rademacher, 0}
	for _, test := range []struct {
		method  Method
		r2      float64
		epsilon dp.Epsilon
		rmse    float64
		k       int
	}{
		{count, 100, 0.5, 1.22, 5}, {count, 100, 1, 0.61, 19}, {count, 100, 4, 0.15, 304}, {count, 100, 8, 0.08, 1218}, {count, 1600, 1, 0.15, 304},
		{sparse4, 100, 4, 0.30, 76}, {sparse4, 100, 8, 0.15, 304},
		{signs, 100, 1, 1.14, 3}, {signs, 100, 4, 0.56, 11}, {signs, 1600, 4, 0.28, 45},
		{gauss, 100, 1, 1.69, 3}, {gauss, 100, 4, 0.48, 38}, {gauss, 100, 8, 0.26, 108}, {gauss, 1600, 4, 0.12, 609},
	} {
		step, most := test.method.Range(1<<14, 1<<14)
		k, least, err := Search(step, most, func(k int) (float64, error) {
			return attribute(t, test.method, k, 1<<14, test.epsilon).Distance(spread(test.r2)), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		rmse := math.Sqrt(least) / test.r2
		t.Logf("%s |z|² = %g, ε = %g: %.3f at k = %d", test.method, test.r2, test.epsilon, rmse, k)
		if math.Abs(rmse-test.rmse) > 0.008 || math.Abs(float64(k-test.k)) > 0.1*float64(test.k) {
			t.Errorf("%s |z|² = %g, ε = %g: relative RMSE %.3f at k = %d, want %.2f at %d", test.method, test.r2, test.epsilon, rmse, k, test.rmse, test.k)
		}
		if test.method.NoiseGrows() {
			continue
		}
		closed := attribute(t, test.method, k, 1<<14, test.epsilon).OptimalK(spread(test.r2))
		if math.Abs(float64(k)-closed) > float64(step) {
			t.Errorf("%s |z|² = %g, ε = %g: searched k = %d, in closed form %.1f", test.method, test.r2, test.epsilon, k, closed)
		}
	}
}

// At attribute level with δ ≤ 1e-5 the best method is sparse s = 1 with Laplace noise. If a record
// has no more features than its best k, it is not to project at all.
func TestBestMethod(t *testing.T) {
	for _, delta := range []dp.Delta{1e-5, 1e-6, 1e-9} {
		for _, epsilon := range []dp.Epsilon{0.5, 1, 4, 8} {
			for _, d := range []int{8, 64, 1024, 1 << 14} {
				best, variance := Method{}, math.Inf(1)
				for _, m := range Menu(sketch.Records, dp.Attribute, false) {
					budget := dp.Budget{Epsilon: epsilon}
					if m.Mechanism == dp.Gaussian {
						budget.Delta = delta
					}
					g, err := dp.Promise(m.Mechanism, budget)
					if err != nil {
						t.Fatal(err)
					}
					step, most := m.Range(d, 1<<14)
					_, v, err := Search(step, most, func(k int) (float64, error) {
						l, err := m.Attribute(k, d, g)
						return l.Distance(spread(100)), err
					})
					if err != nil {
						t.Fatal(err)
					}
					if v < variance {
						best, variance = m, v
					}
				}
				law := attribute(t, Method{dp.Laplace, projection.Sparse, 1}, 1, d, epsilon)
				want := Method{dp.Laplace, projection.Sparse, 1}
				switch k := law.OptimalK(spread(100)); {
				case float64(d) <= k:
					want = Method{dp.Laplace, projection.Identity, 0}
				case float64(d) < 8*k:
					continue // identity may still be better, as it has no error of R
				}
				if best != want {
					t.Errorf("δ = %g, ε = %g, d = %d: %s is best, want %s", delta, epsilon, d, best, want)
				}
			}
		}
	}
}

func TestResponseDistance(t *testing.T) {
	p := 1 / (1 + math.E)
	q := p*p + (1-p)*(1-p)
	want := 1024 * q * (1 - q) / math.Pow(1-2*p, 4) // 5357
	for _, r2 := range []float64{0, 100, 1024} {
		law := attribute(t, Method{dp.RandomisedResponse, projection.Identity, 0}, 1024, 1024, 1)
		if got := law.Distance(Difference{Squared: r2, Fourth: r2}); math.Abs(got/want-1) > 0.001 || math.Abs(want-5357) > 1 {
			t.Errorf("randomised response of 1,024 values at ε = 1, |z|² = %g: variance %.1f, want %.1f", r2, got, want)
		}
	}
}

func TestMenuFitsItsUnit(t *testing.T) {
	for _, m := range Menu(sketch.Columns, dp.Record, true) {
		if m.Family == projection.Identity || m.Family == projection.Hadamard || m.Mechanism == dp.RandomisedResponse { // of unit record
			t.Errorf("columns side: %s", m)
		}
	}
	for _, m := range Menu(sketch.Records, "", true) {
		if m.Mechanism != dp.None {
			t.Errorf("without a unit: %s", m)
		}
	}
	for _, side := range []sketch.Side{sketch.Columns, sketch.Records} {
		response := func(unit dp.Unit, binary bool) (found bool) {
			for _, m := range Menu(side, unit, binary) {
				found = found || m.Mechanism == dp.RandomisedResponse
			}
			return found
		}
		if !response(dp.Attribute, true) || response(dp.Attribute, false) || response(dp.Record, true) {
			t.Errorf("%s: randomised response is for binary values under unit attribute, and only there", side)
		}
	}
}

// uniform is the uniform distribution on [0, 1].
var uniform = Column{Mean: 0.5, Spread: 1 / math.Sqrt(12), Kurtosis: 1.8}

// Clipping, compared with the integral over three uniform values; the gamma distribution costs 2 %.
func TestClipped(t *testing.T) {
	three := []Column{uniform, uniform, uniform}
	var mean, square, clipped, n float64
	const steps, ones, clip = 60, 0.3, 1.0
	for a := range steps {
		for b := range steps {
			for c := range steps {
				x, y, z := (float64(a)+0.5)/steps, (float64(b)+0.5)/steps, (float64(c)+0.5)/steps
				f := math.Min(1, math.Sqrt((clip*clip-ones*ones)/(x*x+y*y+z*z))) // ones are not scaled
				mean, square, n = mean+f, square+f*f, n+1
				if f < 1 {
					clipped++
				}
			}
		}
	}
	got := Clipped(clip, ones, false, three)
	if math.Abs(got.Mean-mean/n) > 0.02 || math.Abs(got.Square-square/n) > 0.02 || math.Abs(got.Clipped-clipped/n) > 0.05 {
		t.Errorf("clipped to %+v, want mean %.3f, square %.3f, share %.3f", got, mean/n, square/n, clipped/n)
	}
	if got := Clipped(10, ones, true, three); got != Whole() {
		t.Errorf("a clip that nothing reaches: %+v", got)
	}
	if got := Clipped(1, 0.5, false, nil); got != Whole() {
		t.Errorf("ones alone: %+v", got)
	}
}

// TestRareBitsAreCut compares what is left of bits with draws: the rarer of two values makes a
// record long, so it is in the records that are cut.
func TestRareBitsAreCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	columns := []Column{{Mean: 0, Spread: 0.2, Kurtosis: 3}}
	var bits [][3]float64 // rate, low and high value
	for _, rate := range []float64{0.01, 0.02, 0.05, 0.3, 0.97} {
		c := Binary(rate)
		scale := math.Max(3*c.Spread, math.Max(rate, 1-rate)/2)
		bits = append(bits, [3]float64{rate, -rate / scale, (1 - rate) / scale})
		c.Mean, c.Spread = 0, c.Spread/scale
		columns = append(columns, c)
	}
	const draws, clip, ones = 400_000, 1.0, 0.3
	bound := math.Sqrt(clip*clip - ones*ones)
	mean, square := make([]float64, len(columns)), make([]float64, len(columns))
	x := make([]float64, len(columns))
	for range draws {
		x[0] = 0.2 * rng.NormFloat64()
		length := x[0] * x[0]
		for i, b := range bits {
			if x[i+1] = b[1]; rng.Float64() < b[0] {
				x[i+1] = b[2]
			}
			length += x[i+1] * x[i+1]
		}
		f := math.Min(1, bound/math.Sqrt(length))
		for i, v := range x {
			mean[i] += f * v / draws
			square[i] += f * f * v * v / draws
		}
	}
	for i, got := range ClippedMomentsOf(clip, ones, columns, columns) {
		if math.Abs(got.Square-square[i]) > 0.12*square[i] || math.Abs(got.Mean-mean[i]) > 0.02 {
			t.Errorf("column %d: %+v is left, want a mean of %.4f and a mean square of %.4f", i, got, mean[i], square[i])
		}
	}
	general := Clipped(clip, ones, false, columns)
	if of := columns[1]; general.Square*of.Spread*of.Spread < 1.5*square[1] {
		t.Errorf("of the rarest bit %.4f is left, and %.4f if it were cut like others: the test shows nothing", square[1], general.Square*of.Spread*of.Spread)
	}
}

func TestMoments(t *testing.T) {
	for name, test := range map[string]struct {
		column Column
		want   [5]float64
	}{
		"uniform": {uniform, [5]float64{1, 1. / 2, 1. / 3, 1. / 4, 1. / 5}},
		"binary":  {Binary(0.2), [5]float64{1, 0.2, 0.2, 0.2, 0.2}},
		"normal":  {Normal(1, 2), [5]float64{1, 1, 5, 13, 73}},
	} {
		got := test.column.moments()
		for n := range got {
			if math.Abs(got[n]-test.want[n]) > 1e-12*test.want[n]*10 {
				t.Errorf("%s: moment %d is %g, want %g", name, n, got[n], test.want[n])
			}
		}
	}
}

// Rounding is negligible beside noise, and a forecast without noise has none.
func TestNoiseOf(t *testing.T) {
	law := attribute(t, Method{dp.Laplace, projection.Sparse, 1}, 64, 64, 1)
	if math.Abs(law.Noise.Variance/2-1) > 1e-6 || math.Abs(law.Noise.FourthCumulant/12-1) > 1e-6 {
		t.Errorf("laplace noise of scale 1: %+v", law.Noise)
	}
	if (Law{Projection: projection.Spec{Family: projection.Identity, K: 8}, Features: 8}).Distance(spread(3)) != 0 {
		t.Error("identity without noise errs")
	}
	if k := (Law{Projection: projection.Spec{Family: projection.Rademacher, K: 8}, Features: 8, Noise: estimate.Noise{}}).OptimalK(spread(3)); !math.IsInf(k, 1) {
		t.Errorf("without noise the best k is %g", k)
	}
}

// Without noise and with equal record sets, the error of a correlation of two columns is 1/√k, and
// the intersection has none. If the parties share a part of the records, the error of E2 is 1/√k
// over that share.
func TestPairWithoutNoise(t *testing.T) {
	member := Member{Column: Normal(0, 1./3), Records: 10_000, Ones: 0.5, Keep: Whole()}
	p := Pair{K: 400, X: member, Y: member, Shared: 10_000, Squares: true}
	e, err := p.CorrelationE2()
	if err != nil || math.Abs(e.StandardError-0.05) > 1e-3 || e.HalfWidth < 0.095 || e.HalfWidth > 0.1 {
		t.Errorf("correlation by E2: %+v, %v", e, err)
	}
	if math.Abs(e.Detects()-1.96*e.StandardError) > 1e-4 {
		t.Errorf("detects %g", e.Detects())
	}
	if e, err = p.Intersection(); err != nil || e.StandardError > 1e-6 {
		t.Errorf("intersection of equal sets: %+v, %v", e, err)
	}
	if e, err = p.Cosine(); err != nil || math.Abs(e.StandardError-0.05) > 1e-3 {
		t.Errorf("cosine: %+v, %v", e, err)
	}
	if e, err = p.Distance(); err != nil || math.Abs(e.StandardError-math.Sqrt(2./400)) > 1e-3 {
		t.Errorf("distance: %+v, %v", e, err)
	}
	p.Shared = 5_000
	if e, err = p.CorrelationE2(); err != nil || math.Abs(e.StandardError-0.1) > 2e-3 {
		t.Errorf("correlation over half of the records: %+v, %v", e, err)
	}
	two, err := p.CorrelationE1()
	if err != nil || two.StandardError <= e.StandardError {
		t.Errorf("E1 errs by %+v, E2 by %+v: %v", two, e, err)
	}
	p.K = 0
	if _, err := p.InnerProduct(); err == nil {
		t.Error("k = 0 is accepted")
	}
}
