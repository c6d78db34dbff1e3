package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/full"
)

// drawn is a population of equicorrelated columns from which records are drawn, and how parties sum
// them, as for horizontal sums: values within three spreads, each record clipped to a length, with
// noise. Its population values are those after clipping.
type drawn struct {
	name    string
	sigma   float64 // of the logarithm; 0: normal
	records int
	mu      float64 // of a party's release
	runs    int
	seed    uint64
}

const (
	drawnColumns = 10
	drawnParties = 3
	latent       = .5 // correlation, of the normal values or of the logarithms
)

// clip is the length to which records are clipped, in units of three spreads.
func (d drawn) clip() float64 {
	h := math.Sqrt(drawnParties) / (d.mu * float64(d.records))
	nu := math.Sqrt(34) / 3 * math.Sqrt(drawnColumns) * h
	m := clamp(.6+.8/math.Sqrt(drawnColumns)-.2*math.Log(nu), 1, 3)
	return m * math.Sqrt(drawnColumns) / 3
}

// sums holds sums over records: first to fourth powers, and products.
type sums struct {
	n                     float64
	first, second, fourth []float64
	third                 []float64
}

func newSums() *sums {
	const n = drawnColumns
	return &sums{first: make([]float64, n), second: make([]float64, n*n), third: make([]float64, n), fourth: make([]float64, n)}
}

func (s *sums) add(t *sums) {
	s.n += t.n
	for _, p := range [][2][]float64{{s.first, t.first}, {s.second, t.second}, {s.third, t.third}, {s.fourth, t.fourth}} {
		for i, v := range p[1] {
			p[0][i] += v
		}
	}
}

// mean, covariance and kurtosis of the records.
func (s *sums) mean(i int) float64 { return s.first[i] / s.n }

func (s *sums) covariance(i, j int) float64 {
	return s.second[min(i, j)*drawnColumns+max(i, j)]/s.n - s.mean(i)*s.mean(j)
}

func (s *sums) kurtosis(i int) float64 {
	m, v := s.mean(i), s.covariance(i, i)
	return (s.fourth[i]/s.n - 4*m*s.third[i]/s.n + 6*m*m*s.second[i*drawnColumns+i]/s.n - 3*m*m*m*m) / v / v
}

// draw sums one draw of records.
func (d drawn) draw(source *rand.Rand) *sums {
	out, clip := newSums(), d.clip()
	out.n = float64(d.records)
	mean, spread := math.Exp(d.sigma*d.sigma/2), math.Sqrt(math.Exp(2*d.sigma*d.sigma)-math.Exp(d.sigma*d.sigma))
	x := make([]float64, drawnColumns)
	for range d.records {
		common, square := math.Sqrt(latent)*source.NormFloat64(), 0.0
		for j := range x {
			x[j] = common + math.Sqrt(1-latent)*source.NormFloat64()
			if d.sigma > 0 {
				x[j] = (math.Exp(d.sigma*x[j]) - mean) / spread
			}
			x[j] = clamp(x[j]/3, -1, 1)
			square += x[j] * x[j]
		}
		shrink := math.Min(1, clip/math.Sqrt(square))
		for i := range x {
			x[i] *= shrink
		}
		for i, v := range x {
			out.first[i] += v
			out.third[i] += v * v * v
			out.fourth[i] += v * v * v * v
			row := out.second[i*drawnColumns:]
			for j := i; j < drawnColumns; j++ {
				row[j] += v * x[j]
			}
		}
	}
	return out
}

