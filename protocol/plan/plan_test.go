package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/study"
)

// vertical returns the terms of a study of two parties.
func vertical(columns, sketch, privacy, analyses string) string {
	return fmt.Sprintf("partition: vertical\nrecords: {id: [patient]}\ncolumns: [%s]\nsketches: [%s]\nprivacy: %s\nanalyses: [%s]\n", columns, sketch, privacy, analyses)
}

const (
	twoEach = "{name: a, kind: numeric, centre: 0, spread: 1, owner: north}, {name: b, kind: numeric, centre: 5, spread: 2, owner: north}, " +
		"{name: c, kind: numeric, centre: 0, spread: 1, owner: south}, {name: d, kind: numeric, centre: 1, spread: 1, owner: south}"
	registry    = "{side: columns, family: sparse, k: 1000, helpers: {ones: 0.3}, clip: 0.8}"
	perRecord   = "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"
	correlation = "{kind: correlation}, {kind: intersection}"
)

func horizontal(features int, sketch, privacy string) string {
	var columns []string
	for i := range features {
		columns = append(columns, fmt.Sprintf("{name: c%d, kind: numeric, bounds: [0, 1], kurtosis: 1.8}", i))
	}
	return fmt.Sprintf("partition: horizontal\nrecords: {id: [patient]}\ncolumns: [%s]\nsketches: [%s]\nprivacy: %s\nanalyses: [{kind: k-means, clusters: 2}]\n",
		strings.Join(columns, ", "), sketch, privacy)
}

