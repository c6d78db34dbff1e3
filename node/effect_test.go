package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/release"
)

// checkData checks party a's data like the command.
func (b *bench) checkData() (source.CheckedData, error, error) {
	b.t.Helper()
	st, err := store.Open(b.path("a"), store.Party, store.Options{ReadOnly: true})
	check(b.t, err)
	defer st.Close()
	return source.CheckData(context.Background(), source.Options{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(b.path("a.yaml")) }, Study: b.study,
		Env: node.PartyEnv{Now: b.now},
	})
}

// misfits looks for values that do not fit, like the command.
func (b *bench) misfits() ([]dataset.Problem, error) {
	b.t.Helper()
	st, err := store.Open(b.path("a"), store.Party, store.Options{ReadOnly: true})
	check(b.t, err)
	defer st.Close()
	return source.Misfits(context.Background(), source.Options{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(b.path("a.yaml")) }, Study: b.study,
		Env: node.PartyEnv{Now: b.now},
	})
}

// incomes is a file of skewed amounts around 3000, of ages around 50, and of a column that is
// missing in one record of ten.
func incomes(records int) func(int) string {
	return func(party int) string {
		rng := rand.New(rand.NewPCG(uint64(party), 1))
		var text strings.Builder
		text.WriteString("id,income,age,score\n")
		for i := range records {
			score := fmt.Sprintf("%.3f", rng.Float64())
			if i%10 == 0 {
				score = ""
			}
			fmt.Fprintf(&text, "p%d-%d,%.2f,%.1f,%s\n", party, i, 3000*math.Exp(rng.NormFloat64()), 50+10*rng.NormFloat64(), score)
		}
		return text.String()
	}
}

const recordNoise = "{unit: record, mechanism: gaussian, epsilon: 2, delta: 1e-6}"

// The effect on skewed data is shown before anything is spent, biggest problem first. The
// rehearsal, which clips the data, gets the same counts. Nothing of it is stored.
func TestEffectOnSkewedData(t *testing.T) {
	const far = "[{name: income, kind: numeric, centre: 50000, spread: 5000}, {name: age, kind: numeric, centre: 50, spread: 10}, {name: score, kind: numeric, bounds: [0, 1]}]"
	const near = "[{name: income, kind: numeric, centre: 4900, spread: 6000}, {name: age, kind: numeric, centre: 50, spread: 10}, {name: score, kind: numeric, bounds: [0, 1]}]"
	const wide = "[{name: income, kind: numeric, bounds: [0, 10000000]}, {name: age, kind: numeric, bounds: [0, 100]}, {name: score, kind: numeric, bounds: [0, 1]}]"
	for name, w := range map[string]struct {
		terms    terms
		missing  string
		cut      [2]float64 // bounds of the clipped share
		warnings []string   // beginnings of the warnings, in order
		beyond   bool
	}{
		"all are cut": {
			terms: terms{columns: far, sketches: "[{side: moments, clip: 1}]"}, missing: "centre", cut: [2]float64{0.98, 0.999},
			warnings: []string{"about 99 % of your records (19", `"income": the mean of your data is 9`, `"score": about 10 % of values (200 of 2000) are missing and count as 0.5, the public centre`},
			beyond:   true,
		},
		"few are cut": {
			terms: terms{columns: near, sketches: "[{side: moments, clip: 3}]"}, missing: "count", cut: [2]float64{0, 0.02},
			beyond: true,
		},
		"own clip": {
			terms: terms{columns: near, sketches: "[{side: moments, clip: own}]"}, missing: "centre", cut: [2]float64{0, 0.2},
			warnings: []string{`"score": about 10 %`}, beyond: true,
		},
		"own spreads": {
			terms: terms{columns: wide, sketches: "[{side: moments, standardise: own}]"}, missing: "count", cut: [2]float64{0, 0.2},
		},
		"wide bounds": {
			terms: terms{columns: wide, sketches: "[{side: moments}]"}, missing: "centre", cut: [2]float64{0, 0},
			warnings: []string{`"score": about 10 %`, `"income": the values vary only 0.00`},
		},
		"cells": {
			terms: terms{columns: near, sketches: "[{side: cells, L: 3, clip: 0.2}]", analyses: "[{kind: k-means, clusters: 2}]"}, missing: "centre", cut: [2]float64{0.5, 0.95},
			warnings: []string{"about ", `"score": about 10 %`}, beyond: true,
		},
		"columns": {
			terms:   terms{columns: near, sketches: "[{side: columns, family: sparse, k: 16, s: 1, helpers: {ones: 0.4}, clip: 0.5}]", analyses: "[{kind: correlation}]"},
			missing: "centre", cut: [2]float64{0.5, 0.95},
			warnings: []string{"about ", `"score": about 10 %`, `"income": about `},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w.terms.partition, w.terms.privacy, w.terms.caps = "horizontal", recordNoise, "{record: {epsilon: 4, delta: 1e-5}}"
			if w.terms.analyses == "" {
				w.terms.analyses = "[{kind: mean}, {kind: correlation}]"
			}
			w.terms.missing = w.missing
			b := newBench(t, w.terms, incomes(2000))
			before := contents(t, b.path("a"))
			data, refusal, err := b.checkData()
			check(t, errors.Join(refusal, err))
			e := data.Effect
			if len(e.Cuts) != 1 || e.Cuts[0].Cut == nil {
				t.Fatalf("cuts: %+v", e.Cuts)
			}
			cut := e.Cuts[0]
			if share := float64(*cut.Cut) / float64(cut.Of); share < w.cut[0] || share > w.cut[1] || cut.Of != 2000 {
				t.Errorf("%d of %d records are cut, want a share of %v", *cut.Cut, cut.Of, w.cut)
			}
			if len(e.Warnings) != len(w.warnings) {
				t.Errorf("warnings: %q", e.Warnings)
			}
			for i, want := range w.warnings {
				if i < len(e.Warnings) && !strings.HasPrefix(e.Warnings[i], want) {
					t.Errorf("warning %d: %q, want %q", i+1, e.Warnings[i], want)
				}
			}
			if got := e.Columns[0].Beyond > 0; got != w.beyond || e.Columns[2].Missing != 200 {
				t.Errorf("columns: %+v", e.Columns)
			}
			r, refusal, err := b.rehearse()
			check(t, errors.Join(refusal, err))
			if len(r.Cuts) != 1 || r.Cuts[0].Cut == nil || *r.Cuts[0].Cut != r.Sketches[0].Clipped {
				t.Fatalf("rehearsed: %+v", r.Cuts)
			}
			party, _ := b.study.PartyByName("a")
			plan, err := release.For(b.study, party, 0)
			check(t, err)
			if plan.Moments != nil && plan.Moments.Layout.Products { // the noise is for the chosen clip
				one := float64(b.study.Bits.One())
				e := slices.IndexFunc(plan.Moments.Clips, func(clip int64) bool { return float64(clip)/one == r.Cuts[0].Clip })
				noise := plan.MomentNoise(1, e, false).Square * 25 * one * one * one * one // for a weight of 5
				if math.Abs(r.Sketches[0].Variance/noise-1) > 1e-9 {
					t.Errorf("rehearsed noise of variance %v, want %v", r.Sketches[0].Variance, noise)
				}
			}
			if !cut.Own && !strings.Contains(w.terms.sketches, "standardise") && *r.Cuts[0].Cut != *cut.Cut {
				t.Errorf("%d records are cut, rehearsed %d", *cut.Cut, *r.Cuts[0].Cut)
			}
			if fmt.Sprint(r.Columns[0].Beyond, r.Columns[1].Missing, *pointed(r.Columns[0].Spread)) != fmt.Sprint(e.Columns[0].Beyond, e.Columns[1].Missing, *pointed(e.Columns[0].Spread)) {
				t.Errorf("columns %+v, rehearsed %+v", e.Columns, r.Columns)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
			if after := contents(t, b.path("a")); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Error("looking at data changed the store")
			}
		})
	}
}

