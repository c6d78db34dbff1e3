package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/full"
)

// unionTrial is a data set whose moments are noised repeatedly.
type unionTrial struct {
	n     int
	noise float64 // standard deviation on a sum of products, in each data set's unit
	seed  uint64
}

func eightUnions(noise float64) (out []summedCase) {
	for seed := range uint64(8) {
		out = append(out, unionTrial{2000, noise, seed}.data())
	}
	return out
}

// data has six columns: two factors of different strength, and means away from the centre.
func (u unionTrial) data() summedCase {
	rng := rand.New(rand.NewPCG(u.seed, 3))
	const d = 6
	c := summedCase{second: mat.NewSymDense(d, nil), sums: make([]float64, d), n: u.n}
	loads := make([][4]float64, d)
	for i := range loads {
		loads[i] = [4]float64{.3 * rng.NormFloat64(), .15 * rng.NormFloat64(), .1 + .05*rng.Float64(), .3 * rng.NormFloat64()}
	}
	for range u.n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		x := make([]float64, d)
		for i, l := range loads {
			x[i] = l[0]*a + l[1]*b + l[2]*rng.NormFloat64() + l[3]
		}
		for i := range d {
			c.sums[i] += x[i]
			for j := i; j < d; j++ {
				c.second.SetSym(i, j, c.second.At(i, j)+x[i]*x[j])
			}
		}
	}
	v := u.noise * u.noise
	c.noise = MomentNoise{Square: v / 25 * 24.5, Product: v / 2, Sum: v * 1.5}
	return c
}

func (c summedCase) all() (out []int) {
	for i := range c.sums {
		out = append(out, i)
	}
	return out
}

func mustMoments(t *testing.T, m *Summed, columns []int) *Moments {
	t.Helper()
	out, why := m.Moments(columns)
	if why != "" {
		t.Fatal(why)
	}
	return out
}

// understated declares half of the noise, which intervals must not survive.
func (c summedCase) understated(source *rand.Rand) *Summed {
	m := c.noised(source)
	for i := range m.tallies[0].Variances {
		m.tallies[0].Variances[i] /= 4
	}
	for i := range m.sum {
		m.sum[i] /= 4
	}
	return m
}

