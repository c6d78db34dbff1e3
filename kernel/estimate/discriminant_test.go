package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/full"
)

// classTrial is a data set of labelled records: columns, then indicators.
type classTrial struct {
	n, classes int
	binary     bool // one indicator around ½ for two classes
	noise      float64
	ridge      float64
	seed       uint64
}

const classColumns = 4

func (u classTrial) data() (c summedCase, of []Indicator) {
	rng := rand.New(rand.NewPCG(u.seed, 3))
	d := classColumns + u.classes
	if u.binary {
		d = classColumns + 1
	}
	c = summedCase{second: mat.NewSymDense(d, nil), sums: make([]float64, d), n: u.n}
	centres, loads := make([][]float64, u.classes), make([]float64, classColumns)
	for k := range centres {
		for range classColumns {
			centres[k] = append(centres[k], .25*rng.NormFloat64())
		}
	}
	for i := range loads {
		loads[i] = .15 * rng.NormFloat64()
	}
	for r := range u.n {
		k := r % (u.classes + 1) % u.classes // the first class has twice as many
		a, x := rng.NormFloat64(), make([]float64, d)
		for i, l := range loads {
			x[i] = centres[k][i] + l*a + .2*rng.NormFloat64()
		}
		if u.binary {
			x[classColumns] = float64(k) - .5
		} else {
			x[classColumns+k] = 1
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
	if u.binary {
		return c, []Indicator{{classColumns, -1, .5}, {classColumns, 1, .5}}
	}
	for k := range u.classes {
		of = append(of, Indicator{classColumns + k, 1, 0})
	}
	return c, of
}

// Shares, means, weights, distances and accuracies of two and of four classes. The power
// check declares half of the noise.
func TestDiscriminantCovers(t *testing.T) {
	full.Statistical(t)
	for _, u := range []classTrial{
		{n: 2000, classes: 2, binary: true, noise: 1}, {n: 2000, classes: 2, binary: true, noise: 8}, {n: 2000, classes: 2, noise: 5}, {n: 4000, classes: 4, noise: 10},
		{n: 2000, classes: 2, binary: true, noise: 8, ridge: .3}, {n: 4000, classes: 4, noise: 10, ridge: .1},
	} {
		var shares, means, weights, distances, accuracies, wrong tally
		trials := full.Or(56, 3000)
		type known struct { // what does not depend on the noise
			summedCase
			o    DiscriminantOptions
			want *Discriminant
		}
		var sets []known
		for u.seed = range 8 {
			c, of := u.data()
			o := DiscriminantOptions{Classes: of, On: []int{0, 1, 2, 3}, Ridge: u.ridge}
			want, why := mustMoments(t, c.truth(), c.all()).Discriminant(o)
			if why != "" {
				t.Fatal(why)
			}
			sets = append(sets, known{c, o, want})
		}
		for trial := range uint64(trials) {
			c := sets[trial%8]
			o, want := c.o, c.want
			got, why := mustMoments(t, c.noised(rand.New(rand.NewPCG(trial, 9))), c.all()).Discriminant(o)
			if why != "" {
				continue
			}
			narrow, why := mustMoments(t, c.understated(rand.New(rand.NewPCG(trial, 9))), c.all()).Discriminant(o)
			if why != "" {
				t.Fatal(why)
			}
			for k := range got.Shares {
				shares.add(got.Shares[k], want.Shares[k].Interval.Estimate)
				for i := range got.Means[k] {
					means.add(got.Means[k][i], want.Means[k][i].Interval.Estimate)
					if k > 0 {
						weights.add(got.Weights[k-1][i], want.Weights[k-1][i].Interval.Estimate)
						wrong.add(narrow.Weights[k-1][i], want.Weights[k-1][i].Interval.Estimate)
					}
				}
			}
			for i, p := range got.Apart {
				distances.add(p.Distance, want.Apart[i].Distance.Interval.Estimate)
				accuracies.add(p.Accuracy, want.Apart[i].Accuracy.Interval.Estimate)
			}
			for _, x := range []*tally{&shares, &means, &weights, &distances, &accuracies} {
				x.seed()
			}
		}
		t.Logf("%+v, %d of %d identified", u, len(shares.seeds), trials)
		if len(shares.seeds) < trials*9/10 {
			t.Errorf("%d of %d identified", len(shares.seeds), trials)
		}
		shares.check(t, "shares", 0.93, 0.98)
		means.check(t, "means", 0.93, 0.98)
		weights.check(t, "weights", 0.93, 0.98)
		distances.check(t, "distances", 0.93, 0.98)
		accuracies.check(t, "accuracies", 0.93, 0.98)
		if wrong.coverage() > 0.85 {
			t.Errorf("with half of the noise declared weights cover %.3f: the test could not tell", wrong.coverage())
		}
	}
}

// Without noise the result is Fisher's discriminant of the records, in original units. Its accuracy
// is that of its scores for normal classes.
func TestDiscriminantOfRecords(t *testing.T) {
	const n, d = 4000, 3
	rng := rand.New(rand.NewPCG(6, 6))
	records, labels := make([][]float64, n), make([]int, n)
	c := summedCase{second: mat.NewSymDense(d+1, nil), sums: make([]float64, d+1), n: n}
	for r := range n {
		labels[r] = min(rng.IntN(3), 1)
		a, k := rng.NormFloat64(), float64(labels[r])
		x := []float64{.2*a + .1*rng.NormFloat64() + .2*k, .3*rng.NormFloat64() - .1*a, .2*rng.NormFloat64() - .15*k, k - .5}
		records[r] = x
		for i := range x {
			c.sums[i] += x[i]
			for j := i; j < len(x); j++ {
				c.second.SetSym(i, j, c.second.At(i, j)+x[i]*x[j])
			}
		}
	}
	units, origins := []float64{10, 1, 5, 1}, []float64{7, 0, -3, 0}
	got, why := mustMoments(t, c.truth(), c.all()).Discriminant(DiscriminantOptions{
		Classes: []Indicator{{d, -1, .5}, {d, 1, .5}}, On: []int{0, 1, 2}, Units: units, Origins: origins,
	})
	if why != "" {
		t.Fatal(why)
	}
	means, counts := [2][]float64{make([]float64, d), make([]float64, d)}, [2]float64{}
	for r, x := range records {
		counts[labels[r]]++
		for i := range d {
			means[labels[r]][i] += x[i]
		}
	}
	within := mat.NewSymDense(d, nil)
	for k := range means {
		for i := range means[k] {
			means[k][i] /= counts[k]
		}
	}
	for r, x := range records {
		for i := range d {
			for j := i; j < d; j++ {
				m := means[labels[r]]
				within.SetSym(i, j, within.At(i, j)+(x[i]-m[i])*(x[j]-m[j])/n)
			}
		}
	}
	var weights mat.VecDense
	delta := mat.NewVecDense(d, nil)
	for i := range d {
		delta.SetVec(i, means[1][i]-means[0][i])
	}
	if err := weights.SolveVec(within, delta); err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("%s: %.12g, want %.12g", what, got, want)
		}
	}
	right := 0.0
	for i := range d {
		near("weight", got.Weights[0][i].Interval.Estimate, weights.AtVec(i)/units[i])
		near("plane", got.Planes[0].Weights[i], weights.AtVec(i))
		near("mean", got.Means[1][i].Interval.Estimate, units[i]*means[1][i]+origins[i])
		near("within", got.Within.At(i, i), within.At(i, i))
	}
	near("distance", got.Apart[0].Distance.Interval.Estimate, mat.Dot(&weights, delta))
	for r, x := range records {
		score := got.Planes[0].Bias
		for i, w := range got.Planes[0].Weights {
			score += w * x[i]
		}
		if score > 0 == (labels[r] == 1) {
			right += 1. / n
		}
	}
	// Five standard errors of a fraction of 4,000.
	if e := got.Apart[0].Accuracy.Interval.Estimate; math.Abs(e-right) > 5*math.Sqrt(right*(1-right)/n) {
		t.Errorf("accuracy %.4f, and %.4f of the records are put right", e, right)
	}
}