// A party that chooses its own clip is told the noise for it, and the total cost of its release.
func TestRehearsalSaysTheNoiseOfItsOwnClip(t *testing.T) {
	var clips, variances []float64
	for _, spread := range []int{6000, 1000} {
		b := newBench(t, terms{
			partition: "horizontal", columns: fmt.Sprintf("[{name: income, kind: numeric, centre: 4900, spread: %d}, {name: age, kind: numeric, centre: 50, spread: 10}]", spread),
			sketches: "[{side: moments, clip: own}]", privacy: recordNoise, analyses: "[{kind: mean}, {kind: correlation}]", caps: "{record: {epsilon: 4, delta: 1e-5}}",
		}, incomes(2000))
		r, refusal, err := b.rehearse()
		check(t, errors.Join(refusal, err))
		clips, variances = append(clips, r.Cuts[0].Clip), append(variances, r.Sketches[0].Variance)
		if said := r.Sketches[0].Statement; !strings.Contains(said, "ε = 2, δ = 1e-06") {
			t.Errorf("a release that costs ε = 2: %s", said)
		}
	}
	if clips[1] < 1.1*clips[0] {
		t.Fatalf("clips %v: the test needs two that differ", clips)
	}
	if got, want := variances[1]/variances[0], math.Pow(clips[1]/clips[0], 4); math.Abs(got/want-1) > 0.02 {
		t.Errorf("clips %v, variances %v: their ratio is %v, want that of clips to the fourth power, %v", clips, variances, got, want)
	}
}

