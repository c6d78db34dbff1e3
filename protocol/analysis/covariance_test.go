package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// covariance returns the covariance over the records that two files share, divided by their number.
func covariance(x, y file, i, j int) float64 {
	values := map[string]float64{}
	for row, id := range x.ids {
		values[id] = x.values[row][i]
	}
	var n, sx, sy, sxy float64
	for row, id := range y.ids {
		if a, ok := values[id]; ok {
			b := y.values[row][j]
			n, sx, sy, sxy = n+1, sx+a, sy+b, sxy+a*b
		}
	}
	return (sxy - sx*sy/n) / n
}

// covered counts the runs whose interval for a pair contains the truth, and adds up the errors of
// estimates.
type covered struct {
	n, hits     int
	sum, square float64
}

func (c *covered) add(t *testing.T, p analysis.Pair, want float64) {
	t.Helper()
	if p.Estimate == nil {
		t.Fatalf("undefined: %s", p.Undefined)
	}
	c.n++
	if *p.Low <= want && want <= *p.High {
		c.hits++
	}
	d := *p.Estimate - want
	c.sum, c.square = c.sum+d, c.square+d*d
}

// check fails if the coverage is four standard errors below .95, or the mean error exceeds five of
// its own standard errors. The seeds are fixed; with random ones, correct intervals would fail with
// probability 3e-5. Package estimate checks, on more draws, that intervals are not too wide either,
// and that wrong noise is found.
func (c *covered) check(t *testing.T, what string) {
	t.Helper()
	n := float64(c.n)
	coverage, bias, se := float64(c.hits)/n, c.sum/n, math.Sqrt(c.square)/n
	t.Logf("%s: coverage %.3f, off by %.3g ± %.2g", what, coverage, bias, se)
	if coverage < 0.95-4*math.Sqrt(0.05*0.95/n) {
		t.Errorf("%s: coverage %.3f", what, coverage)
	}
	if math.Abs(bias) > 5*se {
		t.Errorf("%s: off by %.3g ± %.2g", what, bias, se)
	}
}

// TestCovariances: variances and covariances in original units, over the records in
// common, under noise on values and on clipped records.
func TestCovariances(t *testing.T) {
	full.Statistical(t)
	runs := full.Or(40, 120)
	random := people(rand.New(rand.NewPCG(7, 1)), 600, 0.2)
	tall := people(rand.New(rand.NewPCG(7, 2)), 900, 0)
	selected := map[string]bool{}
	for row, id := range tall["north"].ids {
		selected[id] = tall["north"].values[row][0] > 155
	}
	tall["west"] = tall["west"].only(func(row int) bool { return selected[tall["west"].ids[row]] })
	clippable := people(rand.New(rand.NewPCG(7, 3)), 1500, 0.1)
	for _, test := range []struct {
		name, sketch, privacy string
		data                  files
		biased                bool // values are clipped: the truth is not exactly that of the file
	}{
		{"without noise", "{side: columns, family: rademacher, k: 64}", noPromise, random, false},
		{"overlap of the tall", "{side: columns, family: rademacher, k: 256}", noPromise, tall, false},
		{"noise on values", "{side: columns, family: sparse, k: 256}", "{unit: attribute, mechanism: laplace, epsilon: 4}", random, false},
		{"noise on records", "{side: columns, family: sparse, k: 512, helpers: {ones: 0.3}, clip: 1.5}", "{unit: record, mechanism: gaussian, epsilon: 20, delta: 1e-6}", clippable, true},
	} {
		s := parse(t, fmt.Sprintf(vertical, test.sketch, test.privacy, "{kind: covariance}"))
		var across, within, variance covered
		for n := range runs {
			result, _ := ship(t, s, n, test.data).run(t)
			a := answer{t, result.Analyses[0]}
			if a.Units != "original" || a.Assumption == "" || len(a.Pairs) != 28 {
				t.Fatalf("units %q, assumption %q, %d pairs", a.Units, a.Assumption, len(a.Pairs))
			}
			north, west := test.data["north"], test.data["west"]
			across.add(t, a.find("north/height", "west/pulse"), covariance(north, west, 0, 0))
			within.add(t, a.find("north/height", "north/weight"), covariance(north, north, 0, 1))
			variance.add(t, a.find("west/pulse", "west/pulse"), covariance(west, west, 0, 0))
		}
		for what, c := range map[string]*covered{"across": &across, "within": &within, "variance": &variance} {
			if test.biased {
				c.sum = 0
			}
			c.check(t, test.name+", "+what)
		}
	}
}