// Undefined with a reason: classes that do not stand out, and collinear columns.
func TestDiscriminantRefuses(t *testing.T) {
	c, of := classTrial{n: 200, classes: 3, noise: 60, seed: 1}.data()
	m := mustMoments(t, c.noised(rand.New(rand.NewPCG(1, 1))), c.all())
	if d, why := m.Discriminant(DiscriminantOptions{Classes: of, On: []int{0, 1, 2, 3}}); why == "" {
		t.Errorf("classes that drown: %+v", d)
	}
	c, of = classTrial{n: 2000, classes: 2, noise: 10, seed: 1}.data()
	for i := range c.sums { // the second column equals the first
		v := c.second.At(0, i)
		if i == 1 {
			v = c.second.At(0, 0)
		}
		c.second.SetSym(1, i, v)
	}
	c.sums[1] = c.sums[0]
	m = mustMoments(t, c.noised(rand.New(rand.NewPCG(1, 1))), c.all())
	if _, why := m.Discriminant(DiscriminantOptions{Classes: of, On: []int{0, 1}}); !strings.Contains(why, "not identified") {
		t.Errorf("collinear: %q", why)
	}
	if _, why := m.Discriminant(DiscriminantOptions{Classes: of, On: []int{0}, Level: 2}); why == "" {
		t.Error("level 2")
	}
	// A column that does not stand out is dropped.
	c, of = classTrial{n: 2000, classes: 2, noise: 1, seed: 1}.data()
	for i := range c.sums {
		c.second.SetSym(1, i, 0)
	}
	c.sums[1] = 0
	alone, why := mustMoments(t, c.noised(rand.New(rand.NewPCG(1, 1))), c.all()).Discriminant(DiscriminantOptions{Classes: of, On: []int{0, 1, 2}})
	if why != "" || !slices.Equal(alone.On, []int{0, 2}) || len(alone.Means[0]) != 2 || len(alone.Weights[0]) != 2 || alone.Within.SymmetricDim() != 2 {
		t.Errorf("with an empty column: %+v %s", alone, why)
	}
	// An empty class is left out.
	c, of = classTrial{n: 2000, classes: 3, noise: 1, seed: 1}.data()
	last := len(c.sums) - 1
	c.sums[last] = 0
	for i := range c.sums {
		c.second.SetSym(i, last, 0)
	}
	d, why := mustMoments(t, c.noised(rand.New(rand.NewPCG(1, 1))), c.all()).Discriminant(DiscriminantOptions{Classes: of, On: []int{0, 1}})
	if why != "" || len(d.Classes) != 2 {
		t.Errorf("with an empty class: %+v %s", d, why)
	}
}

