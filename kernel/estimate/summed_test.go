package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// summedCase is a data set whose moments are noised repeatedly.
type summedCase struct {
	second *mat.SymDense
	sums   []float64
	n      int
	noise  MomentNoise
}

func newSummedCase() summedCase {
	const n, d = 4000, 4
	source := rand.New(rand.NewPCG(1, 2))
	c := summedCase{second: mat.NewSymDense(d, nil), sums: make([]float64, d), n: n, noise: MomentNoise{Square: 36, Product: 18, Sum: 64}}
	for range n {
		a, b := source.NormFloat64(), source.NormFloat64()
		x := []float64{0.3 * a, 0.25*a + 0.1*b + 0.2, 0.3*source.NormFloat64() - 0.4, 0.2*b + 0.1}
		for i := range d {
			c.sums[i] += x[i]
			for j := i; j < d; j++ {
				c.second.SetSym(i, j, c.second.At(i, j)+x[i]*x[j])
			}
		}
	}
	return c
}

func (c summedCase) truth() *Summed {
	m, err := NewSummed(SummedOf{Records: int64(c.n), Second: c.second, Sums: c.sums})
	if err != nil {
		panic(err)
	}
	return m
}

func (c summedCase) noised(source *rand.Rand) *Summed {
	d := len(c.sums)
	second, sums := mat.NewSymDense(d, nil), make([]float64, d)
	for i := range d {
		sums[i] = c.sums[i] + math.Sqrt(c.noise.Sum)*source.NormFloat64()
		for j := i; j < d; j++ {
			v := c.noise.Product
			if i == j {
				v = c.noise.Square
			}
			second.SetSym(i, j, c.second.At(i, j)+math.Sqrt(v)*source.NormFloat64())
		}
	}
	m, err := NewSummed(SummedOf{Records: int64(c.n), Second: second, Sums: sums, Noise: c.noise})
	if err != nil {
		panic(err)
	}
	return m
}

// Intervals cover at their level, estimates are unbiased, and standard errors are the observed
// ones. Of 4,000 trials .95 are covered to ± 5 standard errors of .0034. Omitting the errors of the
// means from the rule, or leaving their bias in, is detected.
func TestSummedCover(t *testing.T) {
	const trials = 4000
	c := newSummedCase()
	truth := c.truth()
	source := rand.New(rand.NewPCG(5, 6))
	asks := map[string]func(m *Summed) Estimate{
		"mean":                         func(m *Summed) Estimate { return m.Mean(2, 0) },
		"variance":                     func(m *Summed) Estimate { return m.Covariance(2, 2, 0) },
		"covariance":                   func(m *Summed) Estimate { return m.Covariance(1, 2, 0) },
		"strong correlation":           func(m *Summed) Estimate { return m.Correlation(0, 1, 0) },
		"correlation of moved columns": func(m *Summed) Estimate { return m.Correlation(2, 3, 0) },
	}
	type tally struct{ covered, sum, squares, deviation float64 }
	tallies := map[string]*tally{}
	for name := range asks {
		tallies[name] = &tally{}
	}
	for range trials {
		m := c.noised(source)
		for name, ask := range asks {
			want, got, s := ask(truth).Interval.Estimate, ask(m), tallies[name]
			if !got.Defined() {
				t.Fatalf("%s: %v", name, got)
			}
			if got.Low <= want && want <= got.High {
				s.covered++
			}
			e := got.Interval.Estimate - want
			s.sum += e
			s.squares += e * e
			s.deviation += got.StandardError / trials
		}
	}
	for name, s := range tallies {
		sd := math.Sqrt(s.squares / trials)
		if covered := s.covered / trials; covered < .932 || covered > .968 {
			t.Errorf("%s: covers %.4f", name, covered)
		}
		if bias := math.Abs(s.sum/trials) / sd; bias > 5/math.Sqrt(trials)+.02 {
			t.Errorf("%s: biased by %.3f deviations", name, bias)
		}
		if r := s.deviation / sd; r < .93 || r > 1.07 {
			t.Errorf("%s: stated deviation is %.3f of what is seen", name, r)
		}
	}
}