// TestCovarianceOfTheUnion: the noise of every party is subtracted from a variance of the union.
func TestCovarianceOfTheUnion(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, "  - {side: columns, family: sparse, k: 128}", "{unit: attribute, mechanism: laplace, epsilon: 4}", "{kind: covariance}"))
	data := wards(rand.New(rand.NewPCG(7, 4)), 150, 80, 120)
	var union file
	for name, f := range data {
		for row := range f.ids {
			union.add(name+f.ids[row], f.values[row]...)
		}
	}
	var variance, mixed covered
	for n := range full.Or(120, 400) {
		result, _ := ship(t, s, n, data).run(t)
		a := answer{t, result.Analyses[0]}
		variance.add(t, a.find("pulse", "pulse"), covariance(union, union, 1, 1))
		mixed.add(t, a.find("height", "pulse"), covariance(union, union, 0, 1))
	}
	variance.check(t, "variance")
	mixed.check(t, "covariance")
}

// TestRepairedMatrices: beside noisy estimates there is a matrix with no negative eigenvalue, in
// the same units, which says how far it is from them. The estimates are unchanged.
func TestRepairedMatrices(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: sparse, k: 128}", "{unit: attribute, mechanism: laplace, epsilon: 3}", "{kind: covariance}, {kind: correlation}"))
	negative := 0
	for n := range 20 {
		result, _ := ship(t, s, n, people(rand.New(rand.NewPCG(7, 5)), 600, 0.1)).run(t)
		for i, name := range []string{"covariance_psd", "correlation_psd"} {
			a := result.Analyses[i]
			r := a.Repaired
			if r == nil || r.Name != name {
				t.Fatalf("%s: repaired %+v", a.Kind, r)
			}
			if r.Undefined != "" {
				continue
			}
			sum, size := 0.0, len(a.Features)
			repaired, scale := mat.NewSymDense(size, nil), mat.NewSymDense(size, nil)
			for _, p := range a.Pairs {
				repaired.SetSym(p.I, p.J, r.Matrix[p.I][p.J])
				scale.SetSym(p.I, p.J, *p.Estimate)
				if r.Matrix[p.I][p.J] != r.Matrix[p.J][p.I] {
					t.Errorf("%s: entry %d, %d is not that of %d, %d", name, p.I, p.J, p.J, p.I)
				}
				sum += math.Abs(r.Matrix[p.I][p.J] - *p.Estimate)
			}
			var e mat.EigenSym
			if i == 1 {
				for j := range size {
					if repaired.SetSym(j, j, r.Matrix[j][j]); r.Matrix[j][j] != 1 {
						t.Errorf("diagonal of a correlation matrix: %v", r.Matrix[j][j])
					}
				}
			}
			if !e.Factorize(repaired, false) || e.Values(nil)[0] < -1e-9*mat.Norm(repaired, 2) {
				t.Errorf("%s: eigenvalues %v", name, e.Values(nil))
			}
			if (r.Negative > 0) != (r.Moved > 0) || (r.Least < 0) != (r.Negative > 0) || (r.Negative > 0) != (sum > 1e-9*mat.Norm(scale, 2)) {
				t.Errorf("%s: %d negative eigenvalues, least %g, moved %g, entries moved %g", name, r.Negative, r.Least, r.Moved, sum)
			}
			negative += r.Negative
			if !strings.Contains(r.Statement, "makes entries biased") {
				t.Errorf("%s says %q", name, r.Statement)
			}
		}
	}
	if negative == 0 {
		t.Error("no matrix needed repair: the test shows nothing")
	}
	for _, kind := range []string{"covariance", "correlation"} {
		s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: sparse, k: 16}", "{unit: attribute, mechanism: laplace, epsilon: 0.01}", "{kind: "+kind+"}"))
		result, _ := ship(t, s, 1, people(rand.New(rand.NewPCG(7, 6)), 20, 0.1)).run(t)
		if r := result.Analyses[0].Repaired; r == nil || r.Matrix != nil || r.Undefined == "" {
			t.Errorf("%s lost in noise: repaired %+v", kind, r)
		}
	}
}

