package dp

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/full"
)

// shapes are the samplers under test, with the exact log-probability of a magnitude relative to
// that of 0: -num/den.
type shape struct {
	name  string
	cells *cells
	loss  func(magnitude *big.Int) *big.Rat
}

func shapes() (out []shape) {
	for _, v := range []uint64{1, 2, 10, 11, 257, 4095, 4096, 4097, 16384, 16385, 1_000_003, 1 << 40, maxVariance - 1, maxVariance} {
		out = append(out, shape{fmt.Sprintf("gaussian of variance %d", v), discreteGaussian{v}.cells(), func(m *big.Int) *big.Rat {
			square := new(big.Int).Mul(m, m)
			return new(big.Rat).SetFrac(square, new(big.Int).SetUint64(2*v))
		}})
	}
	for _, d := range []geometric{{1, 0}, {3, 1}, {17<<30 + 3, 30}, {64 << 28, 28}, {64<<28 + 1, 28}, {1_000_003, 0}, {1 << 40, 0}, {maxScale - 1, 0}, {maxScale, 0}} {
		out = append(out, shape{fmt.Sprintf("laplace of scale %g", d.scale()), discreteLaplace{d}.cells(), func(m *big.Int) *big.Rat {
			return new(big.Rat).SetFrac(new(big.Int).Lsh(m, d.shift), new(big.Int).SetUint64(d.numerator))
		}})
	}
	return out
}

// exp returns e^-r to 400 bits, by the positive series of e^r, independently of the package.
func exp(r *big.Rat) *big.Float {
	const precision = 400
	halvings := uint(0)
	for ; r.Cmp(big.NewRat(1, 1)) > 0; halvings++ {
		r = new(big.Rat).Mul(r, big.NewRat(1, 2))
	}
	x := new(big.Float).SetPrec(precision).SetRat(r)
	sum, term := big.NewFloat(1).SetPrec(precision), big.NewFloat(1).SetPrec(precision)
	for k := 1; k < 90; k++ {
		term.Mul(term, x).Quo(term, new(big.Float).SetInt64(int64(k)))
		sum.Add(sum, term)
	}
	sum.Quo(big.NewFloat(1).SetPrec(precision), sum)
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// TestTablesAreExact recomputes every probability of every table by other means: each is within
// 2^-128 of the truth and above 2^-22, as the package comment's lemma requires.
func TestTablesAreExact(t *testing.T) {
	for _, s := range shapes() {
		c := s.cells
		var weights []*big.Float
		total := new(big.Float).SetPrec(400)
		for h := 0; h <= c.count; h++ {
			least := new(big.Int).Lsh(big.NewInt(int64(h)), c.width)
			w := exp(s.loss(least))
			if h == c.count { // the tail's proposals: a geometric series
				proposal := s.proposal()
				ratio := exp(new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(1), proposal.shift), new(big.Int).SetUint64(proposal.numerator)))
				w.Quo(w, ratio.Sub(big.NewFloat(1), ratio)).SetMantExp(w, -int(c.width))
			}
			weights = append(weights, w)
			total.Add(total, w)
		}
		if len(c.table.upper) != c.count || c.count > 384 {
			t.Fatalf("%s: %d bounds for %d cells", s.name, len(c.table.upper), c.count)
		}
		below := new(big.Int)
		least, unit := new(big.Float).SetMantExp(big.NewFloat(1), -22), new(big.Float).SetMantExp(big.NewFloat(1), -128)
		for i, w := range weights {
			bound := new(big.Int).Lsh(big.NewInt(1), 128)
			if i < c.count {
				bound = c.table.upper[i].big()
			}
			got := new(big.Float).SetPrec(400).SetInt(new(big.Int).Sub(bound, below))
			got.SetMantExp(got, -128)
			below = bound
			if d := got.Sub(got, w.Quo(w, total)); d.Abs(d).Cmp(unit) >= 0 {
				t.Errorf("%s: probability of cell %d is off by %.3g", s.name, i, d)
			}
			if w.Cmp(least) < 0 {
				t.Errorf("%s: probability of cell %d is only %.3g", s.name, i, w)
			}
		}
	}
}

