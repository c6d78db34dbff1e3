package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestGramTakesTheNoiseOffTheDiagonal(t *testing.T) {
	g := mustGram(t, [][]float64{{1, 2, 3}, {4, 0, -1}}, []Noise{{Variance: 2}, {Variance: 0.5}})
	for _, want := range []struct {
		i, j     int
		raw, net float64
	}{{0, 0, 14, 8}, {0, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 17, 15.5}} {
		if raw, net := g.raw.At(want.i, want.j), g.debiased.At(want.i, want.j); raw != want.raw || net != want.net {
			t.Errorf("entry %d,%d is %g raw and %g debiased, want %g and %g", want.i, want.j, raw, net, want.raw, want.net)
		}
	}
}

func TestGramRefuses(t *testing.T) {
	one := []float64{1, 2}
	for _, test := range []struct {
		columns [][]float64
		noise   []Noise
		want    string
	}{
		{nil, nil, "no columns"},
		{[][]float64{{}}, []Noise{{}}, "no coordinates"},
		{[][]float64{one, one}, []Noise{{}}, "2 columns but 1 noises"},
		{[][]float64{one, {1}}, []Noise{{}, {}}, "column 1 has 1 coordinates"},
		{[][]float64{one}, []Noise{{Variance: -1}}, "noise variance -1"},
		{[][]float64{one}, []Noise{{Variance: math.NaN()}}, "noise variance NaN"},
		{[][]float64{one}, []Noise{{FourthCumulant: math.Inf(1)}}, "fourth cumulant +Inf"},
		{[][]float64{{math.NaN(), 1}}, []Noise{{}}, "not finite"},
		{[][]float64{{1e200, 1}}, []Noise{{}}, "not finite"},
	} {
		if _, err := fromReals(test.columns, test.noise); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}

// FromColumns gives the products of some columns that FromIntegers gives for all, to the last bit.
func TestGramOfSomeColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 4))
	const k, n = 300, 70
	s := Integers{K: k, N: n, Data: make([]int64, k*n), Unit: 1.0 / 3}
	for i := range s.Data {
		s.Data[i] = rng.Int64N(1<<40) - 1<<39
	}
	noise := make([]Noise, n)
	for i := range noise {
		noise[i] = Noise{Variance: float64(i), FourthCumulant: float64(i)}
	}
	all, err := FromIntegers(context.Background(), s, noise)
	if err != nil {
		t.Fatal(err)
	}
	some, err := FromColumns(context.Background(), s, noise, []int{69, 3, 40, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 3, 40, 69} {
		for _, j := range []int{0, 3, 40, 69} {
			x, y := Combination{{i, 2}, {3, -1}}, Combination{{j, 0.3}, {40, 1}}
			if got, want := some.InnerProduct(x, y, 0), all.InnerProduct(x, y, 0); got != want {
				t.Errorf("product of %d and %d is %v, of all columns %v", i, j, got, want)
			}
			if got, want := some.SquaredDistance(x, y, 0), all.SquaredDistance(x, y, 0); got != want {
				t.Errorf("distance of %d and %d is %v, of all columns %v", i, j, got, want)
			}
		}
	}
	if _, err := FromColumns(context.Background(), s, noise, []int{2, 2}); err == nil || !strings.Contains(err.Error(), "column 2 is given twice") {
		t.Errorf("error %v", err)
	}
}

// Integers in a unit give the matrix of the columns that they represent.
func TestGramOfIntegers(t *testing.T) {
	ctx, noise := context.Background(), []Noise{{Variance: 0.5}, {}}
	got, err := FromIntegers(ctx, Integers{K: 3, N: 2, Data: []int64{1, 4, 2, 0, 3, -1}, Unit: 0.5}, noise)
	if err != nil {
		t.Fatal(err)
	}
	want := mustGram(t, [][]float64{{0.5, 1, 1.5}, {2, 0, -0.5}}, noise)
	for i := range 2 {
		for j := range 2 {
			if got.raw.At(i, j) != want.raw.At(i, j) || got.debiased.At(i, j) != want.debiased.At(i, j) {
				t.Errorf("entry %d,%d is %g, want %g", i, j, got.raw.At(i, j), want.raw.At(i, j))
			}
		}
	}
	for _, s := range []Integers{{K: 1, N: 2, Data: []int64{1}, Unit: 1}, {K: 1, N: 2, Data: []int64{1, 2}}, {K: 1, N: 1, Data: []int64{1}, Unit: 1}} {
		if _, err := FromIntegers(ctx, s, noise); err == nil {
			t.Errorf("%+v passes", s)
		}
	}
}

