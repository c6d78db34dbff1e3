package estimate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// The reach is a quantile: the fraction of errors within it is the level, if their mean is the
// bound.
func TestReachIsAQuantile(t *testing.T) {
	for _, level := range []Level{0, 0.8, 0.99} {
		for _, bias := range []float64{0, 0.1, 0.7, 2, 9, 1000} {
			const deviation = 3
			h, b := level.reach(deviation, bias*deviation)/deviation, bias
			inside := (math.Erfc((b-h)/math.Sqrt2) - math.Erfc((b+h)/math.Sqrt2)) / 2
			if math.Abs(inside-float64(level.orDefault())) > 1e-6 {
				t.Errorf("level %g, bias %g: %g of the errors are within %g deviations", level, bias, inside, h)
			}
		}
	}
	if got := Level(0).reach(0, 2); got != 2 {
		t.Errorf("without noise a bias of 2 reaches %g", got)
	}
}

// cutUnion is the tally of records clipped to a length, with noise, and the means and variances of
// the original records.
func cutUnion(rng *rand.Rand, records [][]float64, clip, noise float64) (t Tally, means, variances []float64) {
	d := len(records[0])
	t = Tally{Records: int64(len(records)), Layout: sketch.MomentLayout{Columns: d, Products: true, Cut: true, CutSums: true}}
	t.Values, t.Variances = make([]float64, t.Layout.Entries()), make([]float64, t.Layout.Entries())
	means, variances = make([]float64, d), make([]float64, d)
	cut := 0.0
	for _, x := range records {
		var squares float64
		for i, v := range x {
			squares += v * v
			means[i] += v / float64(len(records))
			variances[i] += v * v / float64(len(records))
		}
		share := math.Min(1, clip/math.Sqrt(squares))
		if share < 1 {
			cut++
		}
		for i, v := range x {
			t.Values[t.Layout.Sum(i)] += share * v
			if share < 1 {
				t.Values[t.Layout.CutSum(i)] += share * v
			}
			for j := i; j < d; j++ {
				t.Values[t.Layout.Product(i, j)] += share * share * v * x[j]
			}
		}
	}
	for i, mean := range means {
		variances[i] -= mean * mean
	}
	t.Values[t.Layout.CutCount()] = cut
	for i := range t.Values {
		sd := noise
		switch { // from the weights: 7 for products, 3C for sums, C² for the count and 2C for sums of clipped records
		case i < t.Layout.Sum(0):
			sd *= clip * 3 / 7
		case i == t.Layout.CutCount():
			sd *= 3 / clip
		case i > t.Layout.CutCount():
			sd *= 1.5
		}
		t.Values[i] += sd * rng.NormFloat64()
		t.Variances[i] = sd * sd
	}
	t.Clips, t.Priors = []float64{clip}, make([]Prior, d)
	for i := range t.Priors {
		t.Priors[i].Unbounded = true
	}
	return t, means, variances
}

// TestShortenedCover: if long records are clipped, intervals of means and variances cover those of
// the original records. They would not if the loss were ignored. Without long records they keep
// their length.
func TestShortenedCover(t *testing.T) {
	full.Statistical(t)
	const n, d = 4_000, 6
	for name, c := range map[string]struct {
		draw  func(rng *rand.Rand, column int) float64
		clip  float64
		bound float64 // maximum coverage of means if the loss is ignored
		wider float64 // maximum ratio of the lengths of intervals, to those that ignore the loss
	}{
		"one-sided and long": {func(rng *rand.Rand, _ int) float64 { return math.Exp(rng.NormFloat64()) - 1 }, 11, 0.9, 2.5},
		"Pareto":             {func(rng *rand.Rand, _ int) float64 { return math.Pow(1-rng.Float64(), -1/2.5) - 1.5 }, 7, 0.9, 2},
		"normal":             {func(rng *rand.Rand, _ int) float64 { return 0.1 + rng.NormFloat64() }, 6, 1, 1.1},
		"one long among normal ones": {func(rng *rand.Rand, column int) float64 {
			if column > 0 {
				return rng.NormFloat64()
			}
			return math.Exp(rng.NormFloat64()) - 1.6
		}, 5, 0.9, 2},
	} {
		var means, plain, variances, first tally // first: means of the first column, which alone makes records long
		var length, before float64
		rng := rand.New(rand.NewPCG(44, uint64(len(name))))
		for range full.Or(40, 400) {
			records := make([][]float64, n)
			for i := range records {
				for j := range d {
					records[i] = append(records[i], c.draw(rng, j))
				}
			}
			tl, mean, variance := cutUnion(rng, records, c.clip, 14*c.clip)
			var columns []TallyColumn
			for i := range d {
				columns = append(columns, TallyColumn{Entry: i, Attribute: i})
			}
			whole, err := NewTallied([]Tally{tl}, columns)
			if err != nil {
				t.Fatal(err)
			}
			tl.Values[tl.Layout.CutCount()], tl.Variances[tl.Layout.CutCount()] = 0, 0
			short, err := NewTallied([]Tally{tl}, columns)
			if err != nil {
				t.Fatal(err)
			}
			for i := range d {
				a, b := whole.Mean(i, 0), short.Mean(i, 0)
				means.add(a, mean[i])
				plain.add(b, mean[i])
				variances.add(whole.Covariance(i, i, 0), variance[i])
				if i == 0 {
					first.add(a, mean[i])
				}
				length, before = length+a.High-a.Low, before+b.High-b.Low
			}
			means.seed()
			first.seed()
			plain.seed()
			variances.seed()
		}
		t.Logf("%s: means %.3f (%.3f without), variances %.3f, %.2f times as long", name, means.coverage(), plain.coverage(), variances.coverage(), length/before)
		means.check(t, name+": means", 0.93, 1)
		if strings.HasPrefix(name, "one long") {
			first.check(t, name+": means of the long column", 0.9, 1)
		}
		variances.check(t, name+": variances", 0.90, 1)
		if plain.coverage() > c.bound {
			t.Errorf("%s: means cover %.3f where what is lost is left out", name, plain.coverage())
		}
		if length/before > c.wider {
			t.Errorf("%s: intervals are %.2f times as long", name, length/before)
		}
	}
}