// proposal is the geometric distribution of the tail.
func (s shape) proposal() geometric {
	switch l := s.cells.law.(type) {
	case gaussianLaw:
		return l.proposal
	case laplaceLaw:
		return l.geometric
	}
	panic("no such law")
}

// TestAcceptance compares γ within cells, and the tail's acceptance, with the distributions' own
// logarithms. It also checks that decisions by the first 16 bits alone are right.
func TestAcceptance(t *testing.T) {
	all := shapes()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "shape")
		c := s.cells
		h := rapid.IntRange(0, c.count-1).Draw(t, "cell")
		least := uint64(h) << c.width
		step := rapid.Uint64Range(0, 1<<c.width-1).Draw(t, "step")
		num, den := c.law.ratio(least, step)
		gamma := new(big.Rat).SetFrac(num.big(), den.big())
		want := s.loss(new(big.Int).SetUint64(least + step))
		want.Sub(want, s.loss(new(big.Int).SetUint64(least)))
		if gamma.Cmp(want) != 0 || gamma.Cmp(big.NewRat(1, 1)) > 0 || den.hi != 0 {
			t.Fatalf("%s: γ at %d + %d is %v, want %v", s.name, least, step, gamma, want)
		}
		if gamma.Mul(gamma, big.NewRat(1<<acceptBits, 1)).Cmp(big.NewRat(int64(c.sure[h]), 1)) >= 0 && gamma.Sign() > 0 {
			t.Fatalf("%s: %d/2^16 is not sure at %d + %d", s.name, c.sure[h], least, step)
		}
	})
}

// TestAcceptDecides gives accept its words: the first trial must succeed if and only if the whole
// uniform number, of which 16 bits are known, is below γ.
func TestAcceptDecides(t *testing.T) {
	c := discreteGaussian{1 << 40}.cells()
	least, step := uint64(200)<<c.width, uint64(1)<<c.width-1
	num, den := c.law.ratio(least, step)
	edge := num.shifted(acceptBits).over(den) // of the 16 bits
	for _, trial := range []struct {
		name  string
		bits  uint64
		words []uint64
		want  bool
	}{
		{"surely above", edge + 1, nil, true},
		{"on the edge, above", edge, []uint64{^uint64(0) >> 1, 0}, true},
		{"surely below, second trial fails", edge - 1, []uint64{^uint64(0) >> 1, 0}, false},
		{"surely below, second succeeds, third fails", edge - 1, []uint64{0, 0, ^uint64(0) >> 1, 0}, true},
	} {
		if got := c.accept(scripted(trial.words...), least, step, uint32(trial.bits)); got != trial.want {
			t.Errorf("%s: %v, want %v", trial.name, got, trial.want)
		}
	}
}

// TestWordIsCut gives draw one word at a time: prefix, acceptance, sign and step are separate bits.
// More words are drawn only if the 16 bits do not decide.
func TestWordIsCut(t *testing.T) {
	c := discreteGaussian{maxVariance}.cells() // steps of all 22 bits
	const h = 100
	prefix := uint64(c.table.prefix[h]) - 1 // below the cell's bound
	word := func(accept uint32, sign, step uint64) uint64 {
		return prefix<<39 | uint64(accept)<<23 | sign<<22 | step
	}
	for _, step := range []uint64{0, 1, 0x2aaaaa, 1<<22 - 1} {
		for sign, want := range []int64{h<<22 + int64(step), -(h<<22 + int64(step))} {
			g := scripted(word(c.sure[h], uint64(sign), step))
			if got := c.draw(g); got != want || g.used != len(g.block) {
				t.Errorf("sign %d, step %x: %d, want %d", sign, step, got, want)
			}
		}
	}
	open := word(c.sure[h]-1, 0, 1<<22-1)
	g := scripted(open, 1<<62, 1<<62, 1<<62, 1<<62)
	before := g.used
	if c.draw(g); g.used == before+8 {
		t.Error("bits below the sure ones were taken for sure")
	}
}

