package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/decompose"

	"github.com/cosketch/cosketch/kernel/full"
)

// together returns the values of all parties' columns over the records that all of them hold.
func together(parties []party) *mat.Dense {
	var rows []float64
	width := 0
	for r := range parties[0].held {
		all := true
		for _, p := range parties {
			all = all && p.held[r]
		}
		if !all {
			continue
		}
		width = 0
		for _, p := range parties {
			for _, column := range p.values {
				rows = append(rows, column[r])
				width++
			}
		}
	}
	return mat.NewDense(len(rows)/width, width, rows)
}

// covarianceOf divides by the number of records, as Moments do.
func covarianceOf(x *mat.Dense) *mat.SymDense {
	n, _ := x.Dims()
	var c mat.SymDense
	stat.CovarianceMatrix(&c, x, nil)
	c.ScaleSym(float64(n-1)/float64(n), &c)
	return &c
}

// trial is a simulated study; run returns its moments, and what all parties hold with its covariance.
type trial struct {
	records, k int
	missing    float64
	noise      Noise
	parties    int
}

func (s trial) run(t *testing.T, seed uint64) (*Moments, *mat.Dense, *mat.SymDense) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 77))
	set := dataSetFor(rng, s.records, s.missing, s.parties, seed)
	sketch := sketchOf(rng, s.k, set.root)
	g := mustGram(t, sketch, addGaussian(rng, sketch, s.noise))
	var vars []Variable
	for _, of := range variables(set.parties, false) {
		vars = append(vars, of...)
	}
	m, why := g.Moments(vars, true)
	if why != "" {
		t.Fatal(why)
	}
	data, covariance := set.together()
	return m, data, covariance
}

func scaledTruth(c *mat.SymDense) *mat.SymDense {
	n := c.SymmetricDim()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, c.At(i, j)/math.Sqrt(c.At(i, i)*c.At(j, j)))
		}
	}
	return out
}

// Eigenvalues, shares and loadings of columns of three parties. The power check treats them as
// those of the party's own data with the noise left in.
func TestComponentsCover(t *testing.T) {
	for name, s := range map[string]trial{
		"exact":          {records: 1000, k: 512, parties: 3},
		"noise":          {records: 20000, k: 512, parties: 3, noise: Noise{Variance: 2}},
		"overlap":        {records: 1000, k: 1024, missing: 0.4, parties: 3},
		"overlap, noise": {records: 20000, k: 1024, missing: 0.4, parties: 3, noise: Noise{Variance: 1}},
	} {
		for _, scale := range []bool{false, true} {
			label := name
			if scale {
				label += ", scaled"
			}
			t.Run(label, func(t *testing.T) {
				t.Parallel()
				s.components(t, scale)
			})
		}
	}
}

func (s trial) components(t *testing.T, scale bool) {
	var values, shares, loads, noised tally
	unresolved := 0
	for seed := range uint64(full.Or(80, 600)) {
		m, _, truth := s.run(t, seed)
		if scale {
			var why string
			if m, why = m.Scaled(); why != "" {
				t.Fatal(why)
			}
			truth = scaledTruth(truth)
		}
		want, err := decompose.Symmetric(context.Background(), truth)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Components(context.Background(), ComponentsOptions{Loadings: 6})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range got {
			if !c.Interval.Defined() {
				unresolved++
				continue
			}
			values.add(c.Interval, want.Values[i])
			shares.add(c.Share, want.Values[i]/mat.Trace(truth))
			raw := c.Interval
			shift := inner2(c.Vector, product(m.rawMatrix(), c.Vector)) - c.Value
			raw.Low, raw.High = raw.Low+shift, raw.High+shift
			noised.add(raw, want.Values[i])
			sign := math.Copysign(1, inner2(c.Vector, want.Vectors[i]))
			for a, l := range c.Loadings {
				if l.Defined() {
					loads.add(l, sign*want.Vectors[i][a])
				}
			}
		}
		values.seed()
		shares.seed()
		if loads.n > loads.before {
			loads.seed()
		}
	}
	if len(loads.seeds) < full.Or(40, 300) {
		t.Errorf("something stood apart in %d sketches only", len(loads.seeds))
	}
	if unresolved*20 > values.n {
		t.Errorf("%d eigenvalues of %d are not resolved", unresolved, values.n)
	}
	values.check(t, "eigenvalues", 0.93, 0.98)
	shares.check(t, "shares", 0.93, 0.98)
	loads.check(t, "loadings", 0.92, 0.98)
	if s.noise.Variance > 0 && noised.coverage() > 0.9 {
		t.Errorf("with the noise left in the intervals cover %.3f: the test could not tell", noised.coverage())
	}
}