// The general rule gives the formulas for single products and norms, with raw norms.
func TestVarianceFormulas(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const k = 50
	columns := make([][]float64, 2)
	for j := range columns {
		for range k {
			columns[j] = append(columns[j], rng.NormFloat64())
		}
	}
	const kappa = 0.7
	g := mustGram(t, columns, []Noise{{Variance: 0.1, FourthCumulant: kappa}, {Variance: 0.2}})
	a, b, c := g.raw.At(0, 0), g.raw.At(1, 1), g.raw.At(0, 1)
	x, y := Column(0), Column(1)
	covariance := func(f, h form) float64 { _, fh, _ := g.errors(f, h); return fh }
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"product", g.variance(form{{1, x, y}}), (a*b + c*c) / k},
		{"norm", g.variance(form{{1, x, x}}), 2*a*a/k + k*kappa},
		{"distance", g.variance(form{{1, x.minus(1, y), x.minus(1, y)}}), 2*math.Pow(a+b-2*c, 2)/k + k*kappa},
		{"covariance", covariance(form{{1, x, x}}, form{{1, x, y}}), 2 * a * c / k},
		{"weights", covariance(form{{2, x, y}}, form{{1, x.scaled(3), y}}), 6 * (a*b + c*c) / k},
		{"parts", g.variance(form{{0.5, x, y}, {0.5, y, x}}), (a*b + c*c) / k},
	} {
		if math.Abs(test.got-test.want) > 1e-12*math.Abs(test.want) {
			t.Errorf("variance of %s is %g, want %g", test.name, test.got, test.want)
		}
	}
}

// Unbiased and with the variance of the general rule, Laplace noise included:
// 20,000 sketches; the tolerance of the mean is 5 standard errors (false
// rejection 6e-7), that of the variance -5 % to
// +8 % of what it should be on average, 1 to 1 + 4/k.
func TestProductAndNormOverManySketches(t *testing.T) {
	const k, trials, scale = 32, 20_000, 0.4
	rng := rand.New(rand.NewPCG(3, 4))
	data := make([][]float64, 2)
	for j := range data {
		for range 40 {
			data[j] = append(data[j], 0.2+rng.Float64())
		}
	}
	noise := Noise{Variance: 2 * scale * scale, FourthCumulant: 12 * math.Pow(scale, 4)}
	forms := map[string]form{
		"product": {{1, Column(0), Column(1)}},
		"norm":    {{1, Column(0), Column(0)}},
	}
	wants := map[string]float64{"product": dot(data[0], data[1]), "norm": dot(data[0], data[0])}
	sums, squares, variances := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for range trials {
		sketch := gaussianMatrix(rng, k, data)
		for j := range sketch {
			for i := range sketch[j] {
				sketch[j][i] += scale * laplace(rng)
			}
		}
		g := mustGram(t, sketch, []Noise{noise, noise})
		for name, f := range forms {
			v := g.product(f[0].x, f[0].y)
			sums[name] += v
			squares[name] += v * v
			variances[name] += g.variance(f) / trials
		}
	}
	for name, want := range wants {
		mean := sums[name] / trials
		variance := squares[name]/trials - mean*mean
		if se := math.Sqrt(variance / trials); math.Abs(mean-want) > 5*se {
			t.Errorf("%s: mean %g ± %g, want %g", name, mean, se, want)
		}
		// The estimate with H itself has expectation (1 + 2/k) to (1 + 4/k) times the variance.
		if ratio := variances[name] / variance; ratio < 0.95 || ratio > 1.08+4.0/k {
			t.Errorf("%s: mean of the estimated variance is %.3f of the variance", name, ratio)
		}
	}
}

// gaussianMatrix projects columns with a k × m matrix of N(0, 1/k) entries.
func gaussianMatrix(rng *rand.Rand, k int, columns [][]float64) [][]float64 {
	out := make([][]float64, len(columns))
	for j := range out {
		out[j] = make([]float64, k)
	}
	for i := range k {
		for r := range columns[0] {
			entry := rng.NormFloat64() / math.Sqrt(float64(k))
			for j := range columns {
				out[j][i] += entry * columns[j][r]
			}
		}
	}
	return out
}