// TestFind compares find with a search over whole 128-bit numbers: anywhere, and at the bounds and
// one beside them, which random numbers never reach.
func TestFind(t *testing.T) {
	all := shapes()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "shape")
		table := s.cells.table
		u := table.upper[rapid.IntRange(0, len(table.upper)-1).Draw(t, "bound")]
		switch rapid.IntRange(0, 3).Draw(t, "place") {
		case 0:
			u = u.minus(uint128{lo: 1})
		case 1:
			u = u.plus(uint128{lo: 1})
		case 2:
			u = drawUint128(t, "number")
		}
		want := 0
		for want < len(table.upper) && !u.less(table.upper[want]) {
			want++
		}
		g := scripted(u.hi<<prefixBits, u.lo)
		if got := table.find(g, uint32(u.hi>>(64-prefixBits))); got != want {
			t.Fatalf("%s: %v is outcome %d, want %d", s.name, u.big(), got, want)
		}
	})
}

// homogeneity returns Pearson's statistic of two samples over its critical value, in bins of the
// given width around 0 with at least 20 of both samples each.
func homogeneity(a, b []int64, width int64) float64 {
	counts := map[int64][2]float64{}
	count := func(samples []int64, of int) {
		for _, x := range samples {
			bin := int64(math.Floor(float64(x) / float64(width)))
			pair := counts[bin]
			pair[of]++
			counts[bin] = pair
		}
	}
	count(a, 0)
	count(b, 1)
	statistic, bins, rest := 0.0, 0.0, [2]float64{}
	term := func(p [2]float64) {
		if p[0]+p[1] > 0 {
			statistic += (p[0] - p[1]) * (p[0] - p[1]) / (p[0] + p[1]) // samples of equal size
			bins++
		}
	}
	for _, p := range counts {
		if p[0]+p[1] < 20 {
			rest[0] += p[0]
			rest[1] += p[1]
			continue
		}
		term(p)
	}
	term(rest)
	return statistic / distuv.ChiSquared{K: bins - 1}.Quantile(1-falseRejection)
}

// TestTablesAgainstRejection compares the two samplers of each distribution. It also checks the
// power: the comparison detects a sign that is never drawn, a table whose outcomes are shifted by
// one, a missing tail, cells whose integers are all accepted, and a scale that is a tenth off.
// False rejection: 1e-6 for each comparison.
func TestTablesAgainstRejection(t *testing.T) {
	full.Statistical(t)
	const n = 400_000
	for i, c := range []struct {
		name      string
		table     *cells
		reference func(*Generator) int64
		wider     *cells // a scale of 1.1 times
		width     int64  // of a bin
	}{
		{"gaussian, σ = 4", discreteGaussian{16}.cells(), newCKGaussian(16).draw, discreteGaussian{19}.cells(), 1},
		{"gaussian, σ = 2^20", discreteGaussian{1 << 40}.cells(), newCKGaussian(1 << 40).draw, discreteGaussian{(1 << 40) * 121 / 100}.cells(), 1 << 14},
		{"laplace, t = 5", discreteLaplace{geometric{5, 0}}.cells(), discreteLaplace{geometric{5, 0}}.draw, discreteLaplace{geometric{11, 1}}.cells(), 1},
		{"laplace, t = 2^20", discreteLaplace{geometric{1 << 20, 0}}.cells(), discreteLaplace{geometric{1 << 20, 0}}.draw, discreteLaplace{geometric{(1 << 20) * 11 / 10, 0}}.cells(), 1 << 14},
	} {
		reference := sample(t, c.reference, n, byte(200+i))
		compare := func(draw func(*Generator) int64) float64 {
			return homogeneity(sample(t, draw, n, byte(210+i)), reference, c.width)
		}
		if s := compare(c.table.draw); s > 1 {
			t.Errorf("%s: the statistic is %.2f of its critical value", c.name, s)
		}
		shifted, cut, flat := *c.table, *c.table, *c.table
		table := *c.table.table
		table.upper = append([]uint128{{}}, table.upper[:len(table.upper)-1]...)
		table.prefix = append([]uint32{0}, table.prefix[:len(table.prefix)-1]...)
		table.prefix[len(table.prefix)-1] = 1 << prefixBits
		table.guide = [len(table.guide)]uint16{}
		shifted.table, cut.law, flat.sure = &table, noTail{c.table.law}, make([]uint32, c.table.count)
		wrong := map[string]func(*Generator) int64{
			"no sign":    func(g *Generator) int64 { return int64(magnitude(c.table.draw(g))) },
			"off by one": shifted.draw,
			"a tenth":    c.wider.draw,
		}
		if _, laplace := c.table.law.(laplaceLaw); laplace { // a Gaussian's tail has mass 6e-5
			wrong["no tail"] = cut.draw
		}
		if c.table.width > 0 && c.width < 1<<c.table.width {
			wrong["no acceptance"] = flat.draw
		}
		for name, draw := range wrong {
			if s := compare(draw); s <= 1 {
				t.Errorf("%s, %s: the test does not notice (%.2f of the critical value)", c.name, name, s)
			}
		}
	}
}

