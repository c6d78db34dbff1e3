package dp

import (
	"bytes"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func flips(t *testing.T, epsilon Epsilon, one int64) Flips {
	t.Helper()
	f, err := RandomiseBits(promise(t, RandomisedResponse, Budget{Epsilon: epsilon}), one)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The probability is never below 1/(1+e^ε), which would break the guarantee: compared in 200 bits,
// with e^ε bounded from its series. It is the least such multiple, up to a margin of 1e-12.
func TestFlipsNeverExceedEpsilon(t *testing.T) {
	for _, one := range []int64{2, 16, 256, 1 << 14, 1 << 20} {
		for _, epsilon := range []Epsilon{1e-3, 0.1, 0.5, 1, 1.0986122886681098, 5.541263545158426, 2, 4, 8, 9.7, 20} {
			f, err := RandomiseBits(promise(t, RandomisedResponse, Budget{Epsilon: epsilon}), one)
			if err != nil {
				if !strings.Contains(err.Error(), "reveal nothing") || float64(one)/(1+math.Exp(float64(epsilon))) <= float64(one/2-1) {
					t.Errorf("one %d, epsilon %g: %v", one, float64(epsilon), err)
				}
				continue
			}
			// (one-P)/P ≤ e^ε, and (one-P+1)/(P-1) > e^ε·(1-1e-11).
			power := expBelow(float64(epsilon))
			odds := func(p int64) *big.Float {
				return new(big.Float).SetPrec(200).Quo(new(big.Float).SetInt64(one-p), new(big.Float).SetInt64(p))
			}
			if odds(f.flipped).Cmp(power) > 0 || f.Epsilon() > epsilon {
				t.Errorf("one %d, epsilon %g: %d of %d are flipped, which gives %v", one, float64(epsilon), f.flipped, one, f.Epsilon())
			}
			power.Mul(power, big.NewFloat(1-1e-11))
			if f.flipped > 1 && odds(f.flipped-1).Cmp(power) <= 0 {
				t.Errorf("one %d, epsilon %g: %d of %d are flipped, more than needed", one, float64(epsilon), f.flipped, one)
			}
		}
	}
}

// expBelow is a lower bound on e^x to 150 bits, from the series: the omitted terms are positive.
func expBelow(x float64) *big.Float {
	sum, term := new(big.Float).SetPrec(200).SetInt64(1), new(big.Float).SetPrec(200).SetInt64(1)
	for n := 1; n < 400; n++ {
		term.Mul(term, big.NewFloat(x))
		term.Quo(term, new(big.Float).SetInt64(int64(n)))
		sum.Add(sum, term)
	}
	return sum
}

// The flips of 200,000 bits of either value are compared with their probability, at a
// false-rejection rate of 1e-6. The same samples reject a probability that is 10 % off.
func TestFlipsAreAsLikelyAsStated(t *testing.T) {
	const n = 200_000
	for _, epsilon := range []Epsilon{0.5, 1, 4} {
		f := flips(t, epsilon, 1<<14)
		for _, bit := range []int64{0, 1 << 14} {
			values := slices.Repeat([]int64{bit}, n)
			g, err := NewGenerator(bytes.NewReader(append(make([]byte, 31), byte(bit>>14))))
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Randomise(values, g); err != nil {
				t.Fatal(err)
			}
			flipped := 0.0
			for _, v := range values {
				if v != -f.flipped && v != f.one-f.flipped {
					t.Fatalf("a bit became %d", v)
				}
				if v != bit-f.flipped {
					flipped++
				}
			}
			limit := -distuv.UnitNormal.Quantile(falseRejection / 2)
			z := func(p float64) float64 { return math.Abs(flipped-n*p) / math.Sqrt(n*p*(1-p)) }
			if z(f.Probability()) > limit {
				t.Errorf("epsilon %g, bit %d: %v of %d flipped, want a share of %g", float64(epsilon), bit>>14, flipped, n, f.Probability())
			}
			if z(0.9*f.Probability()) <= limit || z(1.1*f.Probability()) <= limit {
				t.Errorf("epsilon %g: the test has no power", float64(epsilon))
			}
		}
	}
}

// The stated moments follow from the two values that a bit can become. The mean is proportional to
// the bit without an offset.
func TestFlipsMoments(t *testing.T) {
	for _, epsilon := range []Epsilon{0.3, 1, 1.4, 5} {
		f := flips(t, epsilon, 1<<10)
		one, p, offset := float64(f.one), f.Probability(), float64(f.flipped)
		for _, bit := range []float64{0, 1} {
			up := p + (1-2*p)*bit // probability of a one
			mean := up*one - offset
			if math.Abs(mean-bit*float64(f.Span())) > 1e-9*one {
				t.Errorf("epsilon %g: bit %g has mean %g of a span of %d", float64(epsilon), bit, mean, f.Span())
			}
			moment := func(r float64) float64 {
				return up*math.Pow(one-offset-mean, r) + (1-up)*math.Pow(-offset-mean, r)
			}
			v := moment(2)
			if math.Abs(v-f.Variance()) > 1e-9*v || math.Abs(moment(4)-3*v*v-f.FourthCumulant()) > 1e-9*moment(4) {
				t.Errorf("epsilon %g: variance %g and fourth cumulant %g, stated %g and %g",
					float64(epsilon), v, moment(4)-3*v*v, f.Variance(), f.FourthCumulant())
			}
		}
	}
}

func TestRandomiseBitsRefuses(t *testing.T) {
	pure := promise(t, RandomisedResponse, Budget{Epsilon: 1})
	for _, c := range []struct {
		g    Guarantee
		one  int64
		want string
	}{
		{promise(t, Laplace, Budget{Epsilon: 1}), 256, "laplace"},
		{pure, 1, "power of two"},
		{pure, 384, "power of two"},
		{pure, 1 << 21, "power of two"},
		{promise(t, RandomisedResponse, Budget{Epsilon: 1e-6}), 1 << 14, "reveal nothing"},
	} {
		if _, err := RandomiseBits(c.g, c.one); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v with one %d: %v, want %q", c.g, c.one, err, c.want)
		}
	}
	g, err := NewGenerator(bytes.NewReader(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	values := []int64{256, 0, 128}
	if err := flips(t, 1, 256).Randomise(values, g); err == nil || strings.Contains(err.Error(), "128") || !slices.Equal(values, []int64{256, 0, 128}) {
		t.Errorf("a value that is no bit: %v, and %v afterwards", err, values)
	}
	if err := (Flips{}).Randomise(values[:2], g); err == nil {
		t.Error("the zero flips randomise")
	}
	noise, err := Calibrate(pure, Sensitivity{})
	if err != nil || noise.Variance() != 0 {
		t.Errorf("noise after projection: %v, %v", noise, err)
	}
}

// Replacing a record by another doubles the sensitivity, by way of zeros, and the text says so.
func TestReplacing(t *testing.T) {
	s, err := Sensitivity{L1: 3, L2Squared: 5}.Replacing()
	if err != nil || s != (Sensitivity{L1: 6, L2Squared: 20}) {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := (Sensitivity{L1: 1, L2Squared: 1 << 62}).Replacing(); err == nil {
		t.Error("an overflow passed")
	}
	g := promise(t, Gaussian, Budget{1, 1e-6})
	if said := g.Replacing().Statement(Record); !strings.Contains(said, "replaced by another's") || strings.Contains(said, "zeros") {
		t.Error(said)
	}
	if said := g.Statement(Record); !strings.Contains(said, "zeros") {
		t.Error(said)
	}
}
