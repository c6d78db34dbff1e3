package dp

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// floorRoot is ⌊√(a/b)·c⌋ in integer arithmetic.
func floorRoot(a, b, c int64) int64 {
	n := new(big.Int).Mul(big.NewInt(a), new(big.Int).Mul(big.NewInt(c), big.NewInt(c)))
	return n.Sqrt(n.Quo(n, big.NewInt(b))).Int64()
}

// The weights of moments follow the formulas in their comments, exactly or, for roots, at most that
// much and less only by rounding: with larger weights the noise would not cover absent values.
func TestMomentWeightsAreTheirFormulas(t *testing.T) {
	for _, clip := range []int64{64, 100, 641, 5000, MaxMomentClip} {
		for fine := range uint(5) {
			for of, typical := range map[string][]int64{"alike": {900, 900, 900}, "two": {1, 3}, "far apart": {1 << 20, 5, 70_000}} {
				for _, products := range []bool{false, true} {
					for _, n := range []Neighbours{Zeroed, Replaced} {
						p := MomentParts{Products: products, SumWeight: 5, Label: true, Cut: true, CutSums: true, Fourth: products, Typical: typical, Neighbours: n, Fine: fine}
						name := fmt.Sprintf("clip %d, %d finer, %s, products %v, neighbours %d", clip, fine, of, products, n)
						w, err := NewMomentWeights(clip, p)
						if err != nil {
							t.Fatalf("%s: %v", name, err)
						}
						want := MomentWeights{Sum: 5, ClassCount: 5 * (clip / 2) << fine, Cut: 5 * (clip / 4) << fine, CutSum: 2, Fine: fine}
						if products {
							want = MomentWeights{
								Square: 5, Product: 7, Sum: 5 * clip >> fine, ClassSum: 3 * clip >> fine, ClassCount: clip * clip,
								Cut: clip * clip, CutSum: 3 * clip / 2 >> fine, Fourth: clip, Fine: fine,
							}
						}
						a := w.AbsentOf
						w.AbsentOf = Absence{}
						if fmt.Sprint(w) != fmt.Sprint(want) {
							t.Errorf("%s: %+v, want %+v", name, w, want)
						}
						checkAbsence(t, name, a, clip, fine, typical, products, n)
					}
				}
			}
		}
	}
}

func checkAbsence(t *testing.T, name string, a Absence, clip int64, fine uint, typical []int64, products bool, n Neighbours) {
	t.Helper()
	var all int64
	for _, q := range typical {
		all += q
	}
	near := func(what string, got, most, slack int64) {
		if got > most || got < most-slack {
			t.Errorf("%s: %s is %d, want at most %d, and no less than that by more than %d", name, what, got, most, slack)
		}
	}
	if a.Columns() != len(typical) || a.Pairs() != products {
		t.Errorf("%s: absent values of %d columns, pairs %v", name, a.Columns(), a.Pairs())
	}
	rounding := func(weight int64) int64 { return 3 + weight>>17 } // a root has 20 binary digits; the root of q has fewer
	for j, q := range typical {
		near("what an absence takes off", a.ClipReduction(j), clip*clip*q/(2*all), 0)
		least := rounding
		if q*1000 < all { // a root of few digits
			least = func(weight int64) int64 { return 3 + weight>>9 }
		}
		if !products {
			most := floorRoot(q, 2*all, clip)
			near("an absent value", a.Absent(j), 5*most<<fine, 5*(least(most)<<fine))
			continue
		}
		most := floorRoot(7*q, all, clip*clip)
		near("an absent value", a.Absent(j), most, least(most))
		most = floorRoot([]int64{12, 6}[n]*q, all, clip)
		near("a sum where one is absent", a.SumAbsent(j), most>>fine, least(most))
		for l := range j {
			product := new(big.Int).Mul(big.NewInt(14*q*typical[l]), new(big.Int).Exp(big.NewInt(clip), big.NewInt(4), nil))
			most := product.Sqrt(product.Quo(product, big.NewInt(all*all))).Int64()
			near("two absent values", a.BothAbsent(j, l), most, 3+most>>8)
			if a.BothAbsent(l, j) != a.BothAbsent(j, l) {
				t.Errorf("%s: two absent values weigh otherwise in another order", name)
			}
		}
	}
}