// noTail is a law without its tail.
type noTail struct{ law }

func (noTail) tail(*Generator, uint64) (uint64, bool) { return 0, false }

// TestTail draws the tail alone and compares it with the distribution beyond the reach.
func TestTail(t *testing.T) {
	const n = 100_000
	for i, v := range []uint64{16, 1 << 30} {
		c := discreteGaussian{v}.cells()
		g := testGenerator(t, byte(220+i))
		var samples []int64
		for len(samples) < n {
			if beyond, ok := c.law.tail(g, c.reach); ok {
				samples = append(samples, int64(c.reach+beyond))
			}
		}
		cdf, before := gaussianCDF(float64(v)), gaussianCDF(float64(v))(int64(c.reach)-1)
		beyond := func(j int64) float64 {
			if j < int64(c.reach) {
				return 0
			}
			return (cdf(j) - before) / (1 - before)
		}
		// Bins from the reach on: chiSquare wants its bins around 0.
		width := max(1, int64(math.Sqrt(float64(v)))/64)
		for i := range samples {
			samples[i] -= int64(c.reach)
		}
		if s := chiSquare(samples, width, func(j int64) float64 { return beyond(j + int64(c.reach)) }); s > 1 {
			t.Errorf("variance %d: chi-square of the tail is %.2f of its critical value", v, s)
		}
		if s := chiSquare(samples, width, func(j int64) float64 { return beyond(j + width + int64(c.reach)) }); s <= 1 {
			t.Errorf("variance %d: the test does not notice a tail that begins a bin too far", v)
		}
	}
}

// TestGeometricWraps checks that values are exact modulo 2^64, however large.
func TestGeometricWraps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := geometric{rapid.Uint64Range(1, maxScale).Draw(t, "numerator"), uint(rapid.IntRange(0, 34).Draw(t, "shift"))}
		u, scales := rapid.Uint64Range(0, d.numerator-1).Draw(t, "u"), rapid.Uint64Range(0, 1<<40).Draw(t, "scales")
		want := new(big.Int).Mul(new(big.Int).SetUint64(d.numerator), new(big.Int).SetUint64(scales))
		want.Add(want, new(big.Int).SetUint64(u)).Rsh(want, d.shift)
		want.And(want, new(big.Int).SetUint64(1<<64-1))
		if got := d.value(u, scales); got != want.Uint64() {
			t.Fatalf("%+v: value %d of %d and %d, want %v", d, got, u, scales, want)
		}
	})
}
