package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/kernel/estimate"
)

func near(got, want, part float64) bool { return math.Abs(got-want) <= part*math.Abs(want) }

// An answer is lost if any of its divisors is.
func TestLost(t *testing.T) {
	half := estimate.Standing{Value: 3, Threshold: 3}
	for _, c := range []struct {
		of   Error
		want float64
	}{
		{Error{Undefined: "no"}, 1},
		{Error{}, 0},
		{Error{Standings: []estimate.Standing{half}}, 0.5},
		{Error{Standings: []estimate.Standing{half, half}}, 0.75},
		{Error{Standings: []estimate.Standing{half, {Value: 99, Threshold: 3}}}, 0.5},
	} {
		if got := c.of.FailureProbability(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v is lost with probability %v, want %v", c.of, got, c.want)
		}
	}
}

// More noise on columns, and a shorter column, reduce divisors other than counts of records. The
// error that the method was called on does not change.
func TestNoisierAndShortened(t *testing.T) {
	e := Error{StandardError: 2, HalfWidth: 4, Standings: []estimate.Standing{{Value: 12, Threshold: 3}, {Value: 8, Count: true}}}
	noisier := e.WithNoise(2)
	if noisier.StandardError != 4 || noisier.HalfWidth != 8 || noisier.Standings[0] != (estimate.Standing{Value: 6, Threshold: 3}) || noisier.Standings[1] != e.Standings[1] {
		t.Errorf("with twice the noise %+v", noisier)
	}
	shorter := e.WithVariance(0.25)
	if shorter.StandardError != 2 || shorter.Standings[0].Value != 3 || shorter.Standings[1] != e.Standings[1] {
		t.Errorf("with a quarter of the variance %+v", shorter)
	}
	if e.Standings[0].Value != 12 {
		t.Errorf("the error itself has become %+v", e)
	}
}

// The error of a number that is cut to a range matches that of draws that are cut; Detects ignores
// the cut.
func TestWithinARange(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	whole := Error{StandardError: 0.5, z: 2}
	for _, c := range []struct{ value, lo, hi float64 }{{0, -1, 1}, {0.9, -1, 1}, {1, -1, 1}, {-1, -1, 1}, {0.2, 0, math.Inf(1)}} {
		const draws = 200_000
		var squares float64
		for range draws {
			x := math.Min(math.Max(c.value+0.5*r.NormFloat64(), c.lo), c.hi) - c.value
			squares += x * x / draws
		}
		got := whole.Clamped(c.value, c.lo, c.hi)
		if !near(got.StandardError, math.Sqrt(squares), 0.01) || got.Detects() != whole.Detects() {
			t.Errorf("%v in %v to %v errs by %v, want %v; detects %v", c.value, c.lo, c.hi, got.StandardError, math.Sqrt(squares), got.Detects())
		}
	}
	for _, e := range []Error{{Undefined: "no"}, {}} {
		if got := e.Clamped(0, -1, 1); got.StandardError != 0 || got.Undefined != e.Undefined {
			t.Errorf("%+v became %+v", e, got)
		}
	}
}