// Statements about odd data are true: no centre is computed from values that were moved, and
// columns that carry no information are named.
func TestEffectOnOddData(t *testing.T) {
	repeated := func(head string, rows ...string) func(int) string {
		return func(int) string {
			text := head + "\n"
			for i := range 40 {
				text += fmt.Sprintf("r%d,%s\n", i, rows[i%len(rows)])
			}
			return text
		}
	}
	amounts := terms{
		columns: "[{name: x, kind: numeric, centre: 50000, spread: 5000}, {name: b, kind: binary}]", sketches: "[{side: columns, family: sparse, k: 16, s: 1, helpers: {ones: 0.4}}]",
		privacy: "{unit: attribute, mechanism: laplace, epsilon: 1}", analyses: "[{kind: correlation}]",
	}
	sums := terms{
		columns: "[{name: x, kind: numeric, centre: 10, spread: 5}, {name: b, kind: binary}]", sketches: "[{side: moments, clip: 1}]",
		privacy: recordNoise, analyses: "[{kind: mean}]", caps: "{record: {epsilon: 4, delta: 1e-5}}",
	}
	for name, c := range map[string]struct {
		terms   terms
		missing string
		rows    []string
		want    []string
	}{
		"all moved to three spreads": {amounts, "refuse", []string{"700,0", "8000,1", "17000,1"}, []string{
			`"x": the mean of your data is 3 spreads below the declared centre. More values are moved to three spreads from the centre. A centre that fits cannot be told from values that were moved: party data show says what is in the data.`,
			`"x": all 40 values are more than three spreads from the centre and count as three spreads away.`,
		}},
		"far, and all the same": {sums, "refuse", []string{"2000,0"}, []string{
			"all 40 of your records are longer than the clip of sketch 1: means would get back half of what they may lose, and all else would be of shortened data. Up to ",
			`"x": the mean of your data is 400 spreads above the declared centre. This makes records longer, and more of them are cut. A centre of about 2000 would fit. These figures are computed from your data: give the operator published ones instead.`,
			`"b": all values count as the same number, so this column tells nothing.`,
		}},
		"all missing": {sums, "count", []string{",0", ",1"}, []string{`"x": all 40 values are missing, so this column tells nothing.`}},
	} {
		t.Run(name, func(t *testing.T) {
			c.terms.partition, c.terms.missing = "horizontal", c.missing
			data, refusal, err := newBench(t, c.terms, repeated("id,x,b", c.rows...)).checkData()
			check(t, errors.Join(refusal, err))
			if len(data.Effect.Warnings) != len(c.want) {
				t.Fatalf("warnings: %q", data.Effect.Warnings)
			}
			for i, want := range c.want {
				if got := data.Effect.Warnings[i]; !strings.HasPrefix(got, want) {
					t.Errorf("warning %d: %q, want %q", i+1, got, want)
				}
			}
		})
	}
}

// If moments count the classes of a label and missing values count as the centre, a missing label
// has no substitute. It is found, with its place, before the party's first message.
func TestAbsentLabelOfMoments(t *testing.T) {
	for missing, refused := range map[string]bool{"centre": true, "count": false} {
		b := newBench(t, terms{
			partition: "horizontal", missing: missing, columns: "[{name: ill, kind: binary, role: label}, {name: x, kind: numeric, centre: 0, spread: 1}]",
			sketches: "[{side: moments, clip: 1}]", privacy: recordNoise, analyses: "[{kind: lda}]", caps: "{record: {epsilon: 4, delta: 1e-5}}",
		}, func(int) string { return "id,ill,x\n1,0,1\n2,,2\n3,1,\n4,1,2\n" })
		_, refusal, err := b.checkData()
		check(t, refusal)
		var wrong *dataset.Error
		if errors.As(err, &wrong) != refused || refused && (wrong.Column != "ill" || wrong.Line != 3) {
			t.Errorf("missing: %s: %v", missing, err)
		}
		misfits, err := b.misfits()
		check(t, err)
		if refused && (len(misfits) != 1 || misfits[0].Column != "ill" || misfits[0].Count != 1) || !refused && len(misfits) != 0 {
			t.Errorf("missing: %s: misfits %v", missing, misfits)
		}
	}
}

func pointed(x *float64) *float64 {
	if x == nil {
		return new(float64)
	}
	return x
}

// What a sketch of the records side clips is known only after projecting, and the check says so.
func TestEffectOfRecordsSide(t *testing.T) {
	b := newBench(t, terms{
		partition: "horizontal", columns: "[{name: x, kind: numeric, centre: 0, spread: 1}]", caps: "{record: {epsilon: 4, delta: 1e-5}}",
		sketches: "[{side: records, family: sparse, k: 4, s: 1, clip: 0.5}]", privacy: recordNoise, analyses: "[{kind: k-means, clusters: 2}]",
	}, func(int) string { return "id,x\n1,7\n2,7\n3,7\n" })
	data, refusal, err := b.checkData()
	check(t, errors.Join(refusal, err))
	if cuts := data.Effect.Cuts; len(cuts) != 1 || cuts[0].Cut != nil || !strings.Contains(cuts[0].String(), "--dry-run") {
		t.Errorf("%+v", cuts)
	}
	r, refusal, err := b.rehearse()
	check(t, errors.Join(refusal, err))
	if len(r.Warnings) == 0 || !strings.HasPrefix(r.Warnings[0], "all 3 of your records are longer than the clip of sketch 1: distances") {
		t.Errorf("%q", r.Warnings)
	}
	if r.Columns[0].Clipped != 3 || r.Columns[0].Offset == nil || math.Abs(*r.Columns[0].Offset-3) > 0.01 {
		t.Errorf("columns: %+v", r.Columns)
	}
}
