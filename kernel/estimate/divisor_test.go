package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/full"
)

// The ends computed from the conditional probability at level .95, in standard errors.
func TestWidenedEnds(t *testing.T) {
	for _, c := range []struct{ value, low, high float64 }{
		{4, 0, 5.81}, {4.5, .57, 6.43}, {5, 2.16, 6.96}, {5.5, 3.13, 7.46}, {6, 3.85, 7.96},
	} {
		low, high := plainDivisor(7*c.value, 49).interval(0)
		if math.Abs(low/7-c.low) > .005 || math.Abs(high/7-c.high) > .005 {
			t.Errorf("%g standard errors: [%.3f, %.3f], want [%.2f, %.2f]", c.value, low/7, high/7, c.low, c.high)
		}
	}
	// Far above the threshold the correction for selection vanishes, at any level.
	for _, level := range []Level{.5, .95, .9999} {
		low, high := plainDivisor(40, 1).interval(level)
		if z := level.z(); math.Abs(low-40+z) > 1e-6 || math.Abs(high-40-z) > 1e-6 {
			t.Errorf("level %g, 40 standard errors: [%g, %g]", float64(level), low, high)
		}
	}
}

// Without noise every variance above zero may be a divisor, however small k is, and no interval is
// widened: the error of a projection shrinks with the variance.
func TestProjectionAloneSelectsNothing(t *testing.T) {
	for _, k := range []float64{8, 16, 100} {
		d := divisor{value: 3, variance: 2 * 9 / k, k: k}
		if !d.stands() || d.threshold() > 1e-6 {
			t.Errorf("k = %g: threshold %g of %g", k, d.threshold(), d.value)
		}
	}
}

// selection counts the coverage of what is shown.
type selection struct{ shown, plain, widened int }

// ofVariance draws estimates of a variance v, with noise of standard deviation 1.
func ofVariance(source *rand.Rand, v float64, trials int) (s selection) {
	for range trials {
		d := plainDivisor(v+source.NormFloat64(), 1)
		if !d.stands() {
			continue
		}
		s.shown++
		plain := Noisy{d.value, 1}.Estimate(0, 0)
		if plain.Low <= v && v <= plain.High {
			s.plain++
		}
		if e := d.widen(plain, 0); e.Low <= v && v <= e.High {
			s.widened++
		}
	}
	return s
}

// ofCorrelation draws the moments of two columns with a correlation of rho: one whose variance is v
// standard errors, and one that noise hardly affects. The noise is that of moments around the mean:
// half the variance on a product.
func ofCorrelation(source *rand.Rand, v, rho float64, trials int, level Level) (s selection) {
	const n, large = 1 << 20, 1e4
	noise := MomentNoise{Square: n * n, Product: n * n / 2}
	for range trials {
		second := mat.NewSymDense(2, []float64{
			n * (v + source.NormFloat64()), n * (rho*math.Sqrt(v*large) + math.Sqrt(.5)*source.NormFloat64()),
			0, n * (large + source.NormFloat64()),
		})
		m, err := NewSummed(SummedOf{Records: n, Second: second, Sums: make([]float64, 2), Noise: noise})
		if err != nil {
			panic(err)
		}
		e := m.Correlation(0, 1, level)
		if !e.Defined() {
			continue
		}
		s.shown++
		if e.Low <= rho && rho <= e.High {
			s.widened++
		}
		a, b := m.covariance.At(0, 0), m.covariance.At(1, 1)
		norm := math.Sqrt(a * b)
		f := fieller{ratio: m.covariance.At(0, 1) / norm, nn: .5 / norm / norm, mm: (b/a + a/b) / 4 / norm / norm}.estimate(level, -1, 1)
		if f.Low <= rho && rho <= f.High {
			s.plain++
		}
	}
	return s
}

func (s selection) share(covered int) float64 { return float64(covered) / float64(s.shown) }

// near fails if the coverage differs from the value found beforehand for the fixed seed, by more
// than .012 plus six standard errors.
func (s selection) near(t *testing.T, what string, covered int, want float64) {
	t.Helper()
	got := s.share(covered)
	if allowed := .012 + 6*math.Sqrt(math.Max(want*(1-want), .001)/float64(s.shown)); math.Abs(got-want) > allowed {
		t.Errorf("%s: covers %.3f of %d shown, want %.3f ± %.3f", what, got, s.shown, want, allowed)
	}
}

// Intervals cover also conditionally on being shown. Seeds are fixed. For true coverages at the
// limits, a run with other seeds would fail with a probability below 1e-6 per row.
func TestShownIntervalsCover(t *testing.T) {
	full.Statistical(t)
	const trials = 40000
	source := rand.New(rand.NewPCG(71, 1))
	for _, c := range []struct{ v, shown, plain float64 }{
		{1, .006, 0}, {2, .067, .63}, {3, .309, .92}, {4, .691, .96}, {5, .933, .97}, {8, 1, .95},
	} {
		s := ofVariance(source, c.v, trials)
		if share := float64(s.shown) / trials; math.Abs(share-c.shown) > .012 {
			t.Errorf("variance of %g: shown %.4f, want %.3f", c.v, share, c.shown)
		}
		s.near(t, "plain", s.plain, c.plain)
		t.Logf("variance of %g standard errors: shown %.3f, plain %.3f, widened %.3f", c.v, float64(s.shown)/trials, s.share(s.plain), s.share(s.widened))
		if got := s.share(s.widened); got < .95-5*math.Sqrt(.0475/float64(s.shown)) {
			t.Errorf("variance of %g: widened covers %.3f of %d", c.v, got, s.shown)
		}
	}
	for _, c := range []struct{ rho, v, plain, least float64 }{
		{.8, 1, .84, .98}, {.8, 2, .92, .98}, {.8, 3, .94, .98}, {.8, 6, .95, .94}, {.8, 12, .95, .94},
		{.3, 1, .92, .95}, {.3, 3, .95, .95}, {0, 2, .95, .94},
	} {
		n := trials
		if c.v == 1 {
			n *= 5 // few are shown
		}
		s := ofCorrelation(source, c.v, c.rho, n, 0)
		t.Logf("correlation %g, variance of %g standard errors: shown %.3f, plain %.3f, widened %.3f", c.rho, c.v, float64(s.shown)/float64(n), s.share(s.plain), s.share(s.widened))
		if got := s.share(s.widened); got < c.least-5*math.Sqrt(c.least*(1-c.least)/float64(s.shown)) {
			t.Errorf("correlation %g, variance of %g: widened covers %.3f of %d", c.rho, c.v, got, s.shown)
		}
	}
}