// TestIntervalsOfAll: intervals that hold together are built at their share of the level, for all
// intervals of the analysis, and say so.
func TestIntervalsOfAll(t *testing.T) {
	columns := parse(t, fmt.Sprintf(vertical, "{side: columns, family: rademacher, k: 512}", noPromise,
		"{kind: distance}, {kind: distance, intervals: all}, {kind: covariance, intervals: all}, {kind: intersection, intervals: all}"))
	result, _ := ship(t, columns, 1, people(rand.New(rand.NewPCG(7, 7)), 300, 0.1)).run(t)
	records := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise, "{kind: group-distance, intervals: all}"))
	groups, _ := ship(t, records, 1, wards(rand.New(rand.NewPCG(7, 8)), 9, 9, 9)).run(t)
	each, all := result.Analyses[0], result.Analyses[1]
	if each.Intervals != study.IntervalsEach || each.EachLevel != 0 || all.Intervals != study.IntervalsAll || each.Level != all.Level {
		t.Errorf("each: %s at %g, %g; all: %s at %g", each.Intervals, each.Level, each.EachLevel, all.Intervals, all.Level)
	}
	for i, p := range all.Pairs {
		if q := each.Pairs[i]; *p.Estimate != *q.Estimate || *p.Low >= *q.Low || *p.High <= *q.High {
			t.Errorf("pair %d: [%g, %g] for all, [%g, %g] for each", i, *p.Low, *p.High, *q.Low, *q.High)
		}
	}
	for count, a := range map[int]analysis.Analysis{21: all, 28: result.Analyses[2], 3: result.Analyses[3], 9: groups.Analyses[0]} {
		if want := 1 - 0.05/float64(count); math.Abs(a.EachLevel-want) > 1e-12 || len(a.Pairs)+len(a.Shifts) != count {
			t.Errorf("%s: %d intervals, each at %v, want %v", a.Kind, len(a.Pairs)+len(a.Shifts), a.EachLevel, want)
		}
	}
}

// TestGroupDistances: mean squared distances within and between the parties of a study, in encoded
// units, for all kinds of families, noise and sizes. A rotation without noise gives them exactly.
func TestGroupDistances(t *testing.T) {
	for _, test := range []struct {
		sketch, privacy string
		exact           bool
	}{
		{"family: identity", noPromise, true},
		{"family: hadamard, k: 16", noPromise, true},
		{"family: hadamard, k: 8", noPromise, false},
		{"family: rademacher, k: 8", noPromise, false},
		{"family: sparse, k: 12, s: 3", "{unit: attribute, mechanism: laplace, epsilon: 3}", false},
		{"family: identity", "{unit: attribute, mechanism: laplace, epsilon: 2}", false},
		{"family: hadamard, k: 16", "{unit: attribute, mechanism: gaussian, epsilon: 3, delta: 1e-6}", false},
	} {
		s := hospitals(t, "sketches: [{side: records, "+test.sketch+"}]\nprivacy: "+test.privacy+"\nanalyses: [{kind: group-distance}]\n")
		var within, between, shift covered
		for n := range full.Or(80, 200) {
			got := try(t, s, n)
			a := got.result.Analyses[0]
			if len(a.Features) != 3 || a.Features[0].Party == "" || len(a.Pairs) != 6 || len(a.Shifts) != 3 || a.Units == "" {
				t.Fatalf("%d features, %d pairs, %d shifts", len(a.Features), len(a.Pairs), len(a.Shifts))
			}
			truths := groupTruths(got.data[0], got.data[1])
			for i, c := range []*covered{&within, &between, &shift} {
				p := append(a.Pairs[:2:2], a.Shifts[0])[i]
				if test.exact {
					closeTo(t, test.sketch, *p.Estimate, truths[i])
					closeTo(t, test.sketch, *p.High-*p.Low, 0)
					continue
				}
				c.add(t, p, truths[i])
			}
			if test.exact && n == 5 {
				break
			}
		}
		if !test.exact {
			within.check(t, test.sketch+test.privacy+", within")
			between.check(t, test.sketch+test.privacy+", between")
			shift.check(t, test.sketch+test.privacy+", means")
		}
	}
}

// groupTruths returns the mean squared distances within a and between a and b, and the squared
// distance of their means, for data with 10 bits.
func groupTruths(a, b [][]int64) (out [3]float64) {
	var mean [2][12]float64
	mixed := func(x, y []int64) (sum float64) {
		for i := range x {
			d := float64(x[i]-y[i]) / 1024
			sum += d * d
		}
		return sum
	}
	for i, x := range a {
		for j, y := range a {
			if i != j {
				out[0] += mixed(x, y) / float64(len(a)*(len(a)-1))
			}
		}
		for _, y := range b {
			out[1] += mixed(x, y) / float64(len(a)*len(b))
		}
	}
	for g, records := range [][][]int64{a, b} {
		for _, x := range records {
			for j, v := range x {
				mean[g][j] += float64(v) / 1024 / float64(len(records))
			}
		}
	}
	for j := range mean[0] {
		out[2] += (mean[0][j] - mean[1][j]) * (mean[0][j] - mean[1][j])
	}
	return out
}