// noised is the parties' sum with the noise of its mechanism, and the kurtosis of each column from
// a sum of fourth powers with weight C.
func (d drawn) noised(s *sums, source *rand.Rand) (*Summed, []Kurtosis) {
	const n = drawnColumns
	clip := d.clip()
	unit := math.Sqrt(34) * clip * clip / d.mu // of a party
	noise := MomentNoise{
		Square: drawnParties * unit * unit / 25, Product: drawnParties * unit * unit / 49,
		Sum: drawnParties * unit * unit / (9 * clip * clip),
	}
	first, second := make([]float64, n), mat.NewSymDense(n, nil)
	for i := range n {
		first[i] = s.first[i] + math.Sqrt(noise.Sum)*source.NormFloat64()
		for j := i; j < n; j++ {
			v := noise.Product
			if i == j {
				v = noise.Square
			}
			second.SetSym(i, j, s.second[i*n+j]+math.Sqrt(v)*source.NormFloat64())
		}
	}
	m, err := NewSummed(SummedOf{Records: int64(d.records), Second: second, Sums: first, Noise: noise})
	if err != nil {
		panic(err)
	}
	out := make([]Kurtosis, n)
	deviation := math.Sqrt(35*drawnParties) * clip / d.mu / s.n // of the mean fourth power
	for i := range out {
		v := m.covariance.At(i, i)
		out[i] = Kurtosis{math.Max(1, s.kurtosis(i)+deviation*source.NormFloat64()/v/v), deviation / v / v}
	}
	return m, out
}

// rate is a coverage over runs. Runs are independent, draws within one are not.
type rate struct{ shares []float64 }

func (r *rate) add(held, of int) { r.shares = append(r.shares, float64(held)/float64(of)) }

// mean is the coverage with its standard error.
func (r rate) mean() (mean, deviation float64) {
	n := float64(len(r.shares))
	for _, s := range r.shares {
		mean += s / n
	}
	for _, s := range r.shares {
		deviation += (s - mean) * (s - mean) / (n - 1)
	}
	return mean, math.Sqrt(deviation / n)
}

func (e Estimate) covers(truth float64) bool { return e.Defined() && e.Low <= truth && truth <= e.High }

func (e Estimate) coversPopulation(truth float64) bool {
	return e.Population.Known && e.Population.Low <= truth && truth <= e.Population.High
}

// coverages are those of population values over successive draws. The population is all draws
// together.
func (d drawn) coverages() map[string]*rate {
	source := rand.New(rand.NewPCG(d.seed, 5))
	all, draws := newSums(), make([]*sums, d.runs)
	for i := range draws {
		draws[i] = d.draw(source)
		all.add(draws[i])
	}
	out := map[string]*rate{}
	for _, draw := range draws {
		m, noisy := d.noised(draw, source)
		held := map[string][2]int{}
		count := func(name string, in bool) {
			h := held[name]
			if h[1]++; in {
				h[0]++
			}
			held[name] = h
		}
		s := NewSample(m.records, 0)
		kurtosis := map[string]func(i int) Kurtosis{
			"3": func(int) Kurtosis { return Kurtosis{} }, "true": func(i int) Kurtosis { return Kurtosis{Value: all.kurtosis(i)} }, "noisy": func(i int) Kurtosis { return noisy[i] },
		}
		for i := range drawnColumns {
			variance := m.Covariance(i, i, 0)
			mean := s.Mean(m.Mean(i, 0), Numeric(m.covariance.At(i, i), Kurtosis{}))
			count("mean, first", mean.covers(all.mean(i)))
			count("mean", mean.coversPopulation(all.mean(i)))
			for name, k := range kurtosis {
				count("variance, "+name, s.Variance(variance, Numeric(m.covariance.At(i, i), k(i))).coversPopulation(all.covariance(i, i)))
			}
			for j := range i {
				correlation, covariance := m.Correlation(i, j, 0), m.Covariance(i, j, 0)
				c := all.covariance(i, j)
				rho := c / math.Sqrt(all.covariance(i, i)*all.covariance(j, j))
				count("correlation, first", correlation.covers(rho))
				for name, k := range kurtosis {
					x, y := Numeric(m.covariance.At(i, i), k(i)), Numeric(m.covariance.At(j, j), k(j))
					count("correlation, "+name, s.Correlation(correlation, x, y).coversPopulation(rho))
					count("covariance, "+name, s.Covariance(covariance, x, y).coversPopulation(c))
				}
			}
		}
		for name, h := range held {
			if out[name] == nil {
				out[name] = &rate{}
			}
			out[name].add(h[0], h[1])
		}
	}
	return out
}

