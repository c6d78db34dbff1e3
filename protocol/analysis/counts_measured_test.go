package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// countedFrom holds exact counts of a study's parties, from which releases are drawn repeatedly.
type countedFrom struct {
	study *study.Study
	plans []release.Plan
	exact []sketch.Sketch
	sizes []int64
	drawn int
}

func countParties(t *testing.T, s *study.Study, data []file) *countedFrom {
	t.Helper()
	out := &countedFrom{study: s}
	for party, f := range data {
		plan, err := release.For(s, party, 0)
		if err != nil {
			t.Fatal(err)
		}
		builder, err := plan.NewBuilder(rootSeed(1), 2)
		if err != nil {
			t.Fatal(err)
		}
		for row, id := range f.ids {
			if err := builder.AddRead([][]byte{[]byte(id)}, read(s, f.values[row])); err != nil {
				t.Fatal(err)
			}
		}
		exact, err := builder.Finish(source(1))
		if err != nil {
			t.Fatal(err)
		}
		out.plans, out.exact, out.sizes = append(out.plans, plan), append(out.exact, exact.Sketch), append(out.sizes, int64(len(f.ids)))
	}
	return out
}

// read returns a record's entries as a party's program reads them: finer than the study's bits.
func read(s *study.Study, values []float64) (out []int64) {
	for i, c := range s.Columns {
		if c.Kind == study.Categorical {
			entries := make([]int64, len(c.Values))
			entries[int(values[i])] = s.ReadBits().One()
			out = append(out, entries...)
			continue
		}
		scale := c.Scale
		if s.Unlimited() {
			scale = scale.Unlimited()
		}
		v, _ := scale.Encode(values[i], s.ReadBits())
		out = append(out, v)
	}
	return out
}

// answers returns the answers from releases with fresh noise.
func (c *countedFrom) answers(t *testing.T) []analysis.Analysis {
	t.Helper()
	o := analysis.Options{Study: c.study, Attempt: 1, T2: protocol.Digest{1}, Complete: len(c.exact) == len(c.study.Parties)}
	for i, exact := range c.exact {
		c.drawn++
		exact.Data = slices.Clone(exact.Data)
		if err := c.plans[i].Draw(&exact, source(5000+c.drawn), 1); err != nil {
			t.Fatal(err)
		}
		one := analysis.Contribution{Party: i, Header: protocol.Digest{byte(i)}, Records: c.sizes[i], Sketches: []sketch.Sketch{exact}}
		if c.study.Masked() {
			one.Masked = len(c.exact)
		}
		o.Contributions = append(o.Contributions, one)
	}
	result, _, err := analysis.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return result.Analyses
}

const measuredHead = "partition: horizontal\nrecords: {id: [patient]}\n"