// A sketch of many coordinates, without noise and over the same records, has nearly no error. With
// few coordinates every answer has an error of about 1/√k in its units, or √(2/k) if a column meets
// itself.
func TestPairAnswers(t *testing.T) {
	const k = 400
	member := Member{Column: Normal(0.1, 1./3), Origin: 2, Unit: 5, Records: 10_000, Ones: 0.5, Keep: Whole()}
	p := Pair{K: k, X: member, Y: member, Shared: 10_000, Squares: true}
	for name, c := range map[string]struct {
		of   func(Pair) (Error, error)
		want float64
	}{
		"covariance": {Pair.Covariance, 1 / math.Sqrt(k)},
		"variance":   {Pair.Variance, math.Sqrt(2. / k)},
		// x and y have a mean far above their spreads: they are nearly the same column.
		"inner product": {Pair.InnerProduct, math.Sqrt(2. / k)},
	} {
		e, err := c.of(p)
		if err != nil || !near(e.StandardError, c.want, 0.03) || !near(e.HalfWidth, 1.96*c.want, 0.06) {
			t.Errorf("%s: %+v, %v, want %v", name, e, err, c.want)
		}
		noisy := p
		noisy.X.Noise.Variance, noisy.Y.Noise.Variance = 30, 30
		if more, err := c.of(noisy); err != nil || more.StandardError <= e.StandardError {
			t.Errorf("%s: %v with noise and %v without, %v", name, more.StandardError, e.StandardError, err)
		}
		noisy.K = -1
		if _, err := c.of(noisy); err == nil {
			t.Errorf("%s: k = -1 is accepted", name)
		}
	}
	if e, err := p.Mean(); err != nil || !(e.StandardError < 0.06) || len(e.Standings) == 0 {
		t.Errorf("mean: %+v, %v", e, err)
	}
	on, err := p.SharedStanding()
	if err != nil || len(on) == 0 || !on[0].Count || on[0].Lost(1) > 1e-9 {
		t.Errorf("shared records stand out by %+v, %v", on, err)
	}
	p.X.OnesNoise.Variance, p.Y.OnesNoise.Variance, p.Shared = 1e6, 1e6, 10
	if on, err = p.SharedStanding(); err != nil || on[0].Lost(1) < 0.5 {
		t.Errorf("ten shared records under much noise stand out by %+v, %v", on, err)
	}
	p.K = -1
	for name, of := range map[string]func() error{
		"mean":         func() error { _, err := p.Mean(); return err },
		"shared":       func() error { _, err := p.SharedStanding(); return err },
		"distance":     func() error { _, err := p.Distance(); return err },
		"cosine":       func() error { _, err := p.Cosine(); return err },
		"E1":           func() error { _, err := p.CorrelationE1(); return err },
		"E2":           func() error { _, err := p.CorrelationE2(); return err },
		"intersection": func() error { _, err := p.Intersection(); return err },
	} {
		if of() == nil {
			t.Errorf("%s: k = -1 is accepted", name)
		}
	}
}

// In a union both columns, and the column of ones, are of the same records: the error of an answer
// does not grow with the number of parties.
func TestPairOfAUnion(t *testing.T) {
	member := Member{Column: Normal(0, 1./3), Records: 20_000, Ones: 0.5, Keep: Contribution{Mean: 0.9, Square: 0.82}}
	p := Pair{K: 900, X: member, Y: member, Shared: 20_000, Union: true, Squares: true}
	e, err := p.CorrelationE2()
	if err != nil || !near(e.StandardError, 1./30, 0.03) {
		t.Errorf("correlation in a union: %+v, %v", e, err)
	}
}

// The error of the variance of randomised bits matches draws, and is smaller than intervals say.
func TestVarianceOfRandomisedBits(t *testing.T) {
	const records, k, flip, rate = 2000, 1 << 12, 0.3, 0.3
	v := flip * (1 - flip) / (1 - 2*flip) / (1 - 2*flip)
	member := Member{Column: Binary(rate), Records: records, Ones: 1, Keep: Whole()}
	member.Noise = estimate.Noise{Variance: v * records / k, Sources: records}
	e, err := Pair{K: k, X: member, Y: member, Shared: records, Union: true}.Variance()
	if err != nil {
		t.Fatal(err)
	}
	without, err := Pair{K: k, X: Member{Column: member.Column, Records: records, Ones: 1, Keep: Whole()}, Y: member, Shared: records, Union: true}.Variance()
	if err != nil || !(e.StandardError > without.StandardError) {
		t.Errorf("variance of bits errs by %v, and by %v if they are not randomised (%v)", e.StandardError, without.StandardError, err)
	}
	if !(e.HalfWidth > 1.96*e.StandardError) {
		t.Errorf("the interval of ±%v is no wider than the error of %v asks for", e.HalfWidth, e.StandardError)
	}
}
