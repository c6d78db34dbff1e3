package estimate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestLevel(t *testing.T) {
	if z := Level(0).z(); math.Abs(z-1.959963984540054) > 3e-10 {
		t.Errorf("z of the default level is %v", z)
	}
	if l := Level(0.95).Bonferroni(10); math.Abs(float64(l)-0.995) > 1e-15 {
		t.Errorf("level of ten intervals is %v, want 0.995", l)
	}
	g := mustGram(t, [][]float64{{1, 2}}, []Noise{{}})
	if e := g.SquaredNorm(Column(0), 1.5); !strings.Contains(e.String(), "undefined: level 1.5") {
		t.Errorf("level 1.5 gives %v", e)
	}
}

// Without noise and with columns of equal record sets, Fieller's interval is Fisher's interval.
func TestCosineIsFisherWithoutNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	columns := make([][]float64, 2)
	for range 40 {
		a := rng.NormFloat64()
		columns[0] = append(columns[0], a)
		columns[1] = append(columns[1], 0.9*a+0.4*rng.NormFloat64())
	}
	g := mustGram(t, columns, make([]Noise, 2))
	e := g.Cosine(Column(0), Column(1), 0.9)
	r := dot(columns[0], columns[1]) / math.Sqrt(dot(columns[0], columns[0])*dot(columns[1], columns[1]))
	z := Level(0.9).z()
	half := math.Atanh(z / math.Sqrt(40-z*z))
	for _, v := range [][2]float64{
		{e.Interval.Estimate, r},
		{e.Low, math.Tanh(math.Atanh(r) - half)},
		{e.High, math.Tanh(math.Atanh(r) + half)},
	} {
		if math.Abs(v[0]-v[1]) > 1e-10 {
			t.Errorf("cosine is %v, want %g and Fisher's ends around it", e, r)
		}
	}
}

func TestUndefinedAndUnbounded(t *testing.T) {
	// The norm of column 0 is below its noise, that of column 2 a little above, that of column 3
	// four standard errors above.
	g := mustGram(t, [][]float64{{1, 0, 0, 1}, {5, 5, 5, 5}, {1, 1, 1, 1.1}, {2, 2, 2, 2}}, []Noise{{Variance: 1}, {}, {Variance: 1}, {Variance: 1}})
	if e := g.Cosine(Column(0), Column(1), 0); e.Defined() || !strings.Contains(e.Undefined, "squared norm") {
		t.Errorf("cosine with a column lost in noise is %v", e)
	}
	if e := g.Cosine(Column(2), Column(1), 0); e.Defined() || !strings.Contains(e.Undefined, "squared norm") {
		t.Errorf("cosine with a column hardly above its noise is %v", e)
	}
	if e := g.Cosine(Column(3), Column(1), .99999); !e.Defined() || e.Low != -1 || e.High != 1 {
		t.Errorf("cosine with a column that may be lost in noise at this level is %v, want it unbounded in [-1, 1]", e)
	}
	v := Variable{Value: 1, Ones: Ones{Column: 0, Weight: 1}}
	w := Variable{Value: 1, Ones: Ones{Column: 1, Weight: 1}}
	if e := g.CorrelationE2(v, w, 0); e.Undefined != noOverlap {
		t.Errorf("correlation with a column of ones lost in noise is %v", e)
	}
	if e := g.CorrelationE1(v, w, 0); !strings.Contains(e.Undefined, "squares has weight 0") {
		t.Errorf("E1 without squares is %v", e)
	}
	if e := g.Intersection(v.Ones, Ones{Column: 1}, 0); !strings.Contains(e.Undefined, "ones has weight 0") {
		t.Errorf("intersection without a weight is %v", e)
	}
	w.Kurtosis = 0.5
	if e := g.CorrelationE2(v, w, 0); !strings.Contains(e.Undefined, "kurtosis") {
		t.Errorf("correlation with kurtosis 0.5 is %v", e)
	}
}

// Equal record sets share all errors: the intersection is exact without noise.
func TestIntersectionOfEqualSetsIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	ones := make([]float64, 1000)
	for i := range ones {
		ones[i] = 0.3
	}
	g := mustGram(t, rademacher(rng, 64, [][]float64{ones, ones}), make([]Noise, 2))
	a, b := Ones{Column: 0, Weight: 0.3, Records: 1000}, Ones{Column: 1, Weight: 0.3, Records: 1000}
	if e := g.Intersection(a, b, 0); e.Low > 1000 || e.High < 1000 || e.High-e.Low > 1e-4 {
		t.Errorf("intersection is %v, want exactly 1000", e)
	}
}

// A combination with the column of ones gives original units.
func TestCombinationsGiveOriginalUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	const centre, spread, weight = 37.0, 2.5, 0.3
	var original, stored, ones []float64
	for range 500 {
		x := centre + spread*rng.NormFloat64()
		original = append(original, x)
		stored = append(stored, (x-centre)/(3*spread))
		ones = append(ones, weight)
	}
	g := mustGram(t, rademacher(rng, 128, [][]float64{original, stored, ones}), make([]Noise, 3))
	x := Combination{{1, 3 * spread}, {2, centre / weight}}
	for _, pair := range [][2]Estimate{
		{g.SquaredNorm(Column(0), 0), g.SquaredNorm(x, 0)},
		{g.InnerProduct(Column(0), Column(2), 0), g.InnerProduct(x, Column(2), 0)},
		{g.SquaredDistance(Column(0), Column(2), 0), g.SquaredDistance(x, Column(2), 0)},
		{g.Cosine(Column(0), Column(2), 0), g.Cosine(x, Column(2), 0)},
	} {
		for _, v := range [][2]float64{
			{pair[0].Interval.Estimate, pair[1].Interval.Estimate}, {pair[0].Low, pair[1].Low}, {pair[0].High, pair[1].High},
		} {
			if math.Abs(v[0]-v[1]) > 1e-9*math.Abs(v[0]) {
				t.Errorf("of the column %v, of the combination %v", pair[0], pair[1])
			}
		}
	}
	if e := g.SquaredDistance(Column(0), x, 0); math.Abs(e.Interval.Estimate) > 1e-15*g.raw.At(0, 0) {
		t.Errorf("the combination is %v away from the column", e)
	}
}