// Thirty eigenvalues close to each other, which errors spread out. Intervals are conservative
// there, as is the doubt on the push. The power check omits the push and the doubt, and includes
// unresolved eigenvalues.
func TestCrowdedComponentsCover(t *testing.T) {
	const n = 30
	for _, s := range []struct {
		name         string
		k            int
		noise        float64 // k·v, relative to the greatest eigenvalue
		most         float64
		driven, bare float64 // maximum fraction unresolved, and maximum coverage of the power check
	}{
		{"exact", 1024, 0, 0.98, 0.01, 1},
		{"some noise", 1024, 0.02, 0.98, 0.02, 0.94},
		{"small k", 256, 0.02, 1, 0.15, 0.9},
		{"noise, small k", 256, 0.2, 1, 0.25, 0.85},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			var values, shares, bare tally
			driven, seeds := 0, full.Or(30, 300)
			for seed := range uint64(seeds) {
				rng := rand.New(rand.NewPCG(seed, 78))
				sketch, vars, want := make([][]float64, n), make([]Variable, n), make([]float64, n)
				sum := 0.0
				for j := range sketch {
					want[j], vars[j].Value = math.Pow(0.6, float64(j)/3), j
					sum += want[j]
					for range s.k {
						sketch[j] = append(sketch[j], math.Sqrt(want[j]/float64(s.k))*rng.NormFloat64())
					}
				}
				g := mustGram(t, sketch, addGaussian(rng, sketch, Noise{Variance: s.noise / float64(s.k)}))
				m, why := g.Moments(vars, false)
				if why != "" {
					t.Fatal(why)
				}
				got, err := m.Components(context.Background(), ComponentsOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for i, c := range got {
					half := Level(0).z() * math.Sqrt(m.variance(m.gradient(c.Vector, c.Vector)))
					bare.add(newEstimate(c.Value, c.Value-half, c.Value+half, math.Inf(-1), math.Inf(1)), want[i])
					if !c.Interval.Defined() {
						driven++
						continue
					}
					values.add(c.Interval, want[i])
					shares.add(c.Share, want[i]/sum)
				}
				values.seed()
				shares.seed()
			}
			values.check(t, "eigenvalues", 0.93, s.most)
			shares.check(t, "shares", 0.93, s.most)
			t.Logf("not resolved: %d of %d; the power check covers %.3f", driven, bare.n, bare.coverage())
			if float64(driven) > s.driven*float64(bare.n) {
				t.Errorf("%d of %d eigenvalues are not resolved", driven, bare.n)
			}
			if bare.coverage() > s.bare {
				t.Errorf("with the push left in intervals cover %.3f: the test could not tell", bare.coverage())
			}
		})
	}
}

// regressionOf is the least squares fit of pooled data: coefficients, intercept, R² and
// the standard deviation of the residual.
func regressionOf(t *testing.T, data *mat.Dense, target int, on []int) (beta []float64, intercept, r2, residual float64) {
	t.Helper()
	n, _ := data.Dims()
	design, y := mat.NewDense(n, len(on)+1, nil), mat.NewVecDense(n, mat.Col(nil, target, data))
	for r := range n {
		design.Set(r, len(on), 1)
		for a, i := range on {
			design.Set(r, a, data.At(r, i))
		}
	}
	var b, fitted mat.VecDense
	if err := b.SolveVec(design, y); err != nil {
		t.Fatal(err)
	}
	fitted.MulVec(design, &b)
	fitted.SubVec(y, &fitted)
	rest := mat.Dot(&fitted, &fitted) / float64(n)
	total := covarianceOf(data).At(target, target)
	return b.RawVector().Data[:len(on)], b.AtVec(len(on)), 1 - rest/total, math.Sqrt(rest)
}

// Coefficients, intercept, R² and residual of columns of three parties. The power check is the
// regression on products with the noise left in.
func TestRegressionCovers(t *testing.T) {
	for name, s := range map[string]trial{
		"exact":          {records: 1000, k: 256, parties: 3},
		"exact, small k": {records: 1000, k: 32, parties: 3},
		"noise":          {records: 20000, k: 512, parties: 3, noise: Noise{Variance: 2}},
		"overlap":        {records: 2000, k: 512, missing: 0.4, parties: 2},
		"overlap, noise": {records: 20000, k: 1024, missing: 0.4, parties: 2, noise: Noise{Variance: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on, target := []int{1, 2, 3}, 0
			if s.parties == 3 {
				on, target = []int{1, 2, 3, 5}, 4
			}
			var beta, intercept, r2, residual, noised tally
			lost, seeds := 0, full.Or(120, 600)
			for seed := range uint64(seeds) {
				m, data, _ := s.run(t, seed)
				got, why := m.Regression(RegressionOptions{Target: target, On: on})
				if why != "" {
					lost++
					continue
				}
				b, a, explained, rest := regressionOf(t, data, target, on)
				intercept.add(got.Intercept, a)
				r2.add(got.R2, explained)
				residual.add(got.Residual, rest)
				biased := *m // as if the noise were part of the data
				biased.matrix, biased.bare = rawSym(m), m.raw
				biased.full = mat.DenseCopyOf(biased.matrix)
				wrong, why := biased.Regression(RegressionOptions{Target: target, On: on})
				for i := range on {
					beta.add(got.Coefficients[i], b[i])
					if why == "" {
						noised.add(wrong.Coefficients[i], b[i])
					}
				}
				for _, x := range []*tally{&beta, &intercept, &r2, &residual} {
					x.seed()
				}
			}
			if lost > seeds/4 {
				t.Errorf("%d of %d not identified", lost, seeds)
			}
			most := 0.98
			if s.k < 64 {
				most = 1 // R² is corrected twice for what few coordinates explain by chance
			}
			beta.check(t, "coefficients", 0.93, 0.98)
			intercept.check(t, "intercept", 0.93, 0.99)
			r2.check(t, "R²", 0.93, most)
			residual.check(t, "residual", 0.93, 0.99)
			if s.noise.Variance > 0 && noised.coverage() > 0.9 {
				t.Errorf("with the noise left in the intervals cover %.3f: the test could not tell", noised.coverage())
			}
		})
	}
}

func rawSym(m *Moments) *mat.SymDense {
	raw, n := m.rawMatrix(), len(m.vars)
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, raw.At(i, j))
		}
	}
	return out
}