// At ε = 1, for three parties with 5,000 records each, intervals of tables and their shares cover
// .93 to .97. The error of a cell is at most √3 times that of a curator with all records, and 1.3
// times in a masked sum.
func TestTablesMeasured(t *testing.T) {
	full.Statistical(t)
	const terms = `columns:
  - {name: ward, kind: categorical, values: [a, b, c, d]}
  - {name: age, kind: numeric, bounds: [0, 128]}
sketches: [{side: counts, tables: [{of: [{column: ward}]}, {of: [{column: age, edges: [32, 48, 64, 80]}]}, {of: [{column: ward}, {column: age, edges: [32, 48, 64, 80]}]}]}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: table}]
`
	rng := rand.New(rand.NewPCG(11, 1))
	var all file
	parties := make([]file, 3)
	for i := range 15_000 {
		ward := float64(min(int(4*math.Pow(rng.Float64(), 1.5)), 3))
		age := math.Round(min(max(48+6*ward+14*rng.NormFloat64(), 0), 127))
		all.add(fmt.Sprint(i+1), ward, age)
		parties[i%3].add(fmt.Sprint(i+1), ward, age)
	}
	bin := func(age float64) (n int) {
		for _, edge := range []float64{32, 48, 64, 80} {
			if age >= edge {
				n++
			}
		}
		return n
	}
	truth, ofWard, ofAge := map[[2]int]float64{}, map[int]float64{}, map[int]float64{}
	for _, row := range all.values {
		truth[[2]int{int(row[0]), bin(row[1])}]++
		ofWard[int(row[0])]++
		ofAge[bin(row[1])]++
	}
	errs := map[string]float64{}
	for what, of := range map[string]*countedFrom{
		"plain":   countParties(t, parse(t, measuredHead+terms), parties),
		"masked":  countParties(t, parse(t, "sum: masked\ncolluding: 1\n"+measuredHead+terms), parties),
		"curator": countParties(t, parse(t, measuredHead+terms), []file{all}),
	} {
		trials := full.Or(60, 120)
		var cells, shares, cell, share, square float64
		hold := func(n analysis.Number, truth float64, held, of *float64) {
			if n.Low == nil {
				t.Fatalf("%s: %s", what, n.Undefined)
			}
			if *of++; *n.Low <= truth && truth <= *n.High {
				*held++
			}
		}
		for range trials {
			tables := of.answers(t)[0].CrossTables
			for i, row := range tables[2].Cells {
				for j, c := range row {
					n := truth[[2]int{i, j}]
					hold(c.Count, n, &cells, &cell)
					hold(c.OfRow, n/ofWard[i], &shares, &share)
					hold(c.OfColumn, n/ofAge[j], &shares, &share)
					square += (*c.Count.Estimate - n) * (*c.Count.Estimate - n)
				}
			}
			for i, row := range tables[0].Cells {
				hold(row[0].Count, ofWard[i], &cells, &cell)
				hold(row[0].OfColumn, ofWard[i]/15_000, &shares, &share)
			}
		}
		errs[what] = math.Sqrt(square / float64(trials) / 20)
		t.Logf("%s: cells covered %.3f of %.0f, shares %.3f of %.0f; a cell errs by %.1f records", what, cells/cell, cell, shares/share, share, errs[what])
		if c := cells / cell; c < 0.93 || c > 0.97 {
			t.Errorf("%s: cells are covered %.3f", what, c)
		}
		if c := shares / share; c < 0.93 || c > 0.97 {
			t.Errorf("%s: shares are covered %.3f", what, c)
		}
	}
	t.Logf("beside a curator: plain %.3f, masked %.3f", errs["plain"]/errs["curator"], errs["masked"]/errs["curator"])
	if r := errs["plain"] / errs["curator"]; r > math.Sqrt(3) {
		t.Errorf("plain sums err %.3f times as far as a curator's", r)
	}
	if r := errs["masked"] / errs["curator"]; r > 1.3 {
		t.Errorf("masked sums err %.3f times as far as a curator's", r)
	}
}

