package audit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/audit"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
)

// audited has plans of every kind of mechanism. Floor is a lower bound on the share of the claimed
// ε that an audit with 20,000 trials finds: its power. It is low if the change is spread over many
// entries (laplace noise with rows of more than one) or mixed with others' flips.
var audited = []struct {
	name, sketch, privacy string
	columns               []string
	floor                 float64
}{
	{"joined identity", "{side: records, family: identity}", "{unit: attribute, mechanism: laplace, epsilon: 1}", []string{releasetest.Bounded, releasetest.Binary}, 0.8},
	{"joined hadamard", "{side: records, family: hadamard, k: 4}", "{unit: attribute, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Bounded, releasetest.Centred, releasetest.Binary}, 0.7},
	{"joined sparse", "{side: records, family: sparse, k: 8}", "{unit: attribute, mechanism: laplace, epsilon: 1}", []string{releasetest.Bounded, releasetest.Centred}, 0.8},
	{"joined bits", "{side: records, family: identity}", "{unit: attribute, mechanism: randomised-response, epsilon: 1}", []string{releasetest.Binary, releasetest.Second}, 0.8},
	{"attribute laplace", "{side: columns, family: sparse, k: 256, helpers: {ones: 1}}", "{unit: attribute, mechanism: laplace, epsilon: 1}", []string{releasetest.Bounded, releasetest.Centred, releasetest.Binary}, 0.8},
	{"attribute laplace, categories", "{side: columns, family: sparse, k: 256, helpers: {ones: 0}}", "{unit: attribute, mechanism: laplace, epsilon: 2}", []string{releasetest.Categorical}, 0.5},
	{"attribute laplace, squares", "{side: columns, family: sparse, k: 256, helpers: {ones: 1, squares: true}}", "{unit: attribute, mechanism: laplace, epsilon: 2}", []string{releasetest.Centred}, 0.5},
	{"attribute gaussian", "{side: columns, family: rademacher, k: 16, helpers: {ones: 0}}", "{unit: attribute, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Bounded, releasetest.Binary}, 0.7},
	{"attribute identity", "{side: records, family: identity}", "{unit: attribute, mechanism: laplace, epsilon: 1}", []string{releasetest.Bounded, releasetest.Binary}, 0.8},
	{"attribute hadamard", "{side: records, family: hadamard, k: 4}", "{unit: attribute, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Bounded, releasetest.Centred, releasetest.Binary}, 0.7},
	{"record horizontal", "{side: records, family: rademacher, k: 16, clip: 0.8}", "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Bounded, releasetest.Centred}, 0.7},
	{"record horizontal, replaced", "{side: records, family: rademacher, k: 16, clip: 0.8}", "{unit: record, neighbours: replaced, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Centred}, 0.7},
	{"record columns", "{side: columns, family: sparse, k: 64, helpers: {ones: 0.3}, clip: 0.8}", "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Bounded, releasetest.Centred}, 0.7},
	{"record columns, laplace", "{side: columns, family: sparse, k: 64, helpers: {ones: 0}, clip: 0.8}", "{unit: record, mechanism: laplace, epsilon: 2}", []string{releasetest.Centred}, 0.8},
	{"record columns, replaced", "{side: columns, family: sparse, k: 64, helpers: {ones: 0}, clip: 0.8}", "{unit: record, neighbours: replaced, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Centred}, 0.7},
	{"own columns", "{side: columns, family: sparse, k: 64, helpers: {ones: 0.7}, clip: 1.1, standardise: own}", "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Bounded, releasetest.Centred, releasetest.Binary}, 0.7},
	{"own columns, replaced", "{side: columns, family: sparse, k: 64, helpers: {ones: 0.7}, clip: 1.1, standardise: own}", "{unit: record, neighbours: replaced, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Bounded, releasetest.Centred}, 0.6}, // ones do not change
	{"moments", "{side: moments, clip: 0.8}", "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Bounded, releasetest.Centred, releasetest.Binary}, 0.7},
	{"moments, replaced", "{side: moments, clip: 0.8}", "{unit: record, neighbours: replaced, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Centred, releasetest.Beside}, 0.7},
	{"moments, own clip, absent values", "{side: moments, clip: own}", "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Centred, releasetest.Beside, releasetest.Binary}, 0.7},
	{"moments, own moments", "{side: moments, clip: own, standardise: own}", "{unit: record, neighbours: replaced, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Bounded, releasetest.Centred, releasetest.Binary}, 0.7},
	{"cells", "{side: cells, L: 2, clip: 0.8}", "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Bounded, releasetest.Centred, releasetest.Binary}, 0.7},
	{"cells, replaced", "{side: cells, L: 2, clip: 0.8}", "{unit: record, neighbours: replaced, mechanism: gaussian, epsilon: 4, delta: 1e-6}", []string{releasetest.Centred, releasetest.Beside}, 0.7},
	{"bits", "{side: records, family: identity}", "{unit: attribute, mechanism: randomised-response, epsilon: 1}", []string{releasetest.Binary, releasetest.Second}, 0.8},
	{"bits, columns", "{side: columns, family: sparse, k: 256, s: 2, helpers: {ones: 1}}", "{unit: attribute, mechanism: randomised-response, epsilon: 2}", []string{releasetest.Binary, releasetest.Second}, 0.8},
	{"bits, rotated", "{side: records, family: hadamard, k: 2}", "{unit: attribute, mechanism: randomised-response, epsilon: 1}", []string{releasetest.Binary, releasetest.Second}, 0.8},
}

func auditPlan(t *testing.T, i int) release.Plan {
	t.Helper()
	a := audited[i]
	partition := study.Horizontal
	if strings.HasPrefix(a.name, "joined") || strings.HasPrefix(a.name, "own") {
		partition = study.Vertical
	}
	missing := "refuse"
	if strings.Contains(a.name, "absent") {
		missing = "count"
	}
	return releasetest.Plan(t, releasetest.Study(t, releasetest.Terms{
		Partition: partition, Columns: a.columns, Sketches: []string{a.sketch}, Privacy: a.privacy, Missing: missing,
	}), 0)
}

func runAudit(t *testing.T, p release.Plan, trials int) audit.Audit {
	t.Helper()
	out, err := audit.Sketch(context.Background(), p, audit.Options{Trials: trials, Entropy: releasetest.Entropy(11)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every kind of plan passes as shipped. Keys are fixed; over the choice of keys, a correct
// mechanism fails with probability 1e-6 (audit.FalseRejection).
func TestAuditPassesAsShipped(t *testing.T) {
	for i, a := range audited {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			p := auditPlan(t, i)
			got := runAudit(t, p, 20_000)
			f := got.Finding
			t.Logf("claimed %.3g, found %.3g of at most %.3g; declared %v, realised %v; drawn %.4g; %q", float64(f.Claimed), float64(f.Found), float64(f.Detectable), got.Declared, got.Found, float64(got.Drawn), got.Remarks)
			if !got.Passed() || !got.Conclusive {
				t.Errorf("%+v", got)
			}
			if few := runAudit(t, p, 100); few.Conclusive && few.Finding.Trials < 200 && few.Finding.Claimed < 1 {
				t.Errorf("%d trials are said to be enough for a claim of %.3g", few.Finding.Trials, float64(few.Finding.Claimed))
			}
			if float64(f.Found) < a.floor*float64(f.Claimed) {
				t.Errorf("only %.3g of the claimed %.3g are found", float64(f.Found), float64(f.Claimed))
			}
		})
	}
}

// chooses reports whether parties choose their own clips, or shift columns by their own values.
func chooses(p release.Plan) bool {
	return p.Own != nil || p.Moments != nil && len(p.Moments.Clips) > 1
}

// The audit passes the real mechanism and fails each of its mutants.
func TestAuditFailsMutants(t *testing.T) {
	recalibrate := func(t *testing.T, p *release.Plan, s dp.Sensitivity) {
		t.Helper()
		var err error
		if p.Noise, err = dp.Calibrate(p.Noise.Guarantee(), s); err != nil {
			t.Fatal(err)
		}
	}
	half := func(s dp.Sensitivity) dp.Sensitivity {
		return dp.Sensitivity{L1: (s.L1 + 1) / 2, L2Squared: (s.L2Squared + 3) / 4}
	}
	for _, mutant := range []struct {
		name  string
		of    func(p release.Plan) bool
		apply func(t *testing.T, p *release.Plan)
	}{
		{"clips twice as long as their noise covers", func(p release.Plan) bool { return chooses(p) && p.Moments != nil && p.Moments.Layout.Attributes == 0 }, func(_ *testing.T, p *release.Plan) {
			m := *p.Moments
			m.Clips = nil
			for _, clip := range p.Moments.Clips {
				m.Clips = append(m.Clips, 2*clip)
			}
			p.Moments = &m
		}},
		{"halved noise", func(p release.Plan) bool { return p.Flips.Zero() && !chooses(p) }, func(t *testing.T, p *release.Plan) { recalibrate(t, p, half(p.Sensitivity)) }},
		{"no factor 2 for a replaced record", func(p release.Plan) bool { return p.Study.Privacy.Replaced && !chooses(p) }, func(t *testing.T, p *release.Plan) {
			p.Sensitivity = half(p.Sensitivity)
			recalibrate(t, p, p.Sensitivity)
		}},
		{"no clipping", func(p release.Plan) bool { return p.Clip > 0 && !chooses(p) }, func(_ *testing.T, p *release.Plan) {
			p.Clip = 0
			if p.Moments != nil { // the weights are those of the clip
				m := *p.Moments
				m.Clips = []int64{dp.MaxMomentClip}
				p.Moments = &m
			}
		}},
		{"bits flipped half as often", func(p release.Plan) bool { return !p.Flips.Zero() }, func(t *testing.T, p *release.Plan) {
			weak, err := dp.Promise(dp.RandomisedResponse, dp.Budget{Epsilon: 2 * p.Noise.Guarantee().Epsilon()})
			if err == nil {
				p.Flips, err = dp.RandomiseBits(weak, p.Study.Bits.One())
			}
			if err != nil {
				t.Fatal(err)
			}
		}},
	} {
		for i, a := range audited {
			p := auditPlan(t, i)
			if !mutant.of(p) {
				continue
			}
			t.Run(mutant.name+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				mutant.apply(t, &p)
				got := runAudit(t, p, 20_000)
				t.Logf("claimed %.3g, found %.3g; declared %v, realised %v", float64(got.Finding.Claimed), float64(got.Finding.Found), got.Declared, got.Found)
				if got.Finding.Passed || got.Passed() {
					t.Errorf("%s passes: %+v", mutant.name, got)
				}
			})
		}
	}
}

// The search for neighbours finds exactly the plan's sensitivity if the plan claims that it is
// attained; it never finds more.
func TestRealisedSensitivity(t *testing.T) {
	for i, a := range audited {
		p := auditPlan(t, i)
		if chooses(p) { // [audit.Sketch] looks at each clip, or past the first look
			continue
		}
		g, err := dp.NewGenerator(releasetest.Entropy(3))
		if err != nil {
			t.Fatal(err)
		}
		got, err := audit.Realise(p, releasetest.Seed(5), g)
		if err != nil {
			t.Fatal(err)
		}
		if p.Study.Privacy.Mechanism == dp.RandomisedResponse {
			continue
		}
		if got.L1 > p.Sensitivity.L1 || got.L2Squared > p.Sensitivity.L2Squared {
			t.Errorf("%s: moved by %v, declared %v", a.name, got, p.Sensitivity)
		}
		attained := got.L1 == p.Sensitivity.L1 || got.L2Squared == p.Sensitivity.L2Squared
		if p.Study.Privacy.Unit == dp.Attribute && p.Sketch().Side == sketch.Columns && !attained {
			t.Errorf("%s: moved by %v only, declared %v", a.name, got, p.Sensitivity)
		}
		if float64(got.L2Squared) < 0.85*float64(p.Sensitivity.L2Squared) && p.Study.Privacy.Unit == dp.Record {
			t.Errorf("%s: moved by %v only, declared %v", a.name, got, p.Sensitivity)
		}
	}
}

func TestAuditRefuses(t *testing.T) {
	s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded}, Privacy: releasetest.NoPromise, Sketches: []string{"{side: records, family: identity}"}})
	if _, err := audit.Sketch(context.Background(), releasetest.Plan(t, s, 0), audit.Options{Entropy: releasetest.Entropy(1)}); err == nil {
		t.Error("mechanism none was audited")
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := audit.Sketch(ended, auditPlan(t, 0), audit.Options{Entropy: releasetest.Entropy(1)}); err == nil {
		t.Error("an audit went on after its context ended")
	}
}
