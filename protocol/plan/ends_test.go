package plan

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol/study"
)

// moments returns the terms of a horizontal study by moments.
func moments(columns, sketch, analyses string) string {
	return fmt.Sprintf("partition: horizontal\nrecords: {id: [patient]}\ncolumns: [%s]\nsketches: [%s]\nprivacy: %s\nanalyses: [%s]\n", columns, sketch, perRecordGaussian, analyses)
}

func repeated(n int, kind string) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("{name: c%d, kind: %s}", i, kind))
	}
	return strings.Join(out, ", ")
}

func answersOf(p Plan) map[study.AnalysisKind]Analysis {
	out := map[study.AnalysisKind]Analysis{}
	for _, s := range p.Sketches {
		for _, a := range s.Analyses {
			out[a.Kind] = a
		}
	}
	return out
}

// If only bounds are known, errors of correlations grow as the inverse square of the spread, so the
// ends are 64 times apart. Means are exact in units of the bounds. With a spread everything is
// known.
func TestBoundsAloneGiveARange(t *testing.T) {
	terms := moments(repeated(6, "numeric, bounds: [0, 40]"), "{side: moments}", "{kind: mean}, {kind: correlation}")
	count := func(n int64) func(*Options) { return func(o *Options) { o.Records = map[string]int64{"": n} } }
	a := answersOf(planOf(t, terms, count(1_000_000)))
	rho, mean := a[study.Correlation].Chosen, a[study.Mean]
	if got := rho.AtWorst.StandardError / rho.AtBest.StandardError; math.Abs(got-64) > 1 {
		t.Errorf("the ends of a correlation are %.3g times apart", got)
	}
	if got := mean.Chosen.AtWorst.HalfWidth / mean.Chosen.AtBest.HalfWidth; math.Abs(got-8) > 0.1 {
		t.Errorf("the ends of a mean are %.3g times apart", got)
	}
	if got := mean.Chosen.AtWorst.HalfWidth / 40; math.Abs(got-mean.OfBounds) > 1e-9 || !strings.Contains(mean.Verdict, "of the range of a column with bounds") {
		t.Errorf("a mean is known to %g of the bounds, %g of a fortieth: %q", mean.OfBounds, got, mean.Verdict)
	}
	few := answersOf(planOf(t, terms, count(20_000)))[study.Correlation]
	if few.Chosen.Usable || len(few.Chosen.UnknownSpreads) != 2 || !strings.Contains(few.Verdict, "it depends on the spread of c0, c5, which is not known. Plan again with --spread c0=SD,c5=SD") {
		t.Errorf("20,000 records: %q", few.Verdict)
	}
	told := answersOf(planOf(t, terms, count(20_000), func(o *Options) {
		o.Spreads = map[string]float64{}
		for i := range 6 {
			o.Spreads[fmt.Sprintf("c%d", i)] = 8
		}
	}))[study.Correlation].Chosen
	if !told.Usable || told.AtBest != told.AtWorst || math.Abs(told.StandardError/few.Chosen.AtBest.StandardError-1) > 0.01 {
		t.Errorf("with spreads of a fifth: %+v, at best %+v", told, few.Chosen.AtBest)
	}
	// After standardisation by own moments, a spread of a tenth is as good as declared.
	own := answersOf(planOf(t, strings.Replace(terms, "{side: moments}", "{side: moments, standardise: own}", 1), count(200_000)))[study.Correlation].Chosen
	if math.Abs(own.AtWorst.StandardError/own.StandardError-4.5/1.9) > 1e-9 {
		t.Errorf("standardised: %+v", own)
	}
}

// A verdict about an answer that is divided by unknown spreads says what it assumes of them, for
// all columns and not only for the pair with the largest error. It says nothing if they are known.
func TestVerdictsSayWhatTheySuppose(t *testing.T) {
	columns := repeated(4, "binary") + ", " + strings.ReplaceAll(repeated(3, "numeric, bounds: [0, 40]"), "name: c", "name: n")
	terms := moments(columns, "{side: moments, standardise: own}", "{kind: mean}, {kind: correlation}, {kind: regression, target: n0, on: [n1, c0]}")
	plan := func(change func(*Options)) map[study.AnalysisKind]Analysis {
		return answersOf(planOf(t, terms, func(o *Options) {
			o.Records = map[string]int64{"": 10_000_000}
			if change != nil {
				change(o)
			}
		}))
	}
	a := plan(nil)
	for kind, want := range map[study.AnalysisKind]string{
		study.Correlation: ", if no value of c0, c1, c2 and 1 more is rarer than 1 % and spreads of n0, n1, n2 are 2.5 % of the range or more",
		study.Regression:  ", if no value of c0 is rarer than 1 % and spreads of n1 are 2.5 % of the range or more",
	} {
		if got := a[kind]; !got.Chosen.Usable || !strings.HasSuffix(got.Verdict, want) || len(got.Supposes) != 2 || got.Supposes[0].Rate != .01 || got.Supposes[1].OfRange != .025 {
			t.Errorf("%s: %q, %+v", kind, got.Verdict, got.Supposes)
		}
	}
	if got := a[study.Mean]; got.Supposes != nil {
		t.Errorf("means suppose %+v", got.Supposes)
	}
	told := plan(func(o *Options) {
		o.Spreads = map[string]float64{}
		for i := range 4 {
			o.Spreads[fmt.Sprintf("c%d", i)], o.Spreads[fmt.Sprintf("n%d", i)] = .3, 5
		}
		delete(o.Spreads, "n3")
	})
	if got := told[study.Correlation]; got.Supposes != nil || strings.Contains(got.Verdict, ", if") {
		t.Errorf("told: %q, %+v", got.Verdict, got.Supposes)
	}
}

