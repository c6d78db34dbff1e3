package projection

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// The trials of a simulation use fixed keys, so results are reproducible. With fresh keys, a
// correct family would fail a comparison with probability below 1e-6 (5 standard errors, two-sided
// normal).
const (
	trials    = 8000
	tolerance = 5
)

// pair returns two vectors of length d with a few heavy coordinates in common, so
// that the fourth-moment terms of the variances are large.
func pair(d int) (x, y []int64) {
	rng := rand.New(rand.NewPCG(7, 11))
	x, y = make([]int64, d), make([]int64, d)
	for i := range d {
		x[i], y[i] = rng.Int64N(41)-20, rng.Int64N(41)-20
	}
	x[0], y[0] = 90, 60
	x[1], y[1] = -70, 50
	return x, y
}

// moments holds the moments of the pair that the variances depend on.
type moments struct{ xx, yy, xy, x2y2, r2, q4 float64 }

func momentsOf(x, y []int64) (m moments) {
	for i := range x {
		a, b := float64(x[i]), float64(y[i])
		z := (a - b) * (a - b)
		m.xx, m.yy, m.xy = m.xx+a*a, m.yy+b*b, m.xy+a*b
		m.x2y2, m.r2, m.q4 = m.x2y2+a*a*b*b, m.r2+z, m.q4+z*z
	}
	return m
}

// estimates returns the scaled inner product and squared distance of the projected vectors.
func estimates(spec Spec, u, v []int64) (inner, distance float64) {
	for i := range u {
		inner += float64(u[i] * v[i])
		distance += float64((u[i] - v[i]) * (u[i] - v[i]))
	}
	scale := spec.Scale() * spec.Scale()
	return inner * scale, distance * scale
}

func columnsSide(t *testing.T, spec Spec, source Source, labels [][]byte, x, y []int64) (u, v []int64) {
	matrix, err := New(spec, source)
	if err != nil {
		t.Fatal(err)
	}
	sums := make([]int64, 2*spec.K)
	for i, label := range labels {
		matrix.AddOuter(sums, label, []int64{x[i], y[i]})
	}
	for i := range spec.K {
		u, v = append(u, sums[2*i]), append(v, sums[2*i+1])
	}
	return u, v
}

func recordsSide(t *testing.T, spec Spec, source Source, labels [][]byte, x, y []int64) (u, v []int64) {
	fixed, err := fixAny(spec, source, labels)
	if err != nil {
		t.Fatal(err)
	}
	u, v = make([]int64, spec.K), make([]int64, spec.K)
	fixed.Project(u, x)
	fixed.Project(v, y)
	return u, v
}

// law is the variance of a family, implemented a second time.
func law(m moments, k, factor, excess float64) (inner, distance float64) {
	return factor * (m.xx*m.yy + m.xy*m.xy - excess*m.x2y2) / k, factor * (2*m.r2*m.r2 - excess*m.q4) / k
}

// Inner products and squared distances are unbiased and have the variance that their family states,
// on each side that it serves. The same tolerances reject the formula of another family (with or
// without the fourth-moment term; with replacement for hadamard), a scale off by √2, and a variance
// off by a sixth.
func TestUnbiasedWithStatedVariance(t *testing.T) {
	const k, d = 16, 24
	x, y := pair(d)
	m := momentsOf(x, y)
	labels := make([][]byte, d)
	for i := range labels {
		labels[i] = []byte("record " + strconv.Itoa(i))
	}
	signs, normal, sampled := [2]float64{1, 2}, [2]float64{1, 0}, [2]float64{16.0 / 31, 2}
	for _, c := range []struct {
		spec        Spec
		law, wrong  [2]float64 // factor and excess
		recordsOnly bool
	}{
		{Spec{Sparse, k, 1}, signs, normal, false},
		{Spec{Sparse, k, 2}, signs, normal, false},
		{Spec{Sparse, k, 4}, signs, normal, false},
		{Spec{Rademacher, k, 0}, signs, normal, false},
		{Spec{Achlioptas, k, 0}, normal, signs, false},
		{Spec{Gaussian, k, 0}, normal, signs, false},
		{Spec{Hadamard, k, 0}, sampled, signs, true},
	} {
		for side, project := range map[string]func(*testing.T, Spec, Source, [][]byte, []int64, []int64) (u, v []int64){
			"columns": columnsSide, "records": recordsSide,
		} {
			if c.recordsOnly && side == "columns" {
				continue
			}
			inner, distance := make([]float64, trials), make([]float64, trials)
			for n := range trials {
				u, v := project(t, c.spec, trial(n), labels, x, y)
				inner[n], distance[n] = estimates(c.spec, u, v)
			}
			name := c.spec.String() + ", " + side
			wantInner, wantDistance := law(m, k, c.law[0], c.law[1])
			otherInner, otherDistance := law(m, k, c.wrong[0], c.wrong[1])
			stated := c.spec.Variance(d)
			compare(t, name+", inner product", inner, m.xy, stated.Product(m.xx, m.yy, m.xy, m.x2y2), otherInner)
			compare(t, name+", distance", distance, m.r2, stated.Distance(m.r2, m.q4), otherDistance)
			if math.Abs(stated.Product(m.xx, m.yy, m.xy, m.x2y2)/wantInner-1)+math.Abs(stated.Distance(m.r2, m.q4)/wantDistance-1) > 1e-12 {
				t.Errorf("%s: states another law", name)
			}
		}
	}
	none := Spec{Identity, d, 0}.Variance(d)
	if none.Product(m.xx, m.yy, m.xy, m.x2y2) != 0 || none.Distance(m.r2, m.q4) != 0 {
		t.Error("identity errs")
	}
}

// compare checks a sample's mean and variance, and that wrong values would be rejected.
func compare(t *testing.T, name string, sample []float64, mean, variance, other float64) {
	t.Helper()
	n := float64(len(sample))
	gotMean, gotVariance := stat.MeanVariance(sample, nil)
	kurtosis := stat.Moment(4, sample, nil) / (gotVariance * gotVariance)
	meanError := math.Sqrt(variance / n)
	relativeError := math.Sqrt((kurtosis - 1) / n)

	meanFits := func(want float64) bool { return math.Abs(gotMean-want) < tolerance*meanError }
	varianceFits := func(want float64) bool { return math.Abs(gotVariance/want-1) < tolerance*relativeError }
	if !meanFits(mean) {
		t.Errorf("%s: mean %.1f, want %.1f ± %.1f", name, gotMean, mean, meanError)
	}
	if !varianceFits(variance) {
		t.Errorf("%s: variance %.4g, want %.4g ± %.1f %%", name, gotVariance, variance, 100*relativeError)
	}
	if meanFits(mean * 2) {
		t.Errorf("%s: no power against a wrong scale", name)
	}
	if varianceFits(other) || varianceFits(variance*7/6) || varianceFits(variance*5/6) {
		t.Errorf("%s: no power: variance %.4g ± %.1f %%, another family has %.4g", name, gotVariance, 100*relativeError, other)
	}
}