// faintCase has three correlated columns and labels of two classes that differ in all of them. The
// variance of the first column is v standard errors; noise hardly affects the two others. Truth is
// the result from exact moments.
func faintCase(v float64) (c summedCase, of []Indicator) {
	const n, d = 4000, 5
	source := rand.New(rand.NewPCG(72, 1))
	c = summedCase{second: mat.NewSymDense(d, nil), sums: make([]float64, d), n: n, noise: MomentNoise{Square: 400, Product: 200, Sum: 40}}
	spread := math.Sqrt(v * math.Sqrt(c.noise.Square) / n) // of the first column
	for range n {
		a, class := source.NormFloat64(), source.IntN(2)
		x := []float64{
			spread * (.7*a + .7*source.NormFloat64()), .3*a + .2*source.NormFloat64() + .1*float64(class), .25*source.NormFloat64() + .1*a,
			float64(1 - class), float64(class),
		}
		for i := range d {
			c.sums[i] += x[i]
			for j := i; j < d; j++ {
				c.second.SetSym(i, j, c.second.At(i, j)+x[i]*x[j])
			}
		}
	}
	return c, []Indicator{{3, 1, 0}, {4, 1, 0}}
}

// Coefficients, R², weights of scores, eigenvalues and loadings cover at least at their level
// conditionally on being shown, if a column hardly stands out. The power check: without the
// correction for selection, coefficients of that column cover far less.
func TestShownFitsCover(t *testing.T) {
	full.Statistical(t)
	for _, v := range []float64{2, 3, 4.5} {
		c, of := faintCase(v)
		all := []int{0, 1, 2}
		truth := mustMoments(t, c.truth(), all)
		o := RegressionOptions{Target: 1, On: []int{0, 2}}
		want, why := truth.Regression(o)
		if why != "" {
			t.Fatal(why)
		}
		classes := DiscriminantOptions{Classes: of, On: all}
		apart, why := mustMoments(t, c.truth(), c.all()).Discriminant(classes)
		if why != "" {
			t.Fatal(why)
		}
		scaled, _ := truth.Scaled()
		exact, err := scaled.Components(t.Context(), ComponentsOptions{Loadings: 3})
		if err != nil {
			t.Fatal(err)
		}
		var beta, other, intercept, r2, weights, values, loads, plain tally
		source := rand.New(rand.NewPCG(73, uint64(10*v)))
		for beta.n < full.Or(600, 6000) {
			noised := c.noised(source)
			m := mustMoments(t, noised, all)
			if m.constant(0) {
				continue
			}
			if got, why := m.Regression(o); why == "" {
				beta.add(got.Coefficients[0], want.Coefficients[0].Interval.Estimate)
				other.add(got.Coefficients[1], want.Coefficients[1].Interval.Estimate)
				intercept.add(got.Intercept, want.Intercept.Interval.Estimate)
				r2.add(got.R2, want.R2.Interval.Estimate)
				f, _ := m.fit(o)
				plain.add(f.around(f.beta[0], m.variance(f.slopes[0])), want.Coefficients[0].Interval.Estimate)
			}
			if got, why := mustMoments(t, noised, c.all()).Discriminant(classes); why == "" && len(got.On) == 3 {
				for a, w := range got.Weights[0] {
					weights.add(w, apart.Weights[0][a].Interval.Estimate)
				}
			}
			s, why := m.Scaled()
			if why != "" {
				t.Fatal(why)
			}
			got, err := s.Components(t.Context(), ComponentsOptions{Loadings: 3})
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range got {
				if g.Interval.Defined() {
					values.add(g.Interval, exact[i].Value)
				}
				sign := math.Copysign(1, inner2(g.Vector, exact[i].Vector))
				for a, l := range g.Loadings {
					if l.Defined() {
						loads.add(l, sign*exact[i].Vector[a])
					}
				}
			}
		}
		for what, got := range map[string]tally{"own coefficient": beta, "other coefficient": other, "intercept": intercept, "R²": r2, "weights": weights, "eigenvalues": values, "loadings": loads} {
			t.Logf("variance of %g standard errors, %s: covers %.3f of %d, mean width %.3g", v, what, got.coverage(), got.n, got.width/float64(got.n))
			// Five standard errors of .95: a false rejection below 3e-7 each. Values of one draw
			// are correlated, up to three at a time.
			if least := .95 - 5*math.Sqrt(.0475/float64(beta.n)); got.n > 0 && got.coverage() < least {
				t.Errorf("variance of %g standard errors, %s: covers %.3f of %d, want at least %.3f", v, what, got.coverage(), got.n, least)
			}
		}
		t.Logf("plain own coefficient: %.3f", plain.coverage())
		if v == 2 && plain.coverage() > .8 {
			t.Errorf("without the widening the coefficient covers %.3f: no power", plain.coverage())
		}
	}
}