// Eigenvalues, shares and loadings of noised sums of eight data sets. The power check
// declares half of the noise.
func TestComponentsOfSumsCover(t *testing.T) {
	for _, scale := range []bool{false, true} {
		for _, noise := range []float64{1, 10} {
			var values, shares, loads, wrong tally
			sets := eightUnions(noise)
			for trial := range uint64(full.Or(96, 4000)) {
				c := sets[trial%8]
				truth := mustMoments(t, c.truth(), c.all())
				m, understated := mustMoments(t, c.noised(rand.New(rand.NewPCG(trial, 9))), c.all()), mustMoments(t, c.understated(rand.New(rand.NewPCG(trial, 9))), c.all())
				if scale {
					scaled, why := m.Scaled()
					if why != "" {
						continue
					}
					m = scaled
					truth, _ = truth.Scaled()
					understated, _ = understated.Scaled()
				}
				want, err := decompose.Symmetric(context.Background(), truth.matrix)
				if err != nil {
					t.Fatal(err)
				}
				got, err := m.Components(context.Background(), ComponentsOptions{Loadings: 6})
				if err != nil {
					t.Fatal(err)
				}
				narrow, err := understated.Components(context.Background(), ComponentsOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for i, g := range got {
					if narrow[i].Interval.Defined() {
						wrong.add(narrow[i].Interval, want.Values[i])
					}
					if !g.Interval.Defined() {
						continue
					}
					values.add(g.Interval, want.Values[i])
					shares.add(g.Share, want.Values[i]/mat.Trace(truth.matrix))
					sign := math.Copysign(1, inner2(g.Vector, want.Vectors[i]))
					for a, l := range g.Loadings {
						if l.Defined() { // else the vector is not separated
							loads.add(l, sign*want.Vectors[i][a])
						}
					}
				}
				if values.n > values.before {
					values.seed()
					shares.seed()
					loads.seed()
				}
			}
			t.Logf("scaled: %v, noise %g, %d with something that stood apart", scale, noise, len(values.seeds))
			values.check(t, "eigenvalues", 0.93, 0.98)
			shares.check(t, "shares", 0.93, 0.98)
			loads.check(t, "loadings", 0.93, 0.98)
			if wrong.coverage() > 0.85 {
				t.Errorf("with half of the noise declared they cover %.3f: the test could not tell", wrong.coverage())
			}
		}
	}
}

// Coefficients, intercept, R² and residual, by least squares and ridge. If there is so much noise
// that many regressions are not identified, intervals of the others are wide. A ridge that may be
// raised identifies nearly all. Intervals are then of the regression with the ridge that was used.
func TestRegressionOfSumsCovers(t *testing.T) {
	for _, ridge := range []float64{0, .1, raised} {
		for _, noise := range []float64{1, 5, 12} {
			if noise > 5 && ridge != raised {
				continue
			}
			most := 0.98
			if ridge == raised {
				most = 1
			}
			var beta, intercept, r2, residual, wrong tally
			sets := eightUnions(noise)
			lost, further, trials := 0, 0, full.Or(96, 4000)
			for trial := range uint64(trials) {
				c := sets[trial%8]
				o := RegressionOptions{Target: 0, On: []int{1, 2, 3, 4}, Ridge: math.Max(ridge, 0), Raise: ridge == raised}
				got, why := mustMoments(t, c.noised(rand.New(rand.NewPCG(trial, 9))), c.all()).Regression(o)
				if why != "" {
					lost++
					continue
				}
				if got.Ridge > o.Ridge {
					further++
				}
				o.On, o.Ridge, o.Raise = got.On, got.Ridge, false // without the dropped variables
				want, why := mustMoments(t, c.truth(), c.all()).Regression(o)
				if why != "" {
					t.Fatal(why)
				}
				narrow, why := mustMoments(t, c.understated(rand.New(rand.NewPCG(trial, 9))), c.all()).Regression(o)
				if why != "" {
					t.Fatal(why)
				}
				for i, b := range got.Coefficients {
					beta.add(b, want.Coefficients[i].Interval.Estimate)
					wrong.add(narrow.Coefficients[i], want.Coefficients[i].Interval.Estimate)
				}
				intercept.add(got.Intercept, want.Intercept.Interval.Estimate)
				r2.add(got.R2, want.R2.Interval.Estimate)
				residual.add(got.Residual, want.Residual.Interval.Estimate)
				for _, x := range []*tally{&beta, &intercept, &r2, &residual} {
					x.seed()
				}
			}
			t.Logf("ridge %g, noise %g, %d of %d not identified", ridge, noise, lost, trials)
			if lost > trials/4 || ridge == raised && lost > trials/20 {
				t.Errorf("%d of %d not identified", lost, trials)
			}
			if raises := ridge == raised && noise > 5; raises != (further > trials/4) {
				t.Errorf("ridge %g, noise %g: raised %d times", ridge, noise, further)
			}
			beta.check(t, "coefficients", 0.93, most)
			intercept.check(t, "intercept", 0.93, most)
			r2.check(t, "R²", 0.93, most)
			residual.check(t, "residual", 0.93, most)
			if wrong.coverage() > 0.85 {
				t.Errorf("with half of the noise declared they cover %.3f: the test could not tell", wrong.coverage())
			}
		}
	}
}

// raised means a ridge of 0 that may be raised.
const raised = -1

// Without noise, results are those of the data, and have width zero.
func TestSumsAreExactWithoutNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	data := mat.NewDense(500, 4, nil)
	c := summedCase{second: mat.NewSymDense(4, nil), sums: make([]float64, 4), n: 500}
	for r := range 500 {
		a := rng.NormFloat64()
		for i := range 4 {
			data.Set(r, i, .2*float64(i)+a*float64(i%2)+rng.NormFloat64())
			c.sums[i] += data.At(r, i)
		}
		for i := range 4 {
			for j := i; j < 4; j++ {
				c.second.SetSym(i, j, c.second.At(i, j)+data.At(r, i)*data.At(r, j))
			}
		}
	}
	m := mustMoments(t, c.truth(), []int{3, 1, 0, 2})
	got, why := m.Regression(RegressionOptions{Target: 0, On: []int{1, 2, 3}})
	if why != "" {
		t.Fatal(why)
	}
	beta, intercept, r2, residual := regressionOf(t, data, 3, []int{1, 0, 2})
	for i, want := range append(beta, intercept, r2, residual) {
		e := append(got.Coefficients[:3:3], got.Intercept, got.R2, got.Residual)[i]
		if math.Abs(e.Interval.Estimate-want) > 1e-9 || e.High-e.Low > 1e-9 {
			t.Errorf("number %d: %v, want %g", i, e, want)
		}
	}
	if !math.IsInf(got.Freedom, 1) {
		t.Errorf("%g degrees of freedom", got.Freedom)
	}
	if _, why := c.truth().Moments(nil); why == "" {
		t.Error("moments of no column")
	}
}

