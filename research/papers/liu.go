package papers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/stream"
	"github.com/cosketch/cosketch/testnet/networks"
)

// liuTable describes table I or II.
type liuTable struct {
	name      string
	what      string
	estimate  func(u, v []float64) float64
	truth     func(xx, yy, xy float64) float64
	deviation func(xx, yy, xy float64, k int) float64 // relative standard deviation, by theory
	published map[int]float64                         // mean relative error in %
	drawn     int                                     // index of its number in the study on nodes

	// With noise, for columns with bounds 0 and hx, or 0 and hy.
	noised      func(xx, yy, xy, both float64, k int, v noised) float64
	sensitivity func(hx, hy float64) float64 // of the exact number to a change of one value
	crossed     float64                      // coefficient of the product in it
}

var (
	tableOne = liuTable{
		name: "liu-1", what: "inner product of two columns",
		estimate: dot,
		truth:    func(_, _, xy float64) float64 { return xy },
		deviation: func(xx, yy, xy float64, k int) float64 {
			cos2 := xy * xy / xx / yy
			return math.Sqrt((1 + cos2) / (cos2 * float64(k)))
		},
		published: map[int]float64{100: 9.91, 500: 5.84, 1000: 2.94, 2000: 2.69, 3000: 1.81},
		noised:    productVariance, sensitivity: func(hx, hy float64) float64 { return hx * hy }, crossed: 1,
	}
	tableTwo = liuTable{
		name: "liu-2", what: "squared distance of two columns",
		estimate:  apart,
		truth:     func(xx, yy, xy float64) float64 { return xx + yy - 2*xy },
		deviation: func(_, _, _ float64, k int) float64 { return math.Sqrt(2 / float64(k)) },
		published: map[int]float64{100: 10.44, 500: 4.97, 1000: 2.70, 2000: 2.59, 3000: 1.80},
		drawn:     1,
		noised:    distanceVariance, sensitivity: func(hx, hy float64) float64 { return math.Pow(max(hx, hy), 2) }, crossed: 2,
	}
)

// publishedRuns is the number of matrices behind each of the paper's means.
const publishedRuns = 20

func liuErrors(ctx context.Context, o Options, table liuTable) (Table, error) {
	adult, err := o.Corpus.Adult()
	if err != nil {
		return Table{}, err
	}
	const records = 10_000
	x, err := adult.Numbers("fnlwgt")
	if err != nil {
		return Table{}, err
	}
	y, err := adult.Numbers("education-num")
	if err != nil {
		return Table{}, err
	}
	x, y = x[:records], y[:records]
	xx, yy, xy := dot(x, x), dot(y, y), dot(x, y)
	truth := table.truth(xx, yy, xy)
	flat := make([]int64, 0, 2*records)
	labels := make([][]byte, records)
	for i := range x {
		flat = append(flat, int64(x[i]), int64(y[i]))
		labels[i] = fmt.Appendf(nil, "%d", i)
	}
	t := Table{
		Question: "How far off is the " + table.what + " that is taken from their projections?",
		Setting:  fmt.Sprintf("Adult, the first %d records, fnlwgt and education-num as they are; R of k rows with normal entries; %d matrices a line, in this process.", records, o.Repeats),
		Columns:  []string{"k", "published mean error", "95 % of means of 20", "our mean error", "theory", "2,000 draws of its law"},
	}
	r := source(table.name, -1)
	chart := newErrorChart(table.name, "Mean relative error of the "+table.what+", by k", "k", "mean relative error, %")
	var asPlayed []float64 // signed errors at the k of the study on nodes
	for _, k := range []int{100, 500, 1000, 2000, 3000} {
		spec := projection.Spec{Family: projection.Gaussian, K: k}
		errs, err := each(ctx, o, o.Repeats, func(i int) (float64, error) {
			matrix, err := projection.New(spec, stream.New(key(table.name, i*10_000+k)))
			if err != nil {
				return 0, err
			}
			sums := make([]int64, 2*k)
			matrix.AddOuters(sums, labels, flat)
			u, v, scale := make([]float64, k), make([]float64, k), spec.Scale()
			for j := range k {
				u[j], v[j] = float64(sums[2*j])*scale, float64(sums[2*j+1])*scale
			}
			return 100 * (table.estimate(u, v) - truth) / truth, nil
		})
		if err != nil {
			return Table{}, err
		}
		if k == adultK {
			asPlayed = slices.Clone(errs)
		}
		for i, e := range errs {
			errs[i] = math.Abs(e)
		}
		twenty := means(errs, publishedRuns, 4000, r)
		low, high := quantile(twenty, 0.025), quantile(twenty, 0.975)
		deviation := 100 * table.deviation(xx, yy, xy, k)
		theory := deviation * math.Sqrt(2/math.Pi)
		ours := mean(errs)
		published := table.published[k]
		law := table.law(xx, yy, xy, k, lawRuns)
		t.Lines = append(t.Lines, Line{
			Cells: []string{fmt.Sprint(k), percent(published), fmt.Sprintf("%s to %s", percent(low), percent(high)), percent(ours), percent(theory), percent(mean(law))},
			Holds: published >= low && published <= high && math.Abs(ours-theory) < 5*standardError(errs) &&
				math.Abs(mean(law)-theory) < 3*standardError(law)+theory/float64(k),
			Because: "the published mean lies where 95 % of our means of 20 lie, our mean is within five standard errors of theory, and that of the law within three (and 1/k, as theory takes errors for normal)",
		})
		chart.add(float64(k), published, ours, low, high, theory)
	}
	t.charts = append(t.charts, chart.done())
	t.Beyond = columnsBeyond(table, x, y)
	drawn, err := o.play(ctx, adultStudy(x, y), func(out Outcome) ([]Drawn, error) { return readAdult(out, xx, yy, xy) })
	if err != nil {
		return Table{}, err
	}
	if drawn != nil {
		drawn = drawn[table.drawn : table.drawn+1]
	}
	t.compare(fmt.Sprintf("The two columns at two of three parties, columns side, family gaussian, k = %d, mechanism none, as the paper has it; the bounds are 0 and the greatest value.", adultK),
		drawn, spread(asPlayed).in("%").of(0))
	return t, nil
}

