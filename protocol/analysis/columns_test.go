package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/study"
)

// vertical is the terms of a study in which each party owns different columns; each %s stands for
// the entry of sketches, the privacy or the analyses.
const vertical = `partition: vertical
records: {id: [patient]}
columns:
  - {name: height, kind: numeric, bounds: [100, 220], owner: north}
  - {name: weight, kind: numeric, centre: 75, spread: 15, owner: north}
  - {name: blood, kind: categorical, values: [a, b, zero], owner: south}
  - {name: smoker, kind: binary, owner: south}
  - {name: pulse, kind: numeric, centre: 70, spread: 12, owner: west}
sketches:
  - %s
privacy: %s
analyses: [%s]
`

const noPromise = "{mechanism: none}"

// people returns files of a vertical study in which every party lacks different records and has its
// own order. Weight and pulse are correlated with height.
func people(rng *rand.Rand, n int, lacking float64) files {
	north, south, west := file{}, file{}, file{}
	held := func() bool { return rng.Float64() >= lacking }
	for i := range n {
		id, tall := fmt.Sprintf("patient %d", i), rng.NormFloat64()
		weight, pulse := 0.8*tall+0.6*rng.NormFloat64(), -0.5*tall+math.Sqrt(0.75)*rng.NormFloat64()
		smoker, blood := float64(rng.IntN(2)), float64(rng.IntN(3))
		if held() {
			north.add(id, 160+15*tall, 75+15*weight)
		}
		if held() {
			south.add(id, blood, smoker)
		}
		if held() {
			west.add(id, 70+12*pulse)
		}
	}
	for _, f := range []*file{&north, &south, &west} {
		f.shuffle(rng)
	}
	return files{"north": north, "south": south, "west": west}
}

func (f *file) add(id string, values ...float64) {
	f.ids, f.values = append(f.ids, id), append(f.values, values)
}

func (f *file) shuffle(rng *rand.Rand) {
	rng.Shuffle(len(f.ids), func(i, j int) {
		f.ids[i], f.ids[j] = f.ids[j], f.ids[i]
		f.values[i], f.values[j] = f.values[j], f.values[i]
	})
}

// only returns the records for which keep is true.
func (f file) only(keep func(row int) bool) file {
	var out file
	for row, id := range f.ids {
		if keep(row) {
			out.add(id, f.values[row]...)
		}
	}
	return out
}