// For columns between bounds, at parties that choose their own clip, half of the variance may be
// cut off. At worst an answer is as likely to be lost as with twice the noise, and its error is no
// larger.
func TestLumpsMayDrown(t *testing.T) {
	q := func(sketch string, n int64) Choice {
		return answersOf(planOf(t, moments(repeated(6, "numeric, bounds: [0, 40]"), sketch, "{kind: correlation}"), func(o *Options) {
			o.Records = map[string]int64{"": n}
		}))[study.Correlation].Chosen
	}
	const own = "{side: moments, clip: own, standardise: own}"
	lost := false
	for n := int64(1000); n < 4_000_000; n *= 2 {
		a, b := q(own, n), q("{side: moments, clip: 3, standardise: own}", n)
		if a.AtWorst.Undefined == "" && a.AtWorst.Detects < 1 && a.Lost > oftenLost {
			lost = true // it would be usable if its variance were not in doubt
			if a.Usable {
				t.Errorf("%d records: usable, lost with %g", n, a.Lost)
			}
		}
		if b.AtWorst.Undefined == "" && b.AtWorst.Detects < .5 && b.Lost > oftenLost {
			t.Errorf("%d records, one clip for all: lost with %g, though |ρ| of %g stands out", n, b.Lost, b.AtWorst.Detects)
		}
	}
	if !lost {
		t.Error("no number of records makes the variance the matter")
	}
}

// With a centre and spread, the ends come from a family of distributions. If parties choose their
// own clips, the family has heavier tails, which matter more the less noise there is.
func TestCentresGiveARange(t *testing.T) {
	for _, c := range []struct {
		sketch  string
		records int64
		ranges  map[study.AnalysisKind][3]float64
	}{
		{"{side: moments, clip: 1.3}", 10_000, map[study.AnalysisKind][3]float64{study.Mean: {1, 0.8, 1.45}, study.Correlation: {1, 0.65, 2.1}}},
		{"{side: moments, clip: own}", 200, map[study.AnalysisKind][3]float64{study.Mean: {1.4, 0.7, 3.2}, study.Correlation: {1.9, 0.7, 4.5}}},
		{"{side: moments, clip: own}", 10_000_000, map[study.AnalysisKind][3]float64{study.Mean: {1.4 * 2.4, 0.7, 3.2 * 2.4}, study.Correlation: {1.9 * 4, 0.7, 4.5 * 4}}},
	} {
		columns := repeated(6, "numeric, centre: 3, spread: 2")
		a := answersOf(planOf(t, moments(columns, c.sketch, "{kind: mean}, {kind: correlation}"), func(o *Options) {
			o.Records = map[string]int64{"": c.records}
		}))
		for kind, want := range c.ranges {
			chosen := a[kind].Chosen
			for i, end := range []float64{chosen.AtBest.StandardError, chosen.AtWorst.StandardError} {
				if got := end / chosen.StandardError * want[0]; math.Abs(got-want[i+1]) > 1e-9 {
					t.Errorf("%s of %d records, %s: end %d is at %g, want %g", c.sketch, c.records, kind, i, got, want[i+1])
				}
			}
		}
	}
}