// With quantiles of ten columns at ε = 1, for three parties with 5,000 records each, intervals
// cover at least .93, and the median of skewed columns is within 1 % of its rank.
func TestQuantilesMeasured(t *testing.T) {
	full.Statistical(t)
	draws := []struct {
		name, terms string
		draw        func(*rand.Rand) float64
	}{
		{"lognormal", "bounds: [0, 50]", func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) }},
		{"pareto", "bounds: [1, 200]", func(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -1/2.2) }},
		{"log lognormal", "bounds: [0.01, 1000], transform: log", func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) }},
		{"asinh pareto", "bounds: [0, 10000], transform: asinh, unit: 1", func(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -1/1.2) }},
		{"normal", "bounds: [-4, 4]", func(r *rand.Rand) float64 { return r.NormFloat64() }},
		{"normal about a centre", "centre: 0, spread: 1", func(r *rand.Rand) float64 { return r.NormFloat64() }},
		{"t of 2 about a centre", "centre: 0, spread: 1", func(r *rand.Rand) float64 {
			return r.NormFloat64() / math.Sqrt((math.Pow(r.NormFloat64(), 2)+math.Pow(r.NormFloat64(), 2))/2)
		}},
		{"uniform", "bounds: [0, 1]", func(r *rand.Rand) float64 { return r.Float64() }},
		{"constant", "bounds: [0, 10]", func(*rand.Rand) float64 { return 3 }},
		{"mostly 0", "bounds: [0, 1000]", func(r *rand.Rand) float64 { return max(0, 300*(r.Float64()-0.6)) }},
	}
	var columns, tables []string
	for i, d := range draws {
		columns = append(columns, fmt.Sprintf("  - {name: x%d, kind: numeric, %s}", i, d.terms))
		tables = append(tables, fmt.Sprintf("{of: [{column: x%d}], depth: 10}", i))
	}
	terms := "columns:\n" + strings.Join(columns, "\n") + "\nsketches: [{side: counts, tables: [" + strings.Join(tables, ", ") + "]}]\n" +
		"privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}\nanalyses: [{kind: quantile, at: [0.1, 0.25, 0.5, 0.75, 0.9]}]\n"
	rng := rand.New(rand.NewPCG(11, 2))
	var all file
	parties, values := make([]file, 3), make([][]float64, len(draws))
	for i := range 15_000 {
		var row []float64
		for j, d := range draws {
			row = append(row, d.draw(rng))
			values[j] = append(values[j], row[j])
		}
		all.add(fmt.Sprint(i+1), row...)
		parties[i%3].add(fmt.Sprint(i+1), row...)
	}
	for _, v := range values {
		slices.Sort(v)
	}
	// The shares of the records below x, and of those at most x.
	ranks := func(v []float64, x float64) (below, most float64) {
		at, _ := slices.BinarySearch(v, x)
		to, _ := slices.BinarySearch(v, math.Nextafter(x, math.Inf(1)))
		return float64(at) / float64(len(v)), float64(to) / float64(len(v))
	}
	errs := map[string]float64{}
	for _, what := range []string{"plain", "masked", "curator"} {
		data, sum := parties, ""
		switch what {
		case "masked":
			sum = "sum: masked\ncolluding: 1\n"
		case "curator":
			data = []file{all}
		}
		of := countParties(t, parse(t, sum+measuredHead+terms), data)
		trials := full.Or(15, 40)
		var held, asked, squares float64
		medians := make([]float64, len(draws))
		for range trials {
			for j, d := range of.answers(t)[0].Distributions {
				for _, q := range d.Quantiles {
					if q.Quantile.Low == nil {
						t.Fatalf("%s: %s at %v: %s", what, draws[j].name, q.Share, q.Quantile.Undefined)
					}
					below, _ := ranks(values[j], *q.Quantile.Low)
					_, most := ranks(values[j], *q.Quantile.High)
					if asked++; (below <= q.Share || q.OpenLow) && (most >= q.Share || q.OpenHigh) {
						held++
					}
					low, high := ranks(values[j], *q.Quantile.Estimate)
					off := max(low-q.Share, q.Share-high, 0)
					if q.Share == 0.5 {
						medians[j] += off * off / float64(trials)
						if j < 4 {
							squares += off * off / float64(trials) / 4
						}
					}
				}
			}
		}
		errs[what] = math.Sqrt(squares)
		t.Logf("%s: quantiles covered %.3f of %.0f; medians of the skewed columns err by %.4f of rank", what, held/asked, asked, errs[what])
		for j, m := range medians {
			if j < 8 { // the others have most records at one value
				t.Logf("  %s: the median errs by %.4f of rank", draws[j].name, math.Sqrt(m))
			}
			if j < 4 && math.Sqrt(m) > 0.01 {
				t.Errorf("%s: the median of %s errs by %.4f of rank", what, draws[j].name, math.Sqrt(m))
			}
		}
		if c := held / asked; c < 0.93 {
			t.Errorf("%s: quantiles are covered %.3f", what, c)
		}
	}
	t.Logf("beside a curator: plain %.3f, masked %.3f", errs["plain"]/errs["curator"], errs["masked"]/errs["curator"])
	if r := errs["plain"] / errs["curator"]; r > math.Sqrt(3) {
		t.Errorf("plain sums err %.3f times as far as a curator's", r)
	}
	if r := errs["masked"] / errs["curator"]; r > 1.3 {
		t.Errorf("masked sums err %.3f times as far as a curator's", r)
	}
}
