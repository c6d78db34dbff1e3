package dp

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cosketch/cosketch/kernel/full"
)

// The statistical tests draw from fixed keys, so they are deterministic. Over the choice of the
// key, each would reject a correct sampler with probability 1e-6. The power checks show that the
// same samples reject a distribution whose scale is 10 % off.
const falseRejection = 1e-6

// chiSquare counts samples in bins of equal width around 0 and compares with a
// distribution function. It returns Pearson's statistic over its critical value.
func chiSquare(samples []int64, width int64, cdf func(j int64) float64) float64 {
	counts := map[int64]float64{}
	for _, x := range samples {
		counts[int64(math.Floor(float64(x)/float64(width)))]++
	}
	n := float64(len(samples))
	mass := func(bin int64) float64 { return n * (cdf(bin*width+width-1) - cdf(bin*width-1)) }
	low := int64(0)
	for mass(low-1) >= 20 {
		low--
	}
	high := int64(0)
	for mass(high+1) >= 20 {
		high++
	}
	type cell struct{ seen, expected float64 }
	cells := make([]cell, high-low+3) // the first and the last are the tails
	for bin, count := range counts {
		cells[min(max(bin, low-1), high+1)-low+1].seen += count
	}
	for bin := low; bin <= high; bin++ {
		cells[bin-low+1].expected = mass(bin)
	}
	cells[0].expected, cells[len(cells)-1].expected = n*cdf(low*width-1), n*(1-cdf(high*width+width-1))
	// The statistic has its distribution where every expectation is large. (A distribution
	// that has no second cell of that size is none that the samples are from.)
	join := func(tail, neighbour int) {
		if cells[tail].expected < 20 && high > low {
			cells[neighbour].seen += cells[tail].seen
			cells[neighbour].expected += cells[tail].expected
			cells[tail] = cell{}
		}
	}
	join(0, 1)
	join(len(cells)-1, len(cells)-2)
	statistic, free := 0.0, -1.0
	for _, c := range cells {
		if c.expected > 0 {
			statistic += (c.seen - c.expected) * (c.seen - c.expected) / c.expected
			free++
		}
	}
	critical := distuv.ChiSquared{K: free}.Quantile(1 - falseRejection)
	return statistic / critical
}

// laplaceCDF is the discrete Laplace distribution function of scale t.
func laplaceCDF(t float64) func(int64) float64 {
	q := math.Exp(-1 / t)
	return func(j int64) float64 {
		if j < 0 {
			return math.Pow(q, float64(-j)) / (1 + q)
		}
		return 1 - math.Pow(q, float64(j+1))/(1+q)
	}
}

// gaussianCDF is the discrete Gaussian distribution function: summed for small variances, and for
// large ones the normal distribution at half-integers, which differs from it by far less than any
// sample here can show.
func gaussianCDF(variance float64) func(int64) float64 {
	if variance > 1e6 {
		sd := math.Sqrt(variance)
		return func(j int64) float64 { return distuv.UnitNormal.CDF((float64(j) + 0.5) / sd) }
	}
	reach := int64(40*math.Sqrt(variance)) + 2
	sums, total := make([]float64, 2*reach+1), 0.0
	for i := range sums {
		j := float64(int64(i) - reach)
		total += math.Exp(-j * j / (2 * variance))
		sums[i] = total
	}
	return func(j int64) float64 { return sums[min(max(j+reach, 0), 2*reach)] / total }
}

func sample(t *testing.T, draw func(*Generator) int64, n int, key byte) []int64 {
	g := testGenerator(t, key)
	samples := make([]int64, n)
	for i := range samples {
		samples[i] = draw(g)
	}
	return samples
}

// checkMoments compares mean, variance and fourth cumulant with their exact values,
// within six standard errors (false rejection below 1e-8 each).
func checkMoments(t *testing.T, samples []int64, variance, fourth float64) {
	t.Helper()
	var m1, m2, m4, m8 float64
	n := float64(len(samples))
	for _, x := range samples {
		f := float64(x) / math.Sqrt(variance)
		m1 += f / n
		m2 += f * f / n
		m4 += f * f * f * f / n
		m8 += math.Pow(f, 8) / n
	}
	kurtosis := fourth/(variance*variance) + 3
	for _, c := range []struct {
		name            string
		got, want, sdev float64
	}{
		{"mean", m1, 0, 1},
		{"variance", m2, 1, math.Sqrt(kurtosis - 1)},
		{"fourth moment", m4, kurtosis, math.Sqrt(m8 - kurtosis*kurtosis)},
	} {
		if d := math.Abs(c.got - c.want); d > 6*c.sdev/math.Sqrt(n) {
			t.Errorf("%s is %.5f, want %.5f within %.5f (in standard units)", c.name, c.got, c.want, 6*c.sdev/math.Sqrt(n))
		}
	}
}