// closeTo fails unless two values are equal up to the last digits of float64 sums.
func closeTo(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*max(math.Abs(want), 1) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestProductsInOriginalUnits compares inner products, distances and cosines with products of
// projections of the values themselves. The former come from integers around public centres and
// from columns of ones. Without noise both are equal.
func TestProductsInOriginalUnits(t *testing.T) {
	for _, sketch := range []string{
		"{side: columns, family: rademacher, k: 64, helpers: {ones: 1}}",
		"{side: columns, family: sparse, k: 60, s: 3, helpers: {ones: 0.3}}",
		"{side: columns, family: sparse, k: 50, helpers: {ones: 0.7, squares: true}}",
	} {
		s := parse(t, fmt.Sprintf(vertical, sketch, noPromise, "{kind: inner-product}, {kind: distance}, {kind: cosine}"))
		data := people(rand.New(rand.NewPCG(1, 1)), 80, 0.2)
		result, _ := ship(t, s, 1, data).run(t)
		type named struct {
			name  string
			party int
			u     []float64
		}
		var columns []named
		for party, listed := range s.Parties {
			f := data[listed.Name]
			for i, c := range s.OwnColumns(party) {
				if s.Columns[c].Kind == study.Categorical {
					continue // its three entries have the same name
				}
				u := sketched(t, s, 1, party, 0, f, func(row int) float64 { return rounded(s, c, f.values[row][i]) })
				columns = append(columns, named{listed.Name + "/" + s.Columns[c].Name, party, u})
			}
		}
		if len(columns) != 4 {
			t.Fatalf("%d columns", len(columns))
		}
		products, distances, cosines := answer{t, result.Analyses[0]}, answer{t, result.Analyses[1]}, answer{t, result.Analyses[2]}
		for i, x := range columns {
			closeTo(t, "squared norm of "+x.name, products.estimate(x.name, x.name), dot(x.u, x.u))
			for _, y := range columns[:i] {
				xx, yy, xy := dot(x.u, x.u), dot(y.u, y.u), dot(x.u, y.u)
				what := x.name + ", " + y.name
				closeTo(t, "inner product of "+what, products.estimate(x.name, y.name), xy)
				closeTo(t, "distance of "+what, distances.estimate(x.name, y.name), xx+yy-2*xy)
				closeTo(t, "cosine of "+what, cosines.estimate(x.name, y.name), min(1, max(-1, xy/math.Sqrt(xx*yy))))
			}
		}
		for i, want := range []measure.Unit{measure.Original, measure.Original, ""} {
			if got := result.Analyses[i].Units; got != want {
				t.Errorf("%s: units %q, want %q", result.Analyses[i].Kind, got, want)
			}
		}
	}
}

// TestProductsWithoutOnes: what was subtracted before projection cannot be added back without a
// column of ones, and the result says so.
func TestProductsWithoutOnes(t *testing.T) {
	const sketch = "{side: columns, family: sparse, k: 64, helpers: {ones: 0}}"
	s := parse(t, fmt.Sprintf(vertical, sketch, noPromise, "{kind: inner-product}, {kind: cosine}"))
	data := people(rand.New(rand.NewPCG(1, 2)), 80, 0.2)
	result, _ := ship(t, s, 1, data).run(t)
	encodedUnits := func(name string, column int) []float64 {
		party, _ := s.PartyByName(name)
		f, own := data[name], s.OwnColumns(party)
		return sketched(t, s, 1, party, 0, f, func(row int) float64 {
			for i, c := range own {
				if c == column {
					v, _ := s.Columns[c].Scale.Encode(f.values[row][i], s.Bits)
					return float64(v) / float64(s.Bits.One())
				}
			}
			t.Fatalf("%s does not own column %d", name, column)
			return 0
		})
	}
	weight, pulse := encodedUnits("north", 1), encodedUnits("west", 4)
	products, cosines := answer{t, result.Analyses[0]}, answer{t, result.Analyses[1]}
	closeTo(t, "inner product", products.estimate("north/weight", "west/pulse"), dot(weight, pulse))
	closeTo(t, "cosine", cosines.estimate("north/weight", "west/pulse"), dot(weight, pulse)/math.Sqrt(dot(weight, weight)*dot(pulse, pulse)))
	for _, a := range result.Analyses {
		if a.Units != measure.NoOffset {
			t.Errorf("%s: units %q", a.Kind, a.Units)
		}
	}

	// If every column begins at 0, original units need no ones.
	s = parse(t, strings.NewReplacer("bounds: [100, 220]", "bounds: [0, 250]", "centre: 75, spread: 15", "bounds: [0, 200]", "centre: 70, spread: 12", "bounds: [0, 200]").
		Replace(fmt.Sprintf(vertical, sketch, noPromise, "{kind: inner-product}")))
	result, _ = ship(t, s, 1, data).run(t)
	north, west := data["north"], data["west"]
	party, _ := s.PartyByName("north")
	height := sketched(t, s, 1, party, 0, north, func(row int) float64 { return rounded(s, 0, north.values[row][0]) })
	party, _ = s.PartyByName("west")
	beats := sketched(t, s, 1, party, 0, west, func(row int) float64 { return rounded(s, 4, west.values[row][0]) })
	closeTo(t, "inner product", answer{t, result.Analyses[0]}.estimate("north/height", "west/pulse"), dot(height, beats))
	if got := result.Analyses[0].Units; got != "original" {
		t.Errorf("units %q", got)
	}
}

// TestCategoricalColumnsGiveOneFeatureAValue: each value is in the list of features, in the order
// of the study, and its count is the squared norm.
func TestCategoricalColumnsGiveOneFeatureAValue(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: rademacher, k: 16}", noPromise, "{kind: inner-product}"))
	result, _ := ship(t, s, 1, people(rand.New(rand.NewPCG(1, 3)), 30, 0)).run(t)
	var got []string
	for _, f := range result.Analyses[0].Features {
		got = append(got, strings.TrimRight(f.Party+"/"+f.Column+"/"+f.Value, "/"))
	}
	want := "north/height north/weight south/blood/a south/blood/b south/blood/zero south/smoker west/pulse"
	if len(got) != 7 || !sameWords(got, strings.Fields(want)) {
		t.Errorf("features %v, want those of %s, by party", got, want)
	}
}