func planOf(t *testing.T, terms string, change ...func(*Options)) Plan {
	t.Helper()
	o := Options{Study: parse(t, terms), Party: study.Everyone, Records: map[string]int64{"": 200_000}}
	for _, c := range o.Study.Columns { // the spreads of horizontal are given, for uniform values
		if c.Kurtosis == 1.8 {
			if o.Spreads == nil {
				o.Spreads = map[string]float64{}
			}
			lo, hi, _ := c.Scale.Bounds()
			o.Spreads[c.Name] = (hi - lo) / math.Sqrt(12)
		}
	}
	for _, c := range change {
		c(&o)
	}
	p, err := Make(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A registry: 200,000 records, two columns per party, RMSE .053 of a correlation and .066 of the
// shared records, which does not include the effect of clipping.
func TestRegistry(t *testing.T) {
	p := planOf(t, vertical(twoEach, registry, perRecord, correlation))
	rho := p.Sketches[0].Analyses[0]
	if got := rho.Chosen.StandardError; math.Abs(got-0.053) > 0.004 {
		t.Errorf("correlation: standard error %.4f, want .053", got)
	}
	if !strings.HasPrefix(rho.Verdict, "usable: |ρ| ≥ 0.23 (at best 0.069) stands out") {
		t.Errorf("verdict %q", rho.Verdict)
	}
	if rho.Best > rho.Chosen.StandardError {
		t.Error("the pair that errs least errs more than the one that errs most")
	}
	if got := p.Sketches[0].Bytes; got < 6000 || got > 24000 {
		t.Errorf("%d bytes of 1000 × 3 entries", got)
	}
}

// Recommended methods have the smallest error: with a k that differs by a tenth it is no smaller.
func TestOptionsAreBest(t *testing.T) {
	s := parse(t, vertical(twoEach, registry, perRecord, correlation))
	c := newCell(Options{Study: s, Party: study.Everyone, Records: map[string]int64{"": 200_000}}, 0)
	p := planOf(t, vertical(twoEach, registry, perRecord, correlation))
	for i, a := range s.Analyses {
		q, _, _, err := c.hardest(c.questions(a))
		if err != nil {
			t.Fatal(err)
		}
		options := p.Sketches[0].Analyses[i].Options
		if !slices.IsSortedFunc(options, func(a, b Choice) int {
			return int(math.Copysign(1, a.StandardError-b.StandardError))
		}) {
			t.Errorf("%s: the menu is not in order", a.Kind)
		}
		for _, o := range options {
			for _, k := range []int{o.K - max(o.K/10, 1)*max(o.S, 1), o.K + max(o.K/10, 1)*max(o.S, 1)} {
				k = k / max(o.S, 1) * max(o.S, 1)
				if k < 1 {
					continue
				}
				m := c.method
				m.Mechanism, m.Family, m.S = o.Mechanism, o.Family, o.S
				e, err := c.with(m, k, o.Delta).forecast(q)
				if err != nil {
					t.Fatal(err)
				}
				if e.StandardError < o.StandardError {
					t.Errorf("%s, %s: k = %d errs %.4g, k = %d errs %.4g", a.Kind, o.Method, k, e.StandardError, o.K, o.StandardError)
				}
			}
		}
	}
}

// Neighbours and outliers are judged like k-means: by the distance of two records.
func TestNeighboursAreJudgedAsClusters(t *testing.T) {
	for privacy, usable := range map[string]bool{
		"{unit: attribute, mechanism: laplace, epsilon: 30}": true, "{unit: attribute, mechanism: laplace, epsilon: 1}": false,
	} {
		terms := strings.Replace(horizontal(30, "{side: records, family: identity}", privacy), "{kind: k-means, clusters: 2}",
			"{kind: k-means, clusters: auto}, {kind: neighbors}, {kind: outliers}", 1)
		analyses := planOf(t, terms).Sketches[0].Analyses
		if len(analyses) != 3 {
			t.Fatalf("%d analyses", len(analyses))
		}
		for _, a := range analyses {
			if a.Verdict != analyses[0].Verdict || a.Chosen.Usable != usable || a.Chosen.StandardError != analyses[0].Chosen.StandardError {
				t.Errorf("%s: %q, k-means %q", a.Kind, a.Verdict, analyses[0].Verdict)
			}
		}
	}
}

// If a record has no more features than the best k: do not project. If it has far more, sparse s=1
// with Laplace noise is best.
func TestIdentityOrSparse(t *testing.T) {
	for _, test := range []struct {
		features int
		identity bool
		best     projection.Family
	}{{30, true, projection.Identity}, {1500, false, projection.Sparse}} {
		p := planOf(t, horizontal(test.features, "{side: records, family: sparse, k: 32}", "{unit: attribute, mechanism: laplace, epsilon: 8}"),
			func(o *Options) { o.Records = map[string]int64{"": 500} })
		s := p.Sketches[0]
		best := s.Analyses[0].Options[0]
		if test.features > 1000 {
			// 1,500 uniform columns are far apart; the spread of real ones is smaller.
			p = planOf(t, horizontal(test.features, "{side: records, family: sparse, k: 32}", "{unit: attribute, mechanism: laplace, epsilon: 1}"),
				func(o *Options) {
					o.Records = map[string]int64{"": 500}
					o.Spreads = map[string]float64{}
					for _, c := range o.Study.Columns {
						o.Spreads[c.Name] = 0.1
					}
				})
			s = p.Sketches[0]
			best = s.Analyses[0].Options[0]
		}
		if s.Identity != test.identity || best.Family != test.best || best.Mechanism != dp.Laplace || best.Family == projection.Sparse && best.S != 1 {
			t.Errorf("%d features: identity %t, best %s; want %t, %s (k* = %.0f)", test.features, s.Identity, best.Method, test.identity, test.best, *s.OptimalK)
		}
		if test.identity != (float64(test.features) <= *s.OptimalK) {
			t.Errorf("%d features: k* = %.0f", test.features, *s.OptimalK)
		}
	}
}

// The recommended study parses, and its errors are as the plan says.
func TestRecommendationHolds(t *testing.T) {
	for name, test := range map[string]struct{ sketch, privacy, terms string }{
		"columns": {"sketches: [" + registry + "]", "privacy: " + perRecord, vertical(twoEach, registry, perRecord, correlation)},
		"records": {"sketches: [{side: records, family: rademacher, k: 200}]", "privacy: {unit: attribute, mechanism: laplace, epsilon: 4}",
			horizontal(30, "{side: records, family: rademacher, k: 200}", "{unit: attribute, mechanism: laplace, epsilon: 4}")},
		"bits": {"sketches: [{side: records, family: sparse, k: 8}]", "privacy: {unit: attribute, mechanism: laplace, epsilon: 4}",
			strings.ReplaceAll(horizontal(12, "{side: records, family: sparse, k: 8}", "{unit: attribute, mechanism: laplace, epsilon: 4}"), "numeric, bounds: [0, 1]", "binary")},
		"gaussian": {"sketches: [{side: records, family: rademacher, k: 200}]", "privacy: {unit: attribute, mechanism: gaussian, epsilon: 8, delta: 1e-9}",
			horizontal(30, "{side: records, family: rademacher, k: 200}", "{unit: attribute, mechanism: gaussian, epsilon: 8, delta: 1e-9}")},
	} {
		at := slices.IndexFunc(planOf(t, test.terms).Warnings, func(w Warning) bool { return len(w.Change) > 0 })
		if at < 0 {
			t.Errorf("%s: nothing is recommended", name)
			continue
		}
		before := planOf(t, test.terms)
		lines := before.Warnings[at].Change
		privacy := test.privacy
		if last := len(lines) - 1; strings.HasPrefix(lines[last], "privacy: ") {
			lines, privacy = lines[:last], lines[last]
		}
		sketches := strings.Join(lines, "\n")
		changed := strings.Replace(strings.Replace(test.terms, test.sketch, sketches, 1), test.privacy, privacy, 1)
		after := planOf(t, changed)
		if slices.ContainsFunc(after.Warnings, func(w Warning) bool { return len(w.Change) > 0 }) {
			t.Errorf("%s: what was recommended is warned of: %v", name, after.Warnings)
		}
		for i, a := range after.Sketches[0].Analyses {
			if name == "bits" && a.Chosen.Mechanism != dp.RandomisedResponse {
				t.Errorf("%s: %s is recommended", name, a.Chosen.Method)
			}
			if was := before.Sketches[0].Analyses[i].Chosen.StandardError; i == 0 && !(a.Chosen.StandardError < was) {
				t.Errorf("%s: %s errs %.3g after the change, %.3g before", name, a.Kind, a.Chosen.StandardError, was)
			}
		}
	}
}

// A study without usable answers says what it needs. With that it is usable, and with a tenth less
// it is not.
func TestNeeds(t *testing.T) {
	terms := func(epsilon float64, k int) string {
		return vertical(twoEach, strings.Replace(registry, "k: 1000", fmt.Sprintf("k: %d", k), 1), fmt.Sprintf("{unit: record, mechanism: gaussian, epsilon: %.6g, delta: 1e-6}", epsilon), "{kind: correlation}")
	}
	few := func(n int64) func(*Options) { return func(o *Options) { o.Records = map[string]int64{"": n} } }
	a := planOf(t, terms(0.5, 1000), few(2000)).Sketches[0].Analyses[0]
	if a.Chosen.Usable || a.Needs == nil || a.Needs.Epsilon == 0 || a.Needs.Records == 0 {
		t.Fatalf("2,000 records at ε = 0.5: %+v", a)
	}
	if !strings.HasPrefix(a.Verdict, "not usable: ") || !strings.Contains(a.Verdict, "needs ε ≥ ") || !strings.Contains(a.Verdict, "N ≥ ") {
		t.Errorf("verdict %q", a.Verdict)
	}
	usable := func(epsilon float64, n int64, k int) bool {
		return planOf(t, terms(epsilon, cmp.Or(k, 1000)), few(n)).Sketches[0].Analyses[0].Chosen.Usable
	}
	if !usable(a.Needs.Epsilon, 2000, a.Needs.EpsilonK) || usable(0.9*a.Needs.Epsilon, 2000, a.Needs.EpsilonK) {
		t.Errorf("ε = %g is not the least", a.Needs.Epsilon)
	}
	if !usable(0.5, a.Needs.Records, a.Needs.RecordsK) || usable(0.5, a.Needs.Records*9/10, a.Needs.RecordsK) {
		t.Errorf("%d records are not the fewest", a.Needs.Records)
	}
}

// Without noise a plan says what the sketch reveals.
func TestWithoutNoise(t *testing.T) {
	columns := "{side: columns, family: sparse, k: 512, helpers: {ones: 1}}"
	p := planOf(t, vertical(twoEach, columns, "{mechanism: none}", correlation), func(o *Options) { o.Records = map[string]int64{"": 569} })
	e := p.Sketches[0].Exposure
	if e == nil || e.Acceptable || math.Abs(e.Share-512./569) > 1e-9 || math.Abs(e.Alone-0.33) > 0.01 {
		t.Fatalf("exposure %+v", e)
	}
	warned := fmt.Sprint(p.Warnings)
	for _, want := range []string{"accept_reconstruction: true", "larger than the data"} {
		if !strings.Contains(warned, want) {
			t.Errorf("no warning of %q in %s", want, warned)
		}
	}
	for _, o := range p.Sketches[0].Analyses[0].Options {
		if o.K > 57 || o.Mechanism != dp.None {
			t.Errorf("%s, k = %d is refused by the rule for sketches without noise", o.Method, o.K)
		}
	}
}

func TestNarrowSpread(t *testing.T) {
	terms := vertical("{name: a, kind: numeric, bounds: [0, 1000], owner: north}, {name: b, kind: numeric, bounds: [0, 10], owner: south}", registry, perRecord, correlation)
	spread := func(sd float64) func(*Options) {
		return func(o *Options) { o.Spreads = map[string]float64{"a": sd} }
	}
	if warned := fmt.Sprint(planOf(t, terms, spread(3)).Warnings); !strings.Contains(warned, `the spread of "a" is less than 2^-7`) {
		t.Errorf("a spread of 3 within 1,000: %s", warned)
	}
	if warned := fmt.Sprint(planOf(t, terms, spread(4)).Warnings); strings.Contains(warned, "2^-7") {
		t.Errorf("a spread of 4 within 1,000: %s", warned)
	}
}

// Every kind of analysis and both partitions can be planned, and a plan is JSON.
func TestEveryStudyIsPlanned(t *testing.T) {
	everything := "{kind: inner-product}, {kind: distance}, {kind: cosine}, {kind: correlation, estimator: E1}, {kind: correlation}, {kind: intersection}, {kind: covariance}"
	helpers := "helpers: {ones: 0.5, squares: true}"
	for name, terms := range map[string]string{
		"all": vertical(twoEach, "{side: columns, family: rademacher, k: 64, "+helpers+"}", "{unit: attribute, mechanism: laplace, epsilon: 8}", everything),
		"bits": vertical("{name: a, kind: binary, owner: north}, {name: b, kind: binary, owner: south}", "{side: columns, family: sparse, k: 64, helpers: {ones: 1}}",
			"{unit: attribute, mechanism: randomised-response, epsilon: 0.01}", correlation),
		"few bits": "bits: 4\n" + vertical("{name: a, kind: binary, owner: north}, {name: b, kind: binary, owner: south}", "{side: columns, family: sparse, k: 64, helpers: {ones: 1}}",
			"{unit: attribute, mechanism: laplace, epsilon: 0.01}", correlation),
		"groups":   strings.Replace(horizontal(4, "{side: records, family: sparse, k: 4}", "{unit: attribute, mechanism: laplace, epsilon: 1}"), "k-means, clusters: 2", "group-distance, intervals: all", 1),
		"one each": vertical("{name: a, kind: binary, owner: north}, {name: b, kind: categorical, values: [u, v], owner: south}", registry, perRecord, correlation),
		"shares": "partition: horizontal\nrecords: {id: [patient]}\ncolumns: [{name: a, kind: binary}, {name: b, kind: binary}]\n" +
			"sketches: [{side: columns, family: sparse, k: 64, share: 3}, {side: records, family: identity}]\nprivacy: {unit: attribute, mechanism: laplace, epsilon: 2}\n" +
			"analyses: [{kind: correlation}, {kind: k-means, clusters: 2}]\n",
		"one column": "partition: horizontal\nrecords: {id: [patient]}\ncolumns: [{name: a, kind: binary}]\n" +
			"sketches: [{side: columns, family: sparse, k: 64}]\nprivacy: {unit: attribute, mechanism: laplace, epsilon: 2}\nanalyses: [{kind: inner-product}]\n",
		"records": horizontal(4, "{side: records, family: hadamard, k: 4, clip: 2}", "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"),
	} {
		p := planOf(t, terms)
		if _, err := json.Marshal(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, s := range p.Sketches {
			for _, a := range s.Analyses {
				if a.Verdict == "" || a.Measure == "" || len(a.Options) == 0 && name != "one column" {
					t.Errorf("%s: %+v", name, a)
				}
				if name == "shares" && s.Side == "records" && !slices.ContainsFunc(a.Options, func(o Choice) bool { return o.Mechanism == "randomised-response" }) {
					t.Error("randomised response is not in the menu for binary columns")
				}
			}
		}
	}
}

// If a record may be replaced by another, there is twice the noise, and recommendations still say
// so.
func TestReplaced(t *testing.T) {
	zeroed := "{unit: record, mechanism: laplace, epsilon: 4}"
	replaced := "{unit: record, mechanism: laplace, epsilon: 4, neighbours: replaced}"
	terms := func(privacy string) string { return vertical(twoEach, registry, privacy, correlation) }
	once, twice := planOf(t, terms(zeroed)), planOf(t, terms(replaced))
	half := planOf(t, terms("{unit: record, mechanism: laplace, epsilon: 2}"))
	for i, a := range twice.Sketches[0].Analyses {
		if got, want := a.Chosen.StandardError, half.Sketches[0].Analyses[i].Chosen.StandardError; math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%s errs %.4g, want %.4g as at half the ε", a.Kind, got, want)
		}
		if a.Chosen.StandardError <= once.Sketches[0].Analyses[i].Chosen.StandardError {
			t.Errorf("%s errs no more than where records become zeros", a.Kind)
		}
	}
	if !twice.Sketches[0].Replaced || once.Sketches[0].Replaced {
		t.Error("which neighbours there are is not in the plan")
	}
	at := slices.IndexFunc(planOf(t, vertical(twoEach, "{side: columns, family: rademacher, k: 4000, helpers: {ones: 0.3}, clip: 0.8}",
		"{unit: record, mechanism: gaussian, epsilon: 8, delta: 1e-20, neighbours: replaced}", correlation)).Warnings, func(w Warning) bool { return len(w.Change) > 0 })
	if at < 0 {
		t.Fatal("nothing is recommended")
	}
	lines := planOf(t, vertical(twoEach, "{side: columns, family: rademacher, k: 4000, helpers: {ones: 0.3}, clip: 0.8}",
		"{unit: record, mechanism: gaussian, epsilon: 8, delta: 1e-20, neighbours: replaced}", correlation)).Warnings[at].Change
	if last := lines[len(lines)-1]; !strings.Contains(last, "mechanism: laplace") || !strings.Contains(last, "neighbours: replaced") {
		t.Errorf("recommended: %s", last)
	}
}

// Intervals that hold all together are wider by the quantile of their level, and effects must be
// larger to stand out. The error is the same.
func TestIntervalsTogether(t *testing.T) {
	each := planOf(t, vertical(twoEach, registry, perRecord, "{kind: covariance}, {kind: correlation}, {kind: intersection}")).Sketches[0].Analyses
	all := planOf(t, vertical(twoEach, registry, perRecord, "{kind: covariance, intervals: all}, {kind: correlation, intervals: all}, {kind: intersection, intervals: all}")).Sketches[0].Analyses
	for i, count := range []int{10, 6, 1} {
		a, b := each[i].Chosen, all[i].Chosen
		factor := math.Erfinv(1-0.05/float64(count)) / math.Erfinv(0.95)
		if a.StandardError != b.StandardError || math.Abs(b.Detects/a.Detects/factor-1) > 1e-9 || math.Abs(b.HalfWidth/a.HalfWidth/factor-1) > 0.15 {
			t.Errorf("%s: %+v, together %+v, want a factor of %.3f", all[i].Kind, a, b, factor)
		}
		if all[i].Together != count || each[i].Together != 0 || math.Abs(all[i].EachLevel-(1-0.05/float64(count))) > 1e-12 {
			t.Errorf("%s: %d hold together, each at %v; want %d", all[i].Kind, all[i].Together, all[i].EachLevel, count)
		}
	}
	if each[0].Verdict == all[0].Verdict {
		t.Errorf("the verdict is the same: %s", each[0].Verdict)
	}
}

// Flipped bits are not recommended to a study that fills in missing values, which are not bits.
func TestFlippedBitsTakeEveryValue(t *testing.T) {
	terms := strings.ReplaceAll(horizontal(12, "{side: records, family: sparse, k: 8}", "{unit: attribute, mechanism: laplace, epsilon: 4}"), "numeric, bounds: [0, 1]", "binary")
	for missing, selectable := range map[string]bool{"refuse": true, "centre": false} {
		p := planOf(t, strings.Replace(terms, "id: [patient]", "id: [patient], missing: "+missing, 1))
		options := p.Sketches[0].Analyses[0].Options
		at := slices.IndexFunc(options, func(o Choice) bool { return o.Mechanism == dp.RandomisedResponse })
		if at < 0 || options[at].selectable != selectable || (options[at].Note == "") != selectable {
			t.Errorf("missing: %s: %+v", missing, options)
		}
	}
}

func TestOptionsRefused(t *testing.T) {
	s := parse(t, vertical(twoEach, registry, perRecord, correlation))
	for name, o := range map[string]Options{
		"no records":     {Records: map[string]int64{"": 0}},
		"unknown party":  {Records: map[string]int64{"east": 100}},
		"too many":       {Records: map[string]int64{"north": 1 << 60}},
		"overlap":        {Overlap: 1.5},
		"overlap nan":    {Overlap: math.NaN()},
		"unknown column": {Spreads: map[string]float64{"z": 1}},
		"spread":         {Spreads: map[string]float64{"a": 0}},
		"spread nan":     {Spreads: map[string]float64{"a": math.NaN()}},
	} {
		o.Study, o.Party = s, study.Everyone
		if _, err := Make(o); err == nil || !strings.HasPrefix(err.Error(), "planning: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