// draws is the number of values of a sampler that are compared with its distribution.
func draws() int { return full.Or(50_000, 200_000) }

func TestDiscreteGaussian(t *testing.T) {
	full.Statistical(t)
	for i, c := range []struct {
		variance uint64
		width    int64
	}{{1, 1}, {2, 1}, {10, 1}, {256, 1}, {4096, 3}, {1_000_000, 100}, {1 << 30, 1 << 10}, {1 << 46, 1 << 18}, {maxVariance, 1 << 23}} {
		variance := float64(c.variance)
		for name, samples := range map[string][]int64{
			"table":     sample(t, discreteGaussian{c.variance}.cells().draw, draws(), byte(10+i)),
			"rejection": sample(t, newCKGaussian(c.variance).draw, draws(), byte(110+i)),
		} {
			if s := chiSquare(samples, c.width, gaussianCDF(variance)); s > 1 {
				t.Errorf("variance %d, %s: chi-square is %.2f of its critical value", c.variance, name, s)
			}
			for _, wrong := range []float64{1.1, 0.9} {
				if s := chiSquare(samples, c.width, gaussianCDF(variance*wrong*wrong)); s <= 1 {
					t.Errorf("variance %d, %s: the test does not notice a standard deviation of %.1f times", c.variance, name, wrong)
				}
			}
			exact := variance
			if variance < 3 { // the discrete Gaussian's own variance is below its parameter there
				exact = discreteVariance(variance)
			}
			if variance >= 9 {
				checkMoments(t, samples, exact, 0)
			}
		}
	}
}

// discreteVariance sums the variance of N_Z(0, s2).
func discreteVariance(s2 float64) float64 {
	mass, second := 0.0, 0.0
	for j := -200.0; j <= 200; j++ {
		p := math.Exp(-j * j / (2 * s2))
		mass += p
		second += j * j * p
	}
	return second / mass
}

func TestDiscreteLaplace(t *testing.T) {
	full.Statistical(t)
	for i, c := range []struct {
		scale discreteLaplace
		width int64
	}{
		{discreteLaplace{geometric{1, 0}}, 1}, {discreteLaplace{geometric{3, 2}}, 1}, {discreteLaplace{geometric{1, 3}}, 1},
		{discreteLaplace{geometric{7, 1}}, 1}, {discreteLaplace{geometric{100<<20 + 1, 20}}, 5}, {discreteLaplace{geometric{1 << 30, 0}}, 1 << 26},
		{discreteLaplace{geometric{maxScale, 0}}, 1 << 46}, {discreteLaplace{geometric{maxScale, 34}}, 1 << 12},
	} {
		samplers := map[string][]int64{"rejection": sample(t, c.scale.draw, draws(), byte(30+i))}
		if c.scale.numerator >= 1<<c.scale.shift {
			samplers["table"] = sample(t, c.scale.cells().draw, draws(), byte(130+i))
		}
		scale := c.scale.scale()
		for name, samples := range samplers {
			if s := chiSquare(samples, c.width, laplaceCDF(scale)); s > 1 {
				t.Errorf("scale %g, %s: chi-square is %.2f of its critical value", scale, name, s)
			}
			for _, wrong := range []float64{1.1, 0.9} {
				if scale < 0.5 { // nearly all values are 0: a tenth is a factor e on the rest
					wrong = 1 + 4*(wrong-1)
				}
				if s := chiSquare(samples, c.width, laplaceCDF(scale*wrong)); s <= 1 {
					t.Errorf("scale %g, %s: the test does not notice a scale of %.1f times", scale, name, wrong)
				}
			}
			n := Noise{guarantee: Guarantee{mechanism: Laplace}, laplace: c.scale}
			checkMoments(t, samples, n.Variance(), n.FourthCumulant())
		}
	}
}

