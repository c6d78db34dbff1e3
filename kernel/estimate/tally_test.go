package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/sketch"

	"github.com/cosketch/cosketch/kernel/full"
)

// tallied holds the records of two tallies, with absent values and a label, for exact sums.
type tallied struct {
	x       [][]float64 // NaN where absent
	class   []int
	tally   []int
	columns []TallyColumn
	layout  sketch.MomentLayout
	none    bool // records of the last class have no label
	centres [2][]float64
	units   [2][]float64
}

func newTallied(source *rand.Rand, n int) tallied {
	const d, classes = 4, 3
	out := tallied{layout: sketch.MomentLayout{Columns: d, Products: true, Classes: classes, Cut: true, Attributes: d}}
	for i := range d {
		out.columns = append(out.columns, TallyColumn{Entry: i, Attribute: i})
	}
	for c := range classes {
		out.columns = append(out.columns, TallyColumn{Entry: -1, Class: c})
	}
	for t := range 2 {
		for range d {
			out.centres[t] = append(out.centres[t], source.NormFloat64()*.3)
			out.units[t] = append(out.units[t], math.Exp(source.NormFloat64()*.2))
		}
	}
	for i := range n {
		class := source.IntN(8)
		if class = min(class, 2); class == 2 && source.IntN(2) == 0 {
			class = 1
		}
		common := source.NormFloat64() + float64(class)*.5
		x := make([]float64, d)
		for j := range x {
			x[j] = .4*common + .3*source.NormFloat64() + .2*float64(j)
			if source.Float64() < .25/(1+math.Exp(-3*x[j])) { // larger values are absent more often
				x[j] = math.NaN()
			}
		}
		out.x, out.class, out.tally = append(out.x, x), append(out.class, class), append(out.tally, i%3/2)
	}
	return out
}

// unlabelled returns the same records, without the label for those of the last class.
func (u tallied) unlabelled() tallied {
	u.none, u.columns = true, u.columns[:len(u.columns)-1]
	return u
}

// tallies are the sums, with noise of that standard deviation on each entry.
func (u tallied) tallies(noise float64, source *rand.Rand) []Tally {
	out := make([]Tally, 2)
	l := u.layout
	for t := range out {
		out[t] = Tally{Layout: l, Unlabelled: u.none, Values: make([]float64, l.Entries()), Variances: make([]float64, l.Entries()), Centres: u.centres[t], Units: u.units[t]}
	}
	for r, row := range u.x {
		t := &out[u.tally[r]]
		t.Records++
		v := t.Values
		z := make([]float64, len(row))
		var lacks []int
		for j := range row {
			if z[j] = (row[j] - t.Centres[j]) / t.Units[j]; math.IsNaN(z[j]) {
				z[j], lacks = 0, append(lacks, j)
			}
		}
		class := u.class[r]
		v[l.ClassCount(class)]++
		for i := range z {
			v[l.Sum(i)] += z[i]
			v[l.ClassSum(class, i)] += z[i]
			for j := i; j < len(z); j++ {
				v[l.Product(i, j)] += z[i] * z[j]
			}
		}
		for at, a := range lacks {
			v[l.Absent(class, a)]++
			for _, b := range lacks[:at] {
				v[l.BothAbsent(a, b)]++
			}
			for i := range z {
				v[l.SumAbsent(i, a)] += z[i]
			}
		}
	}
	for t := range out {
		for i := range out[t].Values {
			out[t].Variances[i] = noise * noise
			if noise > 0 {
				out[t].Values[i] += noise * source.NormFloat64()
			}
		}
	}
	return out
}

// value is a record's value in a column; NaN if absent.
func (u tallied) value(r, column int) float64 {
	if c := u.columns[column]; c.Entry < 0 {
		if u.none && u.class[r] == u.layout.Classes-1 {
			return math.NaN()
		}
		if u.class[r] == c.Class {
			return 1
		}
		return 0
	}
	return u.x[r][u.columns[column].Entry]
}

func (u tallied) mean(i int) float64 {
	var n, sum float64
	for r := range u.x {
		if v := u.value(r, i); !math.IsNaN(v) {
			n, sum = n+1, sum+v
		}
	}
	return sum / n
}

func (u tallied) covariance(i, j int) float64 {
	var n, a, b, s float64
	for r := range u.x {
		if x, y := u.value(r, i), u.value(r, j); !math.IsNaN(x) && !math.IsNaN(y) {
			n, a, b, s = n+1, a+x, b+y, s+x*y
		}
	}
	return s/n - a/n*b/n
}