// TestPopulationCoverage draws populations repeatedly and compares coverages with the stated ones.
// Those of "first" are of the first interval, whose level is .95 for these records; "3", "true" and
// "noisy" are the kurtosis used. Each must be within .02 of what is stated, plus five standard
// errors of the mean over independent runs (false rejection 6e-7). The first intervals of means,
// and variances of skewed values at kurtosis 3, show that misses are detected.
func TestPopulationCoverage(t *testing.T) {
	full.Statistical(t)
	for _, c := range []struct {
		drawn
		want map[string]float64
	}{
		{drawn{"normal", 0, 15000, .8379, 60, 1}, map[string]float64{
			"mean, first": .35, "mean": .95, "correlation, first": .85, "correlation, 3": .95, "correlation, true": .95, "correlation, noisy": .95,
			"covariance, 3": .95, "covariance, true": .95, "covariance, noisy": .95, "variance, 3": .95, "variance, true": .95, "variance, noisy": .95,
		}},
		{drawn{"lognormal(.5)", .5, 15000, .8379, 60, 2}, map[string]float64{
			"mean, first": .36, "mean": .95, "correlation, first": .86, "correlation, 3": .945, "correlation, true": .96, "correlation, noisy": .96,
			"covariance, 3": .94, "covariance, true": .965, "covariance, noisy": .965, "variance, 3": .915, "variance, true": .95, "variance, noisy": .95,
		}},
		{drawn{"lognormal(1)", 1, 15000, .8379, 60, 3}, map[string]float64{
			"mean, first": .42, "mean": .945, "correlation, first": .88, "correlation, 3": .93, "correlation, true": .965, "correlation, noisy": .965,
			"covariance, 3": .90, "covariance, true": .965, "covariance, noisy": .965, "variance, 3": .84, "variance, true": .95, "variance, noisy": .95,
		}},
		{drawn{"lognormal(1) of 100,000", 1, 100000, .2367, 20, 4}, map[string]float64{
			"mean, first": .60, "mean": .95, "correlation, first": .93, "correlation, 3": .95, "correlation, true": .965, "correlation, noisy": .965,
			"covariance, 3": .925, "covariance, true": .965, "covariance, noisy": .965, "variance, 3": .885, "variance, true": .945, "variance, noisy": .94,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := c.coverages()
			for name, want := range c.want {
				mean, deviation := found[name].mean()
				t.Logf("%-20s %.3f ± %.3f, stated %.3f", name, mean, deviation, want)
				if math.Abs(mean-want) > .02+5*deviation {
					t.Errorf("%s: covered %.3f ± %.3f, stated is %.3f", name, mean, deviation, want)
				}
			}
		})
	}
}

// enumerated are the moments of two binary columns by all four kinds of records.
func enumerated(p, q, rho float64) fourths {
	sx, sy := math.Sqrt(p*(1-p)), math.Sqrt(q*(1-q))
	both := p*q + rho*sx*sy
	var m fourths
	for _, r := range []struct{ x, y, share float64 }{{1, 1, both}, {1, 0, p - both}, {0, 1, q - both}, {0, 0, 1 - p - q + both}} {
		x, y := (r.x-p)/sx, (r.y-q)/sy
		m.xxxx += r.share * x * x * x * x
		m.yyyy += r.share * y * y * y * y
		m.xxyy += r.share * x * x * y * y
		m.xxxy += r.share * x * x * x * y
		m.xyyy += r.share * x * y * y * y
	}
	return m
}

func TestMomentsOfBinaryColumnsAreExact(t *testing.T) {
	for _, c := range [][3]float64{{.5, .5, .3}, {.05, .3, .1}, {.9, .2, -.4}, {.01, .99, -.005}} {
		got, rho := Binary(c[0], 2).beside(Binary(c[1], 7), c[2])
		want := enumerated(c[0], c[1], c[2])
		for i, pair := range [][2]float64{{got.xxxx, want.xxxx}, {got.yyyy, want.yyyy}, {got.xxyy, want.xxyy}, {got.xxxy, want.xxxy}, {got.xyyy, want.xyyy}, {rho, c[2]}} {
			if math.Abs(pair[0]-pair[1]) > 1e-9*(1+math.Abs(pair[1])) {
				t.Errorf("rates %v: moment %d is %g, of all records %g", c, i, pair[0], pair[1])
			}
		}
	}
	// The two values of a column exclude each other: correlations beyond that are clamped.
	if _, rho := Binary(.5, 1).beside(Binary(.5, 1), -1.3); math.Abs(rho+1) > 1e-12 {
		t.Errorf("correlation %g of columns that exclude each other", rho)
	}
	if _, rho := Binary(.1, 1).beside(Binary(.5, 1), .9); math.Abs(rho-1./3) > 1e-12 {
		t.Errorf("correlation %g, rates allow for a third", rho)
	}
}