// TestDiscreteLaplaceRatio checks the privacy property itself: neighbouring probabilities differ by
// e^(1/t), at 0 too, where counting both signed zeros would show as e^(1/t)/2.
func TestDiscreteLaplaceRatio(t *testing.T) {
	const scale = 2.0
	n := full.Or(250_000, 1_000_000)
	counts := map[int64]float64{}
	for _, x := range sample(t, discreteLaplace{geometric{2, 0}}.cells().draw, n, 50) {
		counts[x]++
	}
	want := 1 / scale
	for j := int64(-6); j <= 6; j++ {
		next := j + 1
		if j < 0 {
			next = j - 1
		} else if j == 0 {
			if d := math.Abs(math.Log(counts[0]/counts[-1]) - want); d > 6*math.Sqrt(1/counts[0]+1/counts[-1]) {
				t.Errorf("log ratio at 0 and -1 is off by %.4f", d)
			}
		}
		got := math.Log(counts[j] / counts[next])
		if tolerance := 6 * math.Sqrt(1/counts[j]+1/counts[next]); math.Abs(got-want) > tolerance {
			t.Errorf("log ratio at %d and %d is %.4f, want %.4f within %.4f", j, next, got, want, tolerance)
		}
	}
}

func TestExpMinus(t *testing.T) {
	const n = 200_000
	g := testGenerator(t, 60)
	for _, c := range []struct{ num, den uint128 }{
		{uint128{0, 0}, uint128{0, 1}},
		{uint128{0, 1}, uint128{0, 1 << 40}},
		{uint128{0, 3}, uint128{0, 10}},
		{uint128{0, 1}, uint128{0, 1}},
		{uint128{0, 27}, uint128{0, 10}},
		{uint128{1 << 50, 12345}, uint128{1 << 51, 999}},
		{uint128{3 << 61, 0}, uint128{1 << 61, 1}},
	} {
		hits := 0
		for range n {
			if g.expMinus(c.num, c.den) {
				hits++
			}
		}
		gamma := (float64(c.num.hi)*0x1p64 + float64(c.num.lo)) / (float64(c.den.hi)*0x1p64 + float64(c.den.lo))
		p := math.Exp(-gamma)
		if got := float64(hits) / n; math.Abs(got-p) > 6*math.Sqrt(p*(1-p)/n)+1e-9 {
			t.Errorf("exp(-%g) happened %.5f of the time, want %.5f", gamma, got, p)
		}
	}
}

// TestSamplersArePinned pins the first 10,000 values of each sampler under a fixed key: the
// samplers use integers only, so every architecture gives these.
func TestSamplersArePinned(t *testing.T) {
	for _, c := range []struct {
		name string
		draw func(*Generator) int64
		want string
	}{
		{"gaussian", discreteGaussian{4569}.cells().draw, "9f0ef50154137ca2eb213df64403211fd81bb8ed9bf4c6af8462b97b9a57fa3b"},
		{"laplace", discreteLaplace{geometric{3<<32 + 1, 30}}.cells().draw, "64694eb83c16fc6ed234b20053b41cce6f5288d2fad32ff2fbec311ad3829f8a"},
		{"widest gaussian", discreteGaussian{maxVariance}.cells().draw, "f76fcdf415efdd78e178230897b582b0a3e5586109a6a42f6dba83168ce20d17"},
		{"narrowest gaussian", discreteGaussian{1}.cells().draw, "095925ef72d51d1618ebc98f0707210cbe5e8c576c4db2148f398f03b807d2c4"},
		{"gaussian of two widths", discreteGaussian{64*64*4 + 1}.cells().draw, "a401a3ab7241b50501510cb894d0052be75450ca26325928220b88b2150ce7a8"},
		{"widest laplace", discreteLaplace{geometric{maxScale, 0}}.cells().draw, "ededc20f71270b39a984d1dcbd644b8f3a6659570d76a26e5cd3e95293477dba"},
		{"laplace of two widths", discreteLaplace{geometric{64<<20 + 1, 20}}.cells().draw, "4e9448511adf7e69a5496927ec018f5e8e1de5af083f1eafd8651308d2592060"},
		{"laplace by rejection", discreteLaplace{geometric{3, 3}}.draw, "d5a82d28faae5afbb48f999fee3afca2cec0d4eeac508ff37ef7ee489d453010"},
		{"laplace by rejection, wide", discreteLaplace{geometric{maxScale - 1, 1}}.draw, "9fc174fb975317a332852f35b2591ec514eb36fa0b14860d0504ba3abf57fd10"},
	} {
		var buffer bytes.Buffer
		for _, x := range sample(t, c.draw, 10_000, 99) {
			if err := binary.Write(&buffer, binary.LittleEndian, x); err != nil {
				t.Fatal(err)
			}
		}
		sum := sha256.Sum256(buffer.Bytes())
		if got := hex.EncodeToString(sum[:]); got != c.want {
			t.Errorf("%s: digest %s, want %s", c.name, got, c.want)
		}
	}
}