// Columns that are collinear within their error separate classes with a ridge that may be raised,
// and rarely without.
func TestRaisedDiscriminant(t *testing.T) {
	const n, d = 4000, 4
	rng := rand.New(rand.NewPCG(6, 6))
	c := summedCase{second: mat.NewSymDense(d+1, nil), sums: make([]float64, d+1), n: n}
	for r := range n {
		class, shared, x := float64(r%2)-.5, rng.NormFloat64(), make([]float64, d+1)
		for i := range d {
			x[i] = class + shared + .1*rng.NormFloat64()
		}
		x[d] = class
		for i := range x {
			c.sums[i] += x[i]
			for j := i; j < len(x); j++ {
				c.second.SetSym(i, j, c.second.At(i, j)+x[i]*x[j])
			}
		}
	}
	c.noise = MomentNoise{Square: 40 * 40, Product: 28 * 28, Sum: 30 * 30}
	of := []Indicator{{d, -1, .5}, {d, 1, .5}}
	const trials = 100
	plain, raised := 0, 0
	for trial := range uint64(trials) {
		m := mustMoments(t, c.noised(rand.New(rand.NewPCG(trial, 9))), c.all())
		o := DiscriminantOptions{Classes: of, On: []int{0, 1, 2, 3}}
		if _, why := m.Discriminant(o); why == "" {
			plain++
		}
		o.Raise = true
		if got, why := m.Discriminant(o); why == "" && got.Ridge > 0 && got.Condition.Defined() {
			raised++
		}
	}
	t.Logf("identified: %d of %d, raised %d", plain, trials, raised)
	if plain > trials/4 || raised < trials*3/4 || plain+raised < trials {
		t.Errorf("%d of %d are identified without a ridge, and %d with one that is raised", plain, trials, raised)
	}
}

// Columns whose variance within classes does not stand out still separate these if the ridge, a
// fraction of their total variance, stands out of the noise.
func TestRidgeKeepsColumnsThatDrownWithinClasses(t *testing.T) {
	const n = 4000
	rng := rand.New(rand.NewPCG(6, 7))
	c := summedCase{second: mat.NewSymDense(2, nil), sums: make([]float64, 2), n: n, noise: MomentNoise{Square: 72 * 72, Product: 51 * 51, Sum: 30 * 30}}
	for r := range n {
		class := float64(r%2) - .5
		x := []float64{class + .2*rng.NormFloat64(), class} // .29 in all, .04 within: noise is .018
		for i := range x {
			c.sums[i] += x[i]
			for j := i; j < len(x); j++ {
				c.second.SetSym(i, j, c.second.At(i, j)+x[i]*x[j])
			}
		}
	}
	o := DiscriminantOptions{Classes: []Indicator{{1, -1, .5}, {1, 1, .5}}, On: []int{0}}
	const trials = 200
	plain, ridged := 0, 0
	var apart tally
	for trial := range uint64(trials) {
		m := mustMoments(t, c.noised(rand.New(rand.NewPCG(trial, 13))), c.all())
		o.Ridge = 0
		if _, why := m.Discriminant(o); why == "" {
			plain++
		}
		o.Ridge = .5
		want, why := mustMoments(t, c.truth(), c.all()).Discriminant(o)
		if why != "" {
			t.Fatal(why)
		}
		if got, why := m.Discriminant(o); why == "" {
			ridged++
			apart.add(got.Apart[0].Distance, want.Apart[0].Distance.Interval.Estimate)
			apart.seed()
		}
	}
	t.Logf("%d of %d without a ridge, %d with one, distances covered %.3f", plain, trials, ridged, apart.coverage())
	if plain > trials/5 || ridged < trials*9/10 {
		t.Errorf("%d of %d have an answer without a ridge, %d with one", plain, trials, ridged)
	}
	apart.check(t, "distance", .93, 1)
}