// The rule for slopes equals that of Covary for their matrices.
func TestAddedIsCovary(t *testing.T) {
	c := newSummedCase()
	s := c.noised(rand.New(rand.NewPCG(3, 4)))
	m := mustMoments(t, s, c.all())
	rng := rand.New(rand.NewPCG(5, 5))
	random := func() (out []float64) {
		for range m.vars {
			out = append(out, rng.NormFloat64())
		}
		return out
	}
	var slopes []gradient
	var matrices [][]Entry
	for range 2 {
		u, v, shares := random(), random(), random()
		slopes = append(slopes, m.gradient(u, v).plusVariances(m, shares))
		var w []Entry
		for i := range u {
			for j := i; j < len(u); j++ {
				x := (u[i]*v[j] + u[j]*v[i]) / 2
				if i == j {
					x += shares[i] / m.matrix.At(i, i)
				}
				w = append(w, Entry{i, j, x})
			}
		}
		matrices = append(matrices, w)
	}
	for i := range slopes {
		for j := range slopes {
			got, want := m.law.covariance(m, slopes[i], slopes[j]), s.Covary(matrices[i], matrices[j])
			if math.Abs(got-want) > 1e-9*s.Covary(matrices[i], matrices[i]) {
				t.Errorf("slopes %d and %d: %g, want %g", i, j, got, want)
			}
		}
	}
}

// A target whose variance does not stand out of its noise has coefficients, as nothing is divided
// by it, and no R². For sums without noise a constant target has neither.
func TestRegressionOnATargetThatDrowns(t *testing.T) {
	const n, d = 4000, 3
	rng := rand.New(rand.NewPCG(11, 4))
	c := summedCase{second: mat.NewSymDense(d, nil), sums: make([]float64, d), n: n, noise: MomentNoise{Square: 36, Product: 18, Sum: 64}}
	for range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		x := []float64{.02*a - .01*b + .01*rng.NormFloat64() + .1, .3 * a, .2*a + .3*b}
		for i := range d {
			c.sums[i] += x[i]
			for j := i; j < d; j++ {
				c.second.SetSym(i, j, c.second.At(i, j)+x[i]*x[j])
			}
		}
	}
	o := RegressionOptions{Target: 0, On: []int{1, 2}}
	want, why := mustMoments(t, c.truth(), c.all()).Regression(o)
	if why != "" || !want.R2.Defined() {
		t.Fatal(why, want)
	}
	var beta, intercept tally
	drowned, trials := 0, full.Or(160, 4000)
	for trial := range uint64(trials) {
		m := mustMoments(t, c.noised(rand.New(rand.NewPCG(trial, 12))), c.all())
		got, why := m.Regression(o)
		if why != "" {
			t.Fatal(why)
		}
		if !slices.Contains(m.Constant(), 0) {
			continue
		}
		drowned++
		if got.R2.Defined() || got.Residual.Defined() || got.R2.Undefined != noTarget {
			t.Fatalf("R² is %v, the residual %v", got.R2, got.Residual)
		}
		for i, b := range got.Coefficients {
			beta.add(b, want.Coefficients[i].Interval.Estimate)
			if p := b.Population; !p.Known || p.Low > b.Low || p.High < b.High {
				t.Fatalf("for people like these %+v, for these %v", p, b)
			}
		}
		intercept.add(got.Intercept, want.Intercept.Interval.Estimate)
		for _, x := range []*tally{&beta, &intercept} {
			x.seed()
		}
	}
	if drowned < trials*9/10 {
		t.Errorf("the target drowns %d of %d times", drowned, trials)
	}
	beta.check(t, "coefficients", 0.93, 0.98)
	intercept.check(t, "intercept", 0.93, 0.98)

	constant := summedCase{second: mat.NewSymDense(2, []float64{0, 0, 0, 10}), sums: []float64{0, 1}, n: 100}
	if _, why := mustMoments(t, constant.truth(), constant.all()).Regression(RegressionOptions{Target: 0, On: []int{1}}); why != noTarget {
		t.Errorf("of a constant target without noise: %q", why)
	}
}