// lawRuns is the number of draws from the distribution of errors.
const lawRuns = 2000

// law draws relative errors, in percent, from their distribution for two columns sketched with
// normal entries: k pairs of normal variables whose covariance is that of the columns' products.
func (t liuTable) law(xx, yy, xy float64, k, runs int) []float64 {
	r, out := source(t.name+"-law", k), make([]float64, runs)
	slope, rest := xy/math.Sqrt(xx), math.Sqrt(yy-xy*xy/xx)
	scale := 1 / math.Sqrt(float64(k))
	u, v := make([]float64, k), make([]float64, k)
	truth := t.truth(xx, yy, xy)
	for i := range out {
		for j := range k {
			a, b := r.NormFloat64()*scale, r.NormFloat64()*scale
			u[j], v[j] = math.Sqrt(xx)*a, slope*a+rest*b
		}
		out[i] = 100 * math.Abs(t.estimate(u, v)-truth) / truth
	}
	return out
}

// adultK is k of the study on running nodes.
const adultK = 1000

// adultStudy gives the two columns to two parties, and a third column, whose answers are not used,
// to the third.
func adultStudy(x, y []float64) Study {
	s := Study{
		Name: "liu-adult", Partition: study.Vertical,
		Sketches: []string{fmt.Sprintf("side: columns, family: gaussian, k: %d, helpers: {ones: 0}", adultK)},
		Privacy:  "mechanism: none", Analyses: []string{"kind: inner-product", "kind: distance"},
	}
	ones := make([]float64, len(x))
	for i := range ones {
		ones[i] = 1
	}
	for p, column := range []struct {
		name   string
		values []float64
	}{{"fnlwgt", x}, {"education-num", y}, {"ones", ones}} {
		s.Columns = append(s.Columns, fmt.Sprintf("name: %s, kind: numeric, bounds: [0, %s], source: public data, owner: %s",
			column.name, networks.Decimal(slices.Max(column.values)), partyNames[p]))
		s.Data[p].Columns = []string{column.name}
		for i, v := range column.values {
			s.Data[p].IDs = append(s.Data[p].IDs, strconv.Itoa(i))
			s.Data[p].Values = append(s.Data[p].Values, []float64{v})
		}
	}
	return s
}

// readAdult reads the relative errors of product and distance.
func readAdult(out Outcome, xx, yy, xy float64) (drawn []Drawn, err error) {
	for _, one := range []struct {
		kind  string
		truth float64
	}{{"inner-product", xy}, {"distance", xx + yy - 2*xy}} {
		a, err := answer(out.Result, one.kind)
		if err != nil {
			return nil, err
		}
		n, err := pairOf(a, "fnlwgt", "education-num")
		if err != nil {
			return nil, err
		}
		d, err := number("relative error of the "+one.kind, n, 100/one.truth)
		if err != nil {
			return nil, err
		}
		drawn = append(drawn, d.less(100))
	}
	return drawn, nil
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", x) }