// Without noise, means are over the present values and covariances over the records with both, to
// the last digits, whichever values are absent and whatever centres and units parties have.
func TestTalliesAreExact(t *testing.T) {
	source := rand.New(rand.NewPCG(5, 1))
	all := newTallied(source, 500)
	for name, u := range map[string]tallied{"all labelled": all, "some labelled": all.unlabelled()} {
		m, err := NewTallied(u.tallies(0, nil), u.columns)
		if err != nil {
			t.Fatal(err)
		}
		for i := range u.columns {
			if got, want := m.Means()[i], u.mean(i); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: mean %d: %v, want %v", name, i, got, want)
			}
			for j := range u.columns {
				if got, want := m.Covariances().At(i, j), u.covariance(i, j); math.Abs(got-want) > 1e-12 {
					t.Errorf("%s: covariance %d, %d: %v, want %v", name, i, j, got, want)
				}
			}
		}
	}
}

// Intervals of means, covariances and correlations cover, for each pair of values and classes. 4
// standard errors of a coverage of .95 over 400 draws are .044; for the average of 28 pairs .01 if
// they are independent and .044 if they are not. The power check declares a quarter of the
// variance.
func TestTalliesCover(t *testing.T) {
	full.Statistical(t)
	source := rand.New(rand.NewPCG(5, 2))
	u := newTallied(source, 4000)
	t.Run("all labelled", func(t *testing.T) { talliesCover(t, u, source) })
	t.Run("some labelled", func(t *testing.T) { talliesCover(t, u.unlabelled(), source) })
}

func talliesCover(t *testing.T, u tallied, source *rand.Rand) {
	draws := 400
	var means, covariances, correlations, wrong tally
	mean, covariance := make([]float64, len(u.columns)), mat.NewSymDense(len(u.columns), nil)
	for i := range u.columns {
		mean[i] = u.mean(i)
		for j := range i + 1 {
			covariance.SetSym(i, j, u.covariance(i, j))
		}
	}
	for range draws {
		tallies := u.tallies(25, source)
		m, err := NewTallied(tallies, u.columns)
		if err != nil {
			t.Fatal(err)
		}
		for i := range u.columns {
			means.add(m.Mean(i, 0), mean[i])
			for j := range i + 1 {
				want := covariance.At(i, j)
				covariances.add(m.Covariance(i, j, 0), want)
				if e := m.Correlation(i, j, 0); j < i && e.Defined() {
					correlations.add(e, want/math.Sqrt(covariance.At(i, i)*covariance.At(j, j)))
				}
			}
		}
		for k := range tallies {
			for e := range tallies[k].Variances {
				tallies[k].Variances[e] /= 4
			}
		}
		if m, err = NewTallied(tallies, u.columns); err != nil {
			t.Fatal(err)
		}
		for i := range u.columns {
			for j := range i + 1 {
				wrong.add(m.Covariance(i, j, 0), covariance.At(i, j))
			}
		}
	}
	for name, one := range map[string]tally{"means": means, "covariances": covariances, "correlations": correlations} {
		if rate := one.coverage(); rate < .935 || rate > .985 {
			t.Errorf("%s: %.3f of %d intervals cover", name, rate, one.n)
		}
	}
	if rate := wrong.coverage(); rate > .85 {
		t.Errorf("with a quarter of the variance declared, %.3f cover: the test has no power", rate)
	}
}

// The law of Moments treats errors of entries as independent, each at most at its bound. For
// combinations of entries it is near the exact variance. It is above that, except for counts that
// several entries share.
func TestTalliedLaw(t *testing.T) {
	source := rand.New(rand.NewPCG(5, 3))
	u := newTallied(source, 3000)
	t.Run("all labelled", func(t *testing.T) { talliedLaw(t, u, source) })
	t.Run("some labelled", func(t *testing.T) { talliedLaw(t, u.unlabelled(), source) })
}

func talliedLaw(t *testing.T, u tallied, source *rand.Rand) {
	m, err := NewTallied(u.tallies(20, source), u.columns)
	if err != nil {
		t.Fatal(err)
	}
	all := []int{0, 1, 2, 3, 4, 5}
	moments, why := m.Moments(all)
	if why != "" {
		t.Fatal(why)
	}
	for range 50 {
		a, b := make([]float64, len(all)), make([]float64, len(all))
		for i := range a {
			a[i], b[i] = source.NormFloat64(), source.NormFloat64()
		}
		var w []Entry
		for i := range a {
			for j := range i + 1 {
				weight := (a[i]*b[j] + a[j]*b[i]) / 2
				w = append(w, Entry{j, i, weight})
			}
		}
		s := moments.gradient(a, b)
		exact, bound := m.Covary(w, w), moments.variance(s)
		if bound < .8*exact || bound > 6*exact {
			t.Errorf("variance %v, bound %v", exact, bound)
		}
	}
}
