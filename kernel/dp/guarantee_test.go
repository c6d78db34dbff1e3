package dp

import (
	"math"
	"testing"
)

func TestPromiseRefuses(t *testing.T) {
	for _, c := range []struct {
		mechanism Mechanism
		budget    Budget
	}{
		{None, Budget{1, 0}}, {None, Budget{0, 1e-6}},
		{Laplace, Budget{0, 0}}, {Laplace, Budget{-1, 0}}, {Laplace, Budget{1, 1e-6}}, {Laplace, Budget{Epsilon(math.NaN()), 0}},
		{Laplace, Budget{2000, 0}}, {Gaussian, Budget{1, 0}}, {Gaussian, Budget{0, 1e-6}},
		{"", Budget{1, 0}}, {"exponential", Budget{1, 0}},
	} {
		if g, err := Promise(c.mechanism, c.budget); err == nil {
			t.Errorf("%q with %v gave %v, want an error", c.mechanism, c.budget, g)
		}
	}
}

func TestShare(t *testing.T) {
	laplace := promise(t, Laplace, Budget{2, 0})
	if half, err := laplace.Share(0.5); err != nil || half.Epsilon() != 1 || half.Delta() != 0 {
		t.Errorf("half of %v is %v (%v)", laplace, half, err)
	}
	gaussian := promise(t, Gaussian, Budget{1, 1e-6})
	if whole, err := gaussian.Share(1); err != nil || whole != gaussian {
		t.Errorf("all of %v is %v (%v)", gaussian, whole, err)
	}
	var sum Loss
	for _, share := range []float64{0.7, 0.2, 0.1} {
		part, err := gaussian.Share(share)
		if err != nil {
			t.Fatal(err)
		}
		if part.Epsilon() >= 1 || part.Delta() != 1e-6 || part.Mu() >= gaussian.Mu() {
			t.Errorf("share %g of %v is %v with mu %g", share, gaussian, part, float64(part.Mu()))
		}
		sum = sum.Plus(part.Loss())
	}
	if e := sum.Epsilon(1e-6); e > 1 || e < 1-1e-7 {
		t.Errorf("shares compose to epsilon %.10f, want 1", float64(e))
	}
	if none, err := promise(t, None, Budget{}).Share(0.3); err != nil || none.Mechanism() != None {
		t.Errorf("a share of nothing is %v (%v)", none, err)
	}
	for _, share := range []float64{0, -1, 1.5, math.NaN()} {
		if _, err := gaussian.Share(share); err == nil {
			t.Errorf("share %g was accepted", share)
		}
	}
}

func TestPerPerson(t *testing.T) {
	gaussian, laplace := promise(t, Gaussian, Budget{1, 1e-6}), promise(t, Laplace, Budget{8, 0})
	for _, c := range []struct {
		name      string
		guarantee Guarantee
		exposure  Exposure
		want      float64
	}{
		{"three parties at 1 each", gaussian, Exposure{Unit: Record, Parties: 3}, 1.8138},
		{"thirty attributes at 8", laplace, Exposure{Unit: Attribute, Attributes: 30, Parties: 3}, 240},
		{"two parties at 8", laplace, Exposure{Unit: Record, Parties: 2}, 16},
		{"one attribute", gaussian, Exposure{Unit: Attribute, Attributes: 1}, 1},
		{"four attributes: 4 mu", gaussian, Exposure{Unit: Attribute, Attributes: 4}, 4.5924},
		{"no noise", promise(t, None, Budget{}), Exposure{Unit: Record, Parties: 1}, math.Inf(1)},
	} {
		loss, err := c.guarantee.PerPerson(c.exposure)
		if err != nil {
			t.Fatal(err)
		}
		got := float64(loss.Epsilon(1e-6))
		if !(got == c.want || math.Abs(got-c.want) < 1e-4*c.want) {
			t.Errorf("%s: epsilon per person %.4f, want %.4f", c.name, got, c.want)
		}
	}
	for _, e := range []Exposure{{}, {Unit: Record}, {Unit: Attribute, Parties: 2}, {Unit: "row", Parties: 1, Attributes: 1}} {
		if _, err := gaussian.PerPerson(e); err == nil {
			t.Errorf("%+v was accepted", e)
		}
	}
}

func TestStatement(t *testing.T) {
	for _, c := range []struct {
		guarantee Guarantee
		unit      Unit
		want      string
	}{
		{promise(t, Laplace, Budget{1, 0}), Attribute,
			"When one value of one record changes within its bounds, no outcome becomes more than 2.72 times as likely (ε = 1)."},
		{promise(t, Gaussian, Budget{1, 1e-6}), Record,
			"When one record's whole contribution is replaced by zeros, no outcome becomes more than 2.72 times as likely, except for outcomes of probability 1e-06 together (ε = 1, δ = 1e-06)."},
		{promise(t, None, Budget{}), Record, "No noise is added: the release carries no privacy guarantee."},
	} {
		if got := c.guarantee.Statement(c.unit); got != c.want {
			t.Errorf("statement is\n%s\nwant\n%s", got, c.want)
		}
	}
}

func BenchmarkMuOf(b *testing.B) {
	for b.Loop() {
		if _, err := MuOf(Budget{1, 1e-6}); err != nil {
			b.Fatal(err)
		}
	}
}

// A guarantee is rounded up, and what is left of a bound rounded down. Floating-point error is not
// an excess.
func TestBoundsAreStatedAsBounds(t *testing.T) {
	for _, c := range []struct {
		x           float64
		digits      int
		most, least string
	}{
		{1, 4, "1", "1"}, {1.00049, 4, "1.001", "1"}, {1.8138, 3, "1.82", "1.81"}, {0.29117, 4, "0.2912", "0.2911"}, {1e-6, 4, "1e-06", "1e-06"},
		{1.00001e-6, 2, "1.1e-06", "1e-06"}, {0.1 + 0.2, 4, "0.3", "0.3"}, {999.96, 4, "1000", "999.9"}, {9.9999, 4, "10", "9.999"}, {0, 4, "0", "0"}, {math.Inf(1), 4, "+Inf", "+Inf"},
		{123456, 4, "1.235e+05", "1.234e+05"},
	} {
		if most, least := AtMost(c.x, c.digits), AtLeast(c.x, c.digits); most != c.most || least != c.least {
			t.Errorf("%v with %d digits: at most %s, at least %s, want %s and %s", c.x, c.digits, most, least, c.most, c.least)
		}
	}
	g, err := Promise(Gaussian, Budget{Epsilon: 8.0001, Delta: 1.05e-6})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := g.Statement(Record), "When one record's whole contribution is replaced by zeros, no outcome becomes more than 2990 times as likely, except for outcomes of probability 1.1e-06 together (ε = 8.001, δ = 1.05e-06)."; got != want {
		t.Errorf("it says %q", got)
	}
}