// Covary is the variance of any linear functional of the errors, here one in all entries.
func TestSummedCovary(t *testing.T) {
	const trials = 20000
	c := newSummedCase()
	truth := c.truth()
	d := len(truth.Means())
	source := rand.New(rand.NewPCG(8, 9))
	var w, v []Entry
	for i := range d {
		for j := i; j < d; j++ {
			w = append(w, Entry{i, j, source.NormFloat64()})
			v = append(v, Entry{i, j, source.NormFloat64()})
		}
	}
	errs := func(m *Summed, w []Entry) (sum float64) {
		for _, e := range w {
			x := e.Weight * (m.Covariances().At(e.I, e.J) - truth.Covariances().At(e.I, e.J))
			if e.I != e.J {
				x *= 2
			}
			sum += x
		}
		return sum
	}
	var ww, wv float64
	for range trials {
		m := c.noised(source)
		a, b := errs(m, w), errs(m, v)
		ww += a * a / trials
		wv += a * b / trials
	}
	noised := c.noised(source)
	if r := noised.Covary(w, w) / ww; math.Abs(r-1) > .06 {
		t.Errorf("variance is %.3f of what is seen", r)
	}
	if scale := math.Sqrt(noised.Covary(w, w) * noised.Covary(v, v)); math.Abs(noised.Covary(w, v)-wv) > .06*scale {
		t.Errorf("covariance %g, seen %g", noised.Covary(w, v), wv)
	}
}

// Without noise the numbers are those of the data, and intervals have width zero.
func TestSummedExact(t *testing.T) {
	m := newSummedCase().truth()
	e := m.Covariance(1, 2, 0)
	if e.Low != e.High || e.Interval.Estimate != m.Covariances().At(2, 1) {
		t.Errorf("covariance %v", e)
	}
	r := m.Correlation(0, 1, 0)
	want := m.covariance.At(0, 1) / math.Sqrt(m.covariance.At(0, 0)*m.covariance.At(1, 1))
	if math.Abs(r.Interval.Estimate-want) > 1e-12 || r.High-r.Low > 1e-9 {
		t.Errorf("correlation %v, want %v", r, want)
	}
	if one := m.Correlation(1, 1, 0); one.Low != 1 || one.High != 1 {
		t.Errorf("correlation of a column with itself: %v", one)
	}
}

func TestSummedRefuse(t *testing.T) {
	for _, of := range []SummedOf{
		{},
		{Records: 1, Second: mat.NewSymDense(2, nil), Sums: make([]float64, 3)},
		{Second: mat.NewSymDense(2, nil), Sums: make([]float64, 2)},
	} {
		if _, err := NewSummed(of); err == nil {
			t.Errorf("no error for %+v", of)
		}
	}
	m, err := NewSummed(SummedOf{Records: 10, Second: mat.NewSymDense(2, []float64{1, 0, 0, 1}), Sums: make([]float64, 2), Noise: MomentNoise{Square: 4, Product: 2, Sum: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if e := m.Correlation(0, 1, 0); e.Defined() {
		t.Errorf("correlation of noise: %v", e)
	}
	if e := m.Covariance(0, 0, 2); e.Defined() {
		t.Errorf("at level 2: %v", e)
	}
	if e := m.Covariance(0, 0, 0); e.Low != 0 {
		t.Errorf("a variance may be %v", e.Low)
	}
}

// Quotients of noised numbers are covered, even if the denominator's noise is large.
func TestQuotientCovers(t *testing.T) {
	const trials = 4000
	source := rand.New(rand.NewPCG(10, 11))
	covered := 0.0
	for range trials {
		n := Noisy{Value: -30 + 5*source.NormFloat64(), Variance: 25}
		m := Noisy{Value: 60 + 6*source.NormFloat64(), Variance: 36}
		e := Quotient(n, m, 0)
		if !e.Defined() {
			t.Fatal(e)
		}
		if e = e.Times(2).Plus(7); e.Low <= 6 && 6 <= e.High {
			covered++
		}
	}
	if c := covered / trials; c < .932 || c > .968 {
		t.Errorf("covers %.4f", c)
	}
	for _, m := range []Noisy{{Value: 5, Variance: 9}, {Value: -50, Variance: 1}, {}} {
		if e := Quotient(Noisy{Value: 1}, m, 0); e.Defined() {
			t.Errorf("over %+v: %v", m, e)
		}
	}
	if e := (Noisy{Value: 3, Variance: 4}).Estimate(0, 0); e.Low != 0 || math.Abs(e.High-3-2*1.96) > .001 {
		t.Errorf("interval %v", e)
	}
}