// sameWords compares regardless of the order of the parties, which is that of their keys.
func sameWords(a, b []string) bool {
	at := func(words []string, party string) (out []string) {
		for _, w := range words {
			if strings.HasPrefix(w, party) {
				out = append(out, w)
			}
		}
		return out
	}
	for _, party := range []string{"north", "south", "west"} {
		if fmt.Sprint(at(a, party)) != fmt.Sprint(at(b, party)) {
			return false
		}
	}
	return len(a) == len(b)
}

// TestIntersection: parties with the same records share all of them, exactly, because R cancels.
// Other numbers are estimated: of 20 intervals of 95 % at least 15 must hold. Correct independent
// intervals fail this with probability 3e-4; the seeds are fixed.
func TestIntersection(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: rademacher, k: 256}", noPromise, "{kind: intersection}"))
	result, _ := ship(t, s, 1, people(rand.New(rand.NewPCG(1, 4)), 90, 0)).run(t)
	all := answer{t, result.Analyses[0]}
	if len(all.Features) != 3 || len(all.Pairs) != 3 {
		t.Errorf("%d features and %d pairs of three parties", len(all.Features), len(all.Pairs))
	}
	for _, p := range all.Pairs {
		closeTo(t, "intersection of equal record sets", *p.Estimate, 90)
	}
	covered := 0
	for n := range 20 {
		data := people(rand.New(rand.NewPCG(uint64(n), 5)), 300, 0.3)
		result, _ := ship(t, s, n, data).run(t)
		shared := 0.0
		for _, id := range data["north"].ids {
			for _, other := range data["west"].ids {
				if id == other {
					shared++
				}
			}
		}
		p := answer{t, result.Analyses[0]}.find("north", "west")
		if *p.Low <= shared && shared <= *p.High {
			covered++
		}
		if *p.High-*p.Low > 150 {
			t.Errorf("an interval of %.0f to %.0f says nothing", *p.Low, *p.High)
		}
	}
	if covered < 15 {
		t.Errorf("%d of 20 intervals contain the number of shared records", covered)
	}
}

// correlation returns the correlation over the records that two files share.
func correlation(x, y file, i, j int) float64 {
	values := map[string]float64{}
	for row, id := range x.ids {
		values[id] = x.values[row][i]
	}
	var n, sx, sy, sxx, syy, sxy float64
	for row, id := range y.ids {
		a, ok := values[id]
		if !ok {
			continue
		}
		b := y.values[row][j]
		n, sx, sy, sxx, syy, sxy = n+1, sx+a, sy+b, sxx+a*a, syy+b*b, sxy+a*b
	}
	return (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy))
}

// TestCorrelationEstimators averages the errors of both estimators of one correlation over 40
// seeds, with fresh data each time. If the shared records are a random part of each party's, both
// match the truth, and E2 has the smaller error. If west holds only tall people, the correlation
// over the intersection differs. E1 finds it, and E2, whose assumption is violated, does not: this
// is the power check. The limit of 4 standard errors of the mean fails by chance with probability
// 6e-5 each; the seeds are fixed.
func TestCorrelationEstimators(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: sparse, k: 4096, helpers: {ones: 1, squares: true}}", noPromise,
		"{kind: correlation, estimator: E1}, {kind: correlation, estimator: E2}"))
	random := func(n int) files { return people(rand.New(rand.NewPCG(uint64(n), 6)), 500, 0.2) }
	tall := func(n int) files {
		data := people(rand.New(rand.NewPCG(uint64(n), 7)), 800, 0)
		selected, west := map[string]bool{}, data["west"]
		for row, id := range data["north"].ids {
			selected[id] = data["north"].values[row][0] > 155
		}
		data["west"] = west.only(func(row int) bool { return selected[west.ids[row]] })
		return data
	}
	for _, test := range []struct {
		name    string
		draw    func(n int) files
		e2Holds bool
	}{{"overlap at random", random, true}, {"overlap of the tall", tall, false}} {
		const seeds = 40
		var errors [2][]float64
		for n := range seeds {
			data := test.draw(n)
			truth := correlation(data["north"], data["west"], 0, 0)
			if math.Abs(truth) < 0.1 {
				t.Errorf("%s: a correlation of %.2f tests little", test.name, truth)
			}
			result, _ := ship(t, s, n, data).run(t)
			for e, a := range result.Analyses {
				errors[e] = append(errors[e], answer{t, a}.estimate("north/height", "west/pulse")-truth)
			}
		}
		mean1, sd1 := stat.MeanStdDev(errors[0], nil)
		mean2, sd2 := stat.MeanStdDev(errors[1], nil)
		t.Logf("%s: E1 off by %.4f ± %.4f, E2 by %.4f ± %.4f", test.name, mean1, sd1, mean2, sd2)
		if z := math.Abs(mean1) / sd1 * math.Sqrt(seeds); z > 4 {
			t.Errorf("%s: E1 is off by %.1f standard errors", test.name, z)
		}
		if z := math.Abs(mean2) / sd2 * math.Sqrt(seeds); (z <= 4) != test.e2Holds {
			t.Errorf("%s: E2 is off by %.1f standard errors", test.name, z)
		}
		if test.e2Holds && sd2 >= sd1 {
			t.Errorf("E2 errs by %.4f, E1 by %.4f: what is E2 for?", sd2, sd1)
		}
	}
}