// TestSecondIntervalOfExactEstimates has no noise: the only error is that of sampling.
func TestSecondIntervalOfExactEstimates(t *testing.T) {
	exact := func(x, lo, hi float64) Estimate { return newEstimate(x, x, x, lo, hi) }
	const n, z = 1e6, 1.959963985
	s := NewSample(n, 0)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 2e-5*math.Abs(want) {
			t.Errorf("%s: %.9g, want %.9g", what, got, want)
		}
	}
	half := func(e Estimate) float64 { return (e.Population.High - e.Population.Low) / 2 }
	near("share", half(s.Mean(exact(.2, 0, 1), Binary(.2, 1))), z*math.Sqrt(.16/n))
	near("mean", half(s.Mean(exact(5, -9, 9), Numeric(4, Kurtosis{}))), z*2/math.Sqrt(n))
	near("sum", half(s.Sum(exact(5*n, -9e9, 9e9), Numeric(4, Kurtosis{}))), z*2*math.Sqrt(n))
	near("variance", half(s.Variance(exact(4, 0, 99), Numeric(4, Kurtosis{Value: 9}))), z*4*math.Sqrt(8/n))
	near("covariance", half(s.Covariance(exact(1, -9, 9), Numeric(4, Kurtosis{}), Numeric(1, Kurtosis{}))), z*math.Sqrt(5/n))
	near("a column's covariance with itself", half(s.Covariance(exact(4, -9, 9), Numeric(4, Kurtosis{Value: 9}), Numeric(4, Kurtosis{Value: 9}))), z*4*math.Sqrt(8/n))
	x, y := Numeric(4, Kurtosis{}), Numeric(1, Kurtosis{Value: 6})
	near("correlation", half(s.Correlation(exact(.6, -1, 1), x, y)), z*.64*math.Sqrt(9/(6*n)))
	// Fisher's interval, of few records.
	few := NewSample(103, 0)
	e := few.Correlation(exact(.8, -1, 1), x, x)
	near("low", math.Atanh(.8)-math.Atanh(e.Population.Low), few.quantile/math.Sqrt(103))
	near("high", math.Atanh(e.Population.High)-math.Atanh(.8), few.quantile/math.Sqrt(103))
	// An uncertain kurtosis counts for less.
	near("shrunk", Kurtosis{Value: 9, Error: 2}.assumed(), 6)
	near("told", Kurtosis{Value: 9}.assumed(), 9)
	near("none", Kurtosis{}.assumed(), 3)
	near("least", Kurtosis{Value: -8}.assumed(), 1)
}

// TestSecondIntervalsStayInRange tries what noise may do to an estimate.
func TestSecondIntervalsStayInRange(t *testing.T) {
	source := rand.New(rand.NewPCG(8, 8))
	for range 20000 {
		level := Level(0)
		s := NewSample(math.Exp(12*source.Float64()), level)
		ends := []float64{2*source.Float64() - 1, 2*source.Float64() - 1}
		for i := range ends {
			if source.IntN(4) == 0 {
				ends[i] = math.Copysign(1, ends[i])
			}
		}
		e := newEstimate(3*source.Float64()-1.5, math.Min(ends[0], ends[1]), math.Max(ends[0], ends[1]), -1, 1)
		values := []Values{
			Numeric(source.NormFloat64(), Kurtosis{}), Numeric(math.Exp(20*source.NormFloat64()), Kurtosis{1e5 * source.Float64(), 0}),
			Binary(source.NormFloat64(), 1), Binary(source.Float64()*1e-3, 1), {},
		}
		x, y := values[source.IntN(5)], values[source.IntN(5)]
		a, b := Variable{Ones: Ones{Records: 1 + source.IntN(1e6)}}, Variable{Ones: Ones{Records: 1 + source.IntN(1e6)}}
		for name, got := range map[string]Estimate{
			"mean": s.Mean(e, x), "sum": s.Sum(e, x), "variance": s.Variance(e, x), "covariance": s.Covariance(e, x, y),
			"correlation": s.Correlation(e, x, y), "E2": s.CorrelationE2(e, a, b, x, y),
		} {
			p := got.Population
			if !p.Known || !(-1 <= p.Low && p.Low <= e.Low && e.High <= p.High && p.High <= 1) {
				t.Fatalf("%s: %v of %v, %v and %v has the second interval %+v", name, e, x, y, s, p)
			}
			if got.Interval != e.Interval {
				t.Fatalf("%s: the first interval changed", name)
			}
			scaled := got.Times(7).Plus(-3)
			if q := scaled.Population; q.Low != 7*p.Low-3 || q.High != 7*p.High-3 || !q.Known {
				t.Fatalf("in other units %+v is %+v", p, q)
			}
		}
	}
}