// If a clip cuts more than the noise can hide, no answer is usable, whatever its error. With the
// suggested clip answers are usable, and there is no warning.
func TestShortClipsAreNotUsable(t *testing.T) {
	plan := func(sketch string) Plan {
		return planOf(t, moments(repeated(8, "numeric, centre: 3, spread: 2"), sketch, "{kind: mean}, {kind: correlation}"))
	}
	short := plan("{side: moments, clip: 0.9}")
	if usable, all := short.Usable(); usable != 0 || all != 2 {
		t.Errorf("%d of %d are usable with 0.9", usable, all)
	}
	if a := short.Sketches[0].Analyses[0]; !strings.Contains(a.Verdict, "Take clip: own, or 2") || len(short.Warnings) != 1 {
		t.Errorf("%q, %v", a.Verdict, short.Warnings)
	}
	for _, longer := range []string{"{side: moments}", "{side: moments, clip: own}", "{side: moments, clip: 2.2}"} {
		p := plan(longer)
		if usable, all := p.Usable(); usable != all || len(p.Warnings) > 0 {
			t.Errorf("%s: %d of %d are usable; %v", longer, usable, all, p.Warnings)
		}
	}
}

// If only means are asked for, a record has no products. The noise is that of sums only, smaller by
// about √(25+w²)/w, and the forecast uses it.
func TestMeansAloneAreForecast(t *testing.T) {
	columns := repeated(6, "numeric, bounds: [0, 1]")
	alone := answersOf(planOf(t, moments(columns, "{side: moments}", "{kind: mean}")+"later: [mean]\n"))[study.Mean].Chosen
	beside := answersOf(planOf(t, moments(columns, "{side: moments, sums: 3}", "{kind: mean}, {kind: covariance}")))[study.Mean].Chosen
	if got, want := beside.StandardError/alone.StandardError, math.Sqrt(34)/3; math.Abs(got/want-1) > 0.02 {
		t.Errorf("means err %.3f times as far beside products, want %.3f", got, want)
	}
}

// A component analysis is usable only if it is likely to include all columns; a correlation only if
// it is likely to be defined.
func TestLikelyUndefinedIsNotUsable(t *testing.T) {
	full.Statistical(t)
	step := full.Or(2.5, 1.2)
	for epsilon := 0.2; epsilon < 20; epsilon *= step {
		terms := vertical(twoEach, registry, fmt.Sprintf("{unit: record, mechanism: gaussian, epsilon: %.4g, delta: 1e-6}", epsilon), "{kind: correlation}, {kind: pca}")
		a := answersOf(planOf(t, terms, func(o *Options) { o.Records = map[string]int64{"": 20_000} }))
		rho, pca := a[study.Correlation].Chosen, a[study.PCA].Chosen
		if rho.Usable && rho.Lost > 0.05 || pca.Usable && pca.Lost > 0.1 {
			t.Errorf("ε = %.3g: %+v, %+v", epsilon, rho, pca)
		}
		if pca.Usable && !rho.Usable && pca.Lost > rho.Lost {
			t.Errorf("ε = %.3g: pca is usable where correlations are not", epsilon)
		}
	}
}

// A plan of all parties has what each sends and cuts, and shows the largest.
func TestEveryPartyIsPlanned(t *testing.T) {
	columns := twoEach + ", {name: e, kind: numeric, bounds: [0, 1], owner: south}, {name: f, kind: binary, owner: south}, {name: g, kind: binary, owner: south}"
	p := planOf(t, vertical(columns, registry, perRecord, "{kind: correlation}"))
	s := p.Sketches[0]
	if len(s.Parties) != 2 {
		t.Fatalf("%+v", s.Parties)
	}
	few, many := 0, 1
	if s.Parties[0].Name == "south" {
		few, many = 1, 0
	}
	if s.Parties[few].Features >= s.Parties[many].Features || s.Parties[few].Clipped >= s.Parties[many].Clipped {
		t.Fatalf("%+v", s.Parties)
	}
	if s.Clipped != s.Parties[many].Clipped || s.Bytes != s.Parties[many].Bytes || s.Features != s.Parties[many].Features {
		t.Errorf("%+v is not the most of %+v", s, s.Parties)
	}
	own := planOf(t, vertical(columns, registry, perRecord, "{kind: correlation}"), func(o *Options) { o.Party = few }).Sketches[0]
	if own.Clipped != s.Parties[few].Clipped || own.Bytes != s.Parties[few].Bytes {
		t.Errorf("of its own plan %+v", own)
	}
}

// If another k of the options is usable, a verdict names it, and asks for nothing else.
func TestNeedsKnowTheOptions(t *testing.T) {
	terms := vertical(twoEach, strings.Replace(registry, "k: 1000", "k: 40000", 1), perRecord, correlation)
	a := planOf(t, terms, func(o *Options) { o.Records = map[string]int64{"": 120_000} }).Sketches[0].Analyses[0]
	if a.Chosen.Usable || a.Needs == nil || a.Needs.K == 0 || a.Needs.Epsilon != 0 || !strings.Contains(a.Verdict, fmt.Sprintf("; usable with %s, k = %d", a.Needs.Method, a.Needs.K)) {
		t.Errorf("%q, %+v", a.Verdict, a.Needs)
	}
}