// The fast sum of squares is right whenever it reports true, and it does so exactly where the sum
// is sure to fit, whatever the position of an entry.
func TestSmallSquaredNorm(t *testing.T) {
	const most = 1 << 26
	for n := 1; n < 10; n++ {
		for at := range n {
			for _, entry := range []int64{0, 1, -1, most - 1, -most, most, -most - 1, 3*most - 1, -3 * most, math.MinInt64, math.MaxInt64} {
				v := make([]int64, n)
				for i := range v {
					v[i] = int64(i) - 4
				}
				v[at] = entry
				sum, ok := smallSquaredNorm(v)
				if want := entry >= -most && entry < most; ok != want || ok && bigSquaredNorm(v).Cmp(new(big.Int).SetUint64(sum)) != 0 {
					t.Fatalf("of %d, %v in one word: %v", sum, v, ok)
				}
			}
		}
	}
	for n, want := range map[int]bool{1<<12 - 1: true, 1 << 12: false} {
		if _, ok := smallSquaredNorm(make([]int64, n)); ok != want {
			t.Errorf("%d entries in one word: %v", n, ok)
		}
	}
}

// Beyond 2^126 entries are halved until the sum fits, which may suffice.
func TestClipL2HalvesWhatDoesNotFit(t *testing.T) {
	v := []int64{math.MaxInt64, math.MaxInt64, -7}
	if !ClipL2(v, math.MaxInt64-10) || v[0] != math.MaxInt64/2 || v[1] != v[0] || v[2] != -3 {
		t.Errorf("%v", v)
	}
	for _, entry := range []int64{1 << 61, 1<<62 - 1, 1 << 62} {
		v := []int64{entry, entry, entry, 0}
		square, fits := squaredNorm(v)
		if want := bigSquaredNorm(v); fits != (want.BitLen() <= 126) || fits && want.Cmp(new(big.Int).Add(new(big.Int).Lsh(new(big.Int).SetUint64(square.hi), 64), new(big.Int).SetUint64(square.lo))) != 0 {
			t.Errorf("the square of %v fits: %v", v, fits)
		}
	}
}

// Scales of Laplace noise have 34 binary digits, rounded up from L1/ε·(1+2^-32): the same entropy
// gives the same noise.
func TestLaplaceScaleIsPinned(t *testing.T) {
	for _, c := range []struct {
		l1      int64
		epsilon Epsilon
		want    geometric
	}{
		{3, 1, geometric{3<<31 + 2, 31}},
		{1, 1, geometric{1<<32 + 1, 32}},
		{1, 20, geometric{429_496_730, 33}},
		{100, 0.5, geometric{200<<26 + 4, 26}},
		{1 << 32, 1, geometric{1<<33 + 2, 1}},
		{1 << 33, 1, geometric{1<<33 + 2, 0}},
		{1 << 40, 1, geometric{1<<40 + 1<<8, 0}},
	} {
		n := calibrate(t, promise(t, Laplace, Budget{Epsilon: c.epsilon}), Sensitivity{c.l1, c.l1})
		if n.laplace.geometric != c.want {
			t.Errorf("l1 %d at %v: %+v, want %+v", c.l1, c.epsilon, n.laplace.geometric, c.want)
		}
		if scale := math.Ldexp(float64(c.want.numerator), -int(c.want.shift)); n.Scale() != scale {
			t.Errorf("scale %g, want %g", n.Scale(), scale)
		}
	}
	if _, err := Calibrate(promise(t, Laplace, Budget{Epsilon: 1}), Sensitivity{maxScale - maxScale>>32, 1}); err != nil {
		t.Errorf("the largest scale: %v", err)
	}
	if _, err := Calibrate(promise(t, Laplace, Budget{Epsilon: 1}), Sensitivity{maxScale, 1}); err == nil {
		t.Error("a larger scale is drawn")
	}
	if n := calibrate(t, promise(t, Gaussian, Budget{1, 1e-6}), Sensitivity{1, 1}); n.Scale() != 0 {
		t.Errorf("gaussian noise has scale %g", n.Scale())
	}
}