func TestNoSecondIntervalWithoutTheFirst(t *testing.T) {
	s := NewSample(1000, 0)
	if e := s.Mean(undefined("no"), Numeric(1, Kurtosis{})); e.Population.Known || e.Undefined != "no" {
		t.Errorf("an undefined mean has %+v", e)
	}
	if e := s.Correlation(undefined("no"), Numeric(1, Kurtosis{}), Numeric(1, Kurtosis{})); e.Population.Known {
		t.Errorf("an undefined correlation has %+v", e)
	}
	for _, n := range []float64{1, 0, -5, math.NaN(), math.Inf(1)} {
		if e := NewSample(n, 0).Mean(newEstimate(0, -1, 1, -1, 1), Numeric(1, Kurtosis{})); e.Population.Known {
			t.Errorf("%g records have %+v", n, e)
		}
	}
	if e := NewSample(9, 2).Mean(newEstimate(0, -1, 1, -1, 1), Numeric(1, Kurtosis{})); e.Population.Known {
		t.Errorf("level 2 has %+v", e)
	}
}

// TestPopulationCoverageOfSharedRecords has no noise and no projection. In its correlations,
// standard deviations are over each party's records and the covariance over the shared ones. The
// first interval has the error of the other records, the second one that of drawing them all.
// Coverage is compared with .95 as in TestPopulationCoverage, over 4,000 independent runs each:
// deviations above .0172 have probability 6e-7, and .005 more is allowed
// for the approximation. Adding the whole error of shared records to the
// first interval, as if the two were independent, would be off by .03 or more.
func TestPopulationCoverageOfSharedRecords(t *testing.T) {
	const runs, n, shared = 4000, 500, 300
	for _, c := range []struct {
		name string
		rho  float64
		rate [2]float64 // of binary columns
	}{{"bell-shaped", 0, [2]float64{}}, {"bell-shaped", .6, [2]float64{}}, {"binary", .25, [2]float64{.15, .4}}, {"binary", .6, [2]float64{.2, .3}}} {
		source := rand.New(rand.NewPCG(4, uint64(100*c.rho)))
		record := func() (x, y float64) {
			if c.rate[0] == 0 {
				x = source.NormFloat64()
				return x, c.rho*x + math.Sqrt(1-c.rho*c.rho)*source.NormFloat64()
			}
			p, q := c.rate[0], c.rate[1]
			both := p*q + c.rho*math.Sqrt(p*(1-p)*q*(1-q))
			switch u := source.Float64(); {
			case u < both:
				return 1, 1
			case u < p:
				return 1, 0
			case u < p+q-both:
				return 0, 1
			}
			return 0, 0
		}
		covered := 0
		for range runs {
			var x, y, xx, yy, sx, sy, xy float64 // the last three over the shared records
			for i := range 2*n - shared {
				a, b := record()
				if i < n {
					x, xx = x+a, xx+a*a
				}
				if i >= n-shared {
					y, yy = y+b, yy+b*b
				}
				if i >= n-shared && i < n {
					sx, sy, xy = sx+a, sy+b, xy+a*b
				}
			}
			vx, vy := xx/n-x*x/n/n, yy/n-y*y/n/n
			rho := (xy/shared - sx*sy/shared/shared) / math.Sqrt(vx*vy)
			a, b := Variable{Ones: Ones{Records: n}}, Variable{Ones: Ones{Records: n}}
			had := 1.96 * math.Abs(rho) * math.Sqrt(2*sampling(a, n, shared))
			s, e := NewSample(shared, 0), newEstimate(rho, rho-had, rho+had, -1, 1)
			u, v := Numeric(vx, Kurtosis{}), Numeric(vy, Kurtosis{})
			if c.rate[0] > 0 {
				u, v = Binary(x/n, 1), Binary(y/n, 1)
			}
			if s.CorrelationE2(e, a, b, u, v).coversPopulation(c.rho) {
				covered++
			}
		}
		got := float64(covered) / runs
		t.Logf("%s %g: %.4f", c.name, c.rho, got)
		if math.Abs(got-.95) > .0172+.005 {
			t.Errorf("%s columns of correlation %g: covered %.4f", c.name, c.rho, got)
		}
	}
}