// TestKurtosisWidensIntervals: with heavy tails, variances over the shared records differ more from
// those over all of a party's records, and E2 allows for that.
func TestKurtosisWidensIntervals(t *testing.T) {
	terms := fmt.Sprintf(vertical, "{side: columns, family: sparse, k: 4096}", noPromise, "{kind: correlation}")
	data := people(rand.New(rand.NewPCG(1, 9)), 100, 0.3)
	var widths, estimates []float64
	for _, kurtosis := range []string{"1", "3", "20"} {
		s := parse(t, strings.Replace(terms, "spread: 15,", "spread: 15, kurtosis: "+kurtosis+",", 1))
		result, _ := ship(t, s, 1, data).run(t)
		p := answer{t, result.Analyses[0]}.find("north/weight", "west/pulse")
		widths, estimates = append(widths, *p.High-*p.Low), append(estimates, *p.Estimate)
	}
	if !(widths[0] < widths[1] && widths[1] < widths[2]) {
		t.Errorf("intervals of width %v for kurtosis 1, 3 and 20", widths)
	}
	if estimates[0] != estimates[1] || estimates[1] != estimates[2] {
		t.Errorf("estimates %v", estimates)
	}
}

// Every answer that depends on values says that some may stand for missing ones.
func TestMissingValuesAreAssumed(t *testing.T) {
	terms := fmt.Sprintf(vertical, "{side: columns, family: rademacher, k: 64, helpers: {ones: 1, squares: true}}", noPromise, everything)
	for _, test := range []struct {
		records string
		said    bool
	}{{"{id: [patient]}", false}, {"{id: [patient], missing: skip}", false}, {"{id: [patient], missing: centre}", true}} {
		s := parse(t, strings.Replace(terms, "{id: [patient]}", test.records, 1))
		result, _ := ship(t, s, 1, people(rand.New(rand.NewPCG(1, 9)), 200, 0)).run(t)
		for _, a := range result.Analyses {
			want := test.said && a.Assumption != "" && a.Kind != study.Intersection
			if got := strings.Contains(a.Assumes(), " that a missing value is the centre"); got != want {
				t.Errorf("%s, %s: %q", test.records, a.Kind, a.Assumes())
			}
			if strings.Contains(a.Assumes(), "that that") || strings.Contains(a.Assumes(), "that nothing") {
				t.Errorf("%s: %q", a.Kind, a.Assumes())
			}
		}
		if test.said {
			t.Log(result.Analyses[0].Assumes())
		}
	}
}

// TestCorrelationSaysWhatItAssumes: the result has the estimator and its assumption beside the
// numbers.
func TestCorrelationSaysWhatItAssumes(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: rademacher, k: 64, helpers: {ones: 1, squares: true}}", noPromise,
		"{kind: correlation, estimator: E1}, {kind: correlation}"))
	result, _ := ship(t, s, 1, people(rand.New(rand.NewPCG(1, 8)), 30, 0)).run(t)
	e1, e2 := result.Analyses[0], result.Analyses[1]
	if e1.Estimator != study.E1 || !strings.Contains(e1.Assumption, "nothing about which records") {
		t.Errorf("E1: %s, %q", e1.Estimator, e1.Assumption)
	}
	if e2.Estimator != study.E2 || !strings.Contains(e2.Assumption, "random part") {
		t.Errorf("E2: %s, %q", e2.Estimator, e2.Assumption)
	}
	for _, a := range []analysis.Analysis{e1, e2} {
		if a.Level != 0.95 || len(a.Features) != 7 || len(a.Pairs) != 21 {
			t.Errorf("%s: level %v, %d features, %d pairs", a.Estimator, a.Level, len(a.Features), len(a.Pairs))
		}
	}
}