// A Gaussian's variance is ⌈L2²/μ²⌉ + 9, up to the largest standard deviation.
func TestGaussianVarianceIsItsFormula(t *testing.T) {
	for _, b := range []Budget{{0.1, 1e-9}, {1, 1e-6}, {30, 1e-3}} {
		mu, err := MuOf(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, squared := range []int64{1, 2, 1000, 1<<40 + 1} {
			m := new(big.Rat).SetFloat64(float64(mu))
			v := new(big.Rat).Quo(new(big.Rat).SetInt64(squared), m.Mul(m, m))
			n := calibrate(t, promise(t, Gaussian, b), Sensitivity{squared, squared})
			got := new(big.Rat).SetInt64(int64(n.gaussian.variance) - 9)
			if got.Cmp(v) < 0 || new(big.Rat).Sub(got, v).Cmp(big.NewRat(1, 1)) >= 0 {
				t.Errorf("%v, l2 squared %d: variance %d, want 9 more than %s rounded up", b, squared, n.gaussian.variance, v.FloatString(3))
			}
		}
	}
	largest := Noise{guarantee: Guarantee{mechanism: Gaussian, mu: 1}}
	for squared, ok := range map[int64]bool{maxVariance - 9: true, maxVariance - 8: false, math.MaxInt64: false} {
		if _, err := calibrateGaussian(largest.guarantee.mu, Sensitivity{1, squared}); (err == nil) != ok {
			t.Errorf("a variance of %d and 9: %v", squared, err)
		}
	}
}

// Variances of parts of shared noise are rounded up, and at least leastShared.
func TestSharedVarianceIsItsFormula(t *testing.T) {
	for _, variance := range []uint64{10, 47, 48, 49, 1000, 1001, 1002} {
		n := Noise{guarantee: Guarantee{mechanism: Gaussian}, gaussian: discreteGaussian{variance}}
		for parties := 2; parties < 7; parties++ {
			part, err := n.Shared(parties)
			if want := max(16, math.Ceil(float64(variance)/float64(parties))); err != nil || part.Variance() != want {
				t.Errorf("a part of %d between %d is %g, want %g: %v", variance, parties, part.Variance(), want, err)
			}
		}
	}
}

// The extremes: ρ = 0 gives δ = 0, and a huge or infinite ρ gives δ = 1.
func TestConcentratedDeltaOfEdges(t *testing.T) {
	for rho, want := range map[Rho]Delta{0: 0, Rho(math.Inf(1)): 1, 1e6: 1} {
		if got := rho.Delta(0.5); got != want {
			t.Errorf("rho %g: delta %g, want %g", float64(rho), float64(got), float64(want))
		}
	}
}

// A codes sketch moves as a cells sketch does.
func TestCodesSensitivity(t *testing.T) {
	w := NewCellWeights(300, true)
	if w != (CellWeights{300, 100}) || NewCellWeights(300, false) != (CellWeights{300, 0}) {
		t.Errorf("weights %+v", w)
	}
	for _, n := range []Neighbours{Zeroed, Replaced} {
		cells, err := RecordCells(300, 4, w, n)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := RecordCodes(300, 4, w, n); got != cells || err != nil {
			t.Errorf("%+v, want %+v: %v", got, cells, err)
		}
	}
	if s, err := RecordCodes(0, 4, w, Zeroed); err == nil {
		t.Errorf("%+v", s)
	}
}

func TestWhatIsRandomisedIsSaid(t *testing.T) {
	flips, err := RandomiseBits(promise(t, RandomisedResponse, Budget{Epsilon: 1}), 1<<12)
	if err != nil {
		t.Fatal(err)
	}
	classes, err := RandomiseClasses(promise(t, Laplace, Budget{Epsilon: 1}), 3)
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		flips.String():                      "each bit is flipped with probability 0.269",
		classes.String():                    "each of 3 classes stays with probability 0.5761, and becomes each other class with probability 0.2119",
		promise(t, None, Budget{}).String(): "no privacy guarantee",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The sensitivity of moments is the bound in its comment, in integer arithmetic, for all
// combinations of parts.
func TestMomentsSensitivityIsItsFormula(t *testing.T) {
	for mask := range 64 {
		for fine := range uint(3) {
			for _, clip := range []int64{64, 1001, 9000} {
				for _, columns := range []int{1, 2, 5} {
					p := MomentParts{Products: mask&1 > 0, SumWeight: 3, Label: mask&2 > 0, Cut: mask&4 > 0, CutSums: mask&8 > 0, Fourth: mask&17 == 17, Fine: fine}
					if mask&32 > 0 {
						p.Typical, p.SumWeight = []int64{100, 100}, 5
					}
					w, err := NewMomentWeights(clip, p)
					if err != nil {
						t.Fatal(err)
					}
					for _, n := range []Neighbours{Zeroed, Replaced} {
						got, err := RecordMoments(clip, columns, 9, w, n)
						if want := momentsSquare(clip, columns, w, n); err != nil || big.NewInt(got.L2Squared).Cmp(want) != 0 {
							t.Fatalf("%+v cut to %d, %d columns, neighbours %d: l2 squared %d, want %s: %v", p, clip, columns, n, got.L2Squared, want, err)
						}
						if l1 := floorRoot(got.L2Squared, 1, 1); got.L1 < 2*l1 { // of at least nine entries
							t.Fatalf("l1 %d, l2 %d", got.L1, l1)
						}
					}
				}
			}
		}
	}
}

// momentsSquare is the bound on the squared length, computed from the weights.
func momentsSquare(clip int64, columns int, w MomentWeights, n Neighbours) *big.Int {
	of := func(factors ...int64) *big.Int {
		product := big.NewInt(1)
		for _, f := range factors {
			product.Mul(product, big.NewInt(f))
		}
		return product
	}
	sum := func(terms ...*big.Int) *big.Int {
		all := new(big.Int)
		for _, v := range terms {
			all.Add(all, v)
		}
		return all
	}
	c2 := clip * clip
	fine := int64(1) << w.Fine
	linear := sum(of(w.Sum, w.Sum, fine, fine), of(w.CutSum, w.CutSum, fine, fine)).Int64()
	classes := of(w.ClassSum, w.ClassSum, fine, fine).Int64()
	products, fourth := of(w.Square, w.Square, c2, c2), of(w.Fourth, w.Fourth, c2)
	counts, cut := of(w.ClassCount, w.ClassCount), of(w.Cut, w.Cut)
	if n == Zeroed {
		return sum(products, of(linear, c2), of(classes, c2), counts, fourth, cut)
	}
	pair := func(l int64) *big.Int {
		if w.Square == 0 {
			return of(4, l, c2)
		}
		square := of(l, l)
		square.Add(square, of(2*w.Square*w.Square-1))
		square.Quo(square, of(2, w.Square, w.Square)) // rounded up
		apart := of(0)
		if w.Fine > 0 {
			apart = of(2, l, 2, clip, 2*int64(math.Ceil(math.Sqrt(float64(columns))))+1)
		}
		return sum(products, products, of(2, l, c2), square, apart)
	}
	same, other := pair(linear+classes), sum(pair(linear), of(2, classes, c2), counts, counts)
	if same.Cmp(other) < 0 {
		same = other
	}
	return sum(same, cut, fourth, fourth)
}

// If the reductions for absence do not cover its counts, RecordMoments returns an error. These are
// the least clip and the most columns for which they do.
func TestAbsenceIsPaidFor(t *testing.T) {
	most := map[int64]int{}
	for _, clip := range []int64{64, 80, 100, 200, 500} {
		for columns := 1; columns < 40_000; columns = columns + columns/8 + 1 {
			typical := make([]int64, columns)
			for i := range typical {
				typical[i] = 100
			}
			w, err := NewMomentWeights(clip, MomentParts{Products: true, SumWeight: 5, Typical: typical})
			if err != nil {
				break
			}
			_, err = RecordMoments(clip, columns, 9, w, Zeroed)
			// With r/one the rounded half, and weights in units of the clip: a²r² + L·r + 14 + 12r ≤ a² + L.
			n := min(clip*clip/(2*int64(columns)), 1<<10)
			r := float64(n+2) / float64(2*(n+1))
			if paid := 25*r*r+25*r+14+12*r <= 50; paid != (err == nil) {
				t.Fatalf("%d columns cut to %d: %v", columns, clip, err)
			}
			if err == nil {
				most[clip] = columns
			}
		}
	}
	if most[64] < 1 || most[64] >= most[500] {
		t.Errorf("columns by clip: %v", most)
	}
}

// Within rounds its l1 bound up; spread rounds down.
func TestNormsOfOneLength(t *testing.T) {
	for _, c := range []struct {
		squared int64
		entries int
		up      int64
	}{{100, 1, 10}, {101, 1, 11}, {100, 4, 20}, {3, 5, 4}, {1, 1, 1}} {
		if got := SensitivityWithin(c.squared, c.entries); got != (Sensitivity{c.up, c.squared}) {
			t.Errorf("within %d: %+v", c.squared, got)
		}
		if got := sensitivityOver(c.squared, c.entries); got != (Sensitivity{floorRoot(c.squared*int64(c.entries), 1, 1), c.squared}) {
			t.Errorf("a change of %d: %+v", c.squared, got)
		}
	}
}

// Limits that the arguments of the package comment need, and a change of norm 0 in one norm.
func TestLimitsArePinned(t *testing.T) {
	for name, c := range map[string][2]uint64{
		"deviation": {MaxDeviation, 268_435_456}, "variance": {maxVariance, 72_057_594_037_927_936}, "scale": {maxScale, 1_125_899_906_842_624},
		"entry": {maxEntry, 4_611_686_018_427_387_904}, "entries": {maxEntries, 17_179_869_184}, "clip of moments": {MaxMomentClip, 16_384}, "clip of sums": {MaxSumClip, 1_048_576},
		"part of noise": {leastShared, 16}, "smoothing": {smoothing, 9}, "classes": {maxClasses, 65_536}, "bit": {maxFlipsOne, 1_048_576}, "count": {CountWeight, 64},
		"block": {blockEntries, 16_384},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
	for _, s := range []Sensitivity{{0, 1}, {1, 0}, {-1, 1}, {1, -1}} {
		if n, err := Calibrate(promise(t, Gaussian, Budget{1, 1e-6}), s); err == nil {
			t.Errorf("%v for %+v", n, s)
		}
	}
}

// The μ of a budget is the same on all machines: noise is calibrated to it.
func TestMuIsPinned(t *testing.T) {
	for b, want := range map[Budget]string{
		{1e-6, 1e-30}: "0x1.b8bc7b3p-24", {0.1, 1e-9}: "0x1.464f88c8p-06", {1, 1e-6}: "0x1.e4c54424p-03", {8, 1e-6}: "0x1.88135738p+00", {30, 0.01}: "0x1.7752be3p+02", {1000, 0.5}: "0x1.65f31ebp+05",
	} {
		mu, err := MuOf(b)
		if got := fmt.Sprintf("%x", float64(mu)); got != want || err != nil {
			t.Errorf("%v: %s, want %s (%v)", b, got, want, err)
		}
	}
	for _, b := range []Budget{{1e-6, 1e-30}, {1000, 1e-30}} {
		if _, err := MuOf(b); err != nil {
			t.Errorf("at the limits: %v", err)
		}
	}
	for _, b := range []Budget{{0.99e-6, 1e-6}, {1000.1, 1e-6}, {1, 0.99e-30}, {1, 1}} {
		if mu, err := MuOf(b); err == nil {
			t.Errorf("%v: %g", b, float64(mu))
		}
	}
	if g, err := (Guarantee{mechanism: Gaussian, mu: 2, budget: Budget{1, 1e-6}}).Share(0.25); err != nil || g.mu != 1 || math.Abs(float64(EpsilonOf(1, 1e-6)/g.budget.Epsilon)-1) > 1e-12 {
		t.Errorf("%+v, %v", g, err)
	}
}