// TestPopulationCoverageOfRegressions draws records of a linear law, and noise for their sums.
// Coverage is compared with .95 over independent runs; deviations of five standard errors have
// probability 6e-7, and .01 more is allowed for the approximation. The first interval, without the
// sampling error, fails.
func TestPopulationCoverageOfRegressions(t *testing.T) {
	const runs, n = 3000, 300
	truth := []float64{.5, -.3, 2} // coefficients, and the intercept, with x of mean 1
	for _, c := range []struct {
		name  string
		noise MomentNoise
		first float64 // at most
	}{{"without noise", MomentNoise{}, .01}, {"with noise", MomentNoise{Square: 40, Product: 20, Sum: 20}, .85}} {
		source := rand.New(rand.NewPCG(6, 6))
		held, first := make([]int, 3), 0
		for range runs {
			const d = 3
			sums, second := make([]float64, d), mat.NewSymDense(d, nil)
			for range n {
				a := source.NormFloat64()
				x := []float64{1 + a, 1 + .6*a + .8*source.NormFloat64(), 0}
				x[2] = truth[0]*x[0] + truth[1]*x[1] + truth[2] + source.NormFloat64()
				for i := range d {
					sums[i] += x[i]
					for j := i; j < d; j++ {
						second.SetSym(i, j, second.At(i, j)+x[i]*x[j])
					}
				}
			}
			for i := range d {
				sums[i] += math.Sqrt(c.noise.Sum) * source.NormFloat64()
				for j := i; j < d; j++ {
					v := c.noise.Product
					if i == j {
						v = c.noise.Square
					}
					second.SetSym(i, j, second.At(i, j)+math.Sqrt(v)*source.NormFloat64())
				}
			}
			of, err := NewSummed(SummedOf{Records: n, Second: second, Sums: sums, Noise: c.noise})
			if err != nil {
				t.Fatal(err)
			}
			m, why := of.Moments([]int{0, 1, 2})
			if why != "" {
				t.Fatal(why)
			}
			// In units a tenth as large, with another zero: the intercept is at x = 0, y = 0.
			r, why := m.Regression(RegressionOptions{Target: 2, On: []int{0, 1}, Units: []float64{10, 10, 10}, Origins: []float64{30, 30, 30}})
			if why != "" {
				t.Fatal(why)
			}
			intercept := 10*truth[2] + 30*(1-truth[0]-truth[1])
			for i, e := range append(r.Coefficients, r.Intercept) {
				if e.coversPopulation([]float64{truth[0], truth[1], intercept}[i]) {
					held[i]++
				}
			}
			if r.Coefficients[0].covers(truth[0]) {
				first++
			}
			if r.R2.Population.Known || r.Residual.Population.Known || r.Condition.Population.Known {
				t.Fatal("what has no second interval has one")
			}
		}
		t.Logf("%s: %v of %d hold, of first intervals %d", c.name, held, runs, first)
		for i, h := range held {
			if got := float64(h) / runs; math.Abs(got-.95) > 5*math.Sqrt(.95*.05/runs)+.01 {
				t.Errorf("%s: number %d is covered %.4f", c.name, i, got)
			}
		}
		if got := float64(first) / runs; got > c.first {
			t.Errorf("%s: the first interval covers the population's coefficient in %.3f", c.name, got)
		}
	}
}