// laplace draws from the Laplace distribution of scale 1.
func laplace(rng *rand.Rand) float64 { return rng.ExpFloat64() * float64(1-2*rng.IntN(2)) }

// Whatever the sketch holds, an estimate is either undefined with a reason, or finite with ordered
// ends.
func TestEstimatesAreNeverNaN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(t, "k")
		value := rapid.OneOf(rapid.Just(0.0), rapid.Just(1.0), rapid.Float64Range(-2, 2), rapid.Float64Range(-1e30, 1e30))
		columns := make([][]float64, 6)
		noise := make([]Noise, 6)
		for j := range columns {
			columns[j] = rapid.SliceOfN(value, k, k).Draw(t, "column")
			noise[j] = Noise{
				Variance: rapid.Float64Range(0, 3).Draw(t, "variance"), FourthCumulant: rapid.SampledFrom([]float64{0, 1}).Draw(t, "kappa"),
				Sources: rapid.SampledFrom([]float64{0, 0, 3}).Draw(t, "sources"),
			}
		}
		g, err := fromReals(columns, noise)
		if err != nil {
			t.Fatal(err)
		}
		records := rapid.IntRange(0, 5)
		level := Level(rapid.SampledFrom([]float64{0, 0.5, 0.999999, 1, -1, math.NaN()}).Draw(t, "level"))
		x := Variable{Value: 1, Ones: Ones{Column: 0, Weight: 0.3, Records: records.Draw(t, "n")}, Squares: 2, SquaresWeight: 1}
		y := Variable{Value: 4, Ones: Ones{Column: 3, Weight: 1, Records: records.Draw(t, "m")}, Squares: 5, SquaresWeight: 1}
		r := Records{K: k, Noise: noise[0], Identity: rapid.Bool().Draw(t, "identity")}
		estimates := []Estimate{
			g.InnerProduct(Column(1), Column(4), level), g.SquaredNorm(Column(1), level),
			g.SquaredDistance(Column(1), Column(4), level), g.Cosine(Column(1), Column(4), level),
			g.Intersection(x.Ones, y.Ones, level), g.CorrelationE1(x, y, level), g.CorrelationE2(x, y, level),
		}
		for _, f := range []func() (Estimate, error){
			func() (Estimate, error) { return r.SquaredDistance(columns[0], columns[1], level) },
			func() (Estimate, error) { return r.SquaredNorm(columns[0], level) },
			func() (Estimate, error) { return r.InnerProduct(columns[0], columns[1], level) },
		} {
			e, err := f()
			if err != nil {
				t.Fatal(err)
			}
			estimates = append(estimates, e)
		}
		for i, e := range estimates {
			sum := e.Interval.Estimate + e.Low + e.High
			switch {
			case !e.Defined() && e.Interval != (Interval{}):
				t.Fatalf("estimate %d is undefined but holds %v", i, e.Interval)
			case math.IsNaN(sum) || math.IsInf(sum, 0) || e.Low > e.High:
				t.Fatalf("estimate %d is %v", i, e)
			case e.Defined() && level.refuse() != "":
				t.Fatalf("estimate %d is defined at level %g", i, float64(level))
			}
		}
	})
}

// All pairs of 30 columns of three parties at k = 1024.
func BenchmarkCorrelations(b *testing.B) {
	rng := rand.New(rand.NewPCG(12, 13))
	columns := make([][]float64, 33)
	for j := range columns {
		for i := range 1024 {
			if 0 < j && j < 3 { // the columns of ones
				columns[j] = append(columns[j], columns[0][i]+0.2*rng.NormFloat64())
				continue
			}
			columns[j] = append(columns[j], rng.NormFloat64())
		}
	}
	for b.Loop() {
		g := mustGram(b, columns, make([]Noise, len(columns)))
		variable := func(j int) Variable { return Variable{Value: 3 + j, Ones: Ones{Column: j % 3, Weight: 1}} }
		for j := range 30 {
			for i := range j {
				g.CorrelationE2(variable(i), variable(j), 0)
			}
		}
	}
}
