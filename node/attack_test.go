package node_test

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/audit"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
)

// attack attacks party a's release like the command.
func (b *bench) attack() (audit.AttackReport, error) {
	b.t.Helper()
	st, err := store.Open(b.path("a"), store.Party, store.Options{ReadOnly: true})
	check(b.t, err)
	defer st.Close()
	return audit.Attack(context.Background(), source.Options{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(b.path("a.yaml")) }, Study: b.study,
		Env: node.PartyEnv{Now: b.now, Entropy: mathrand.NewChaCha8([32]byte{7}), Workers: 2},
	})
}

// bitRecords are n records of d bits, each with so many ones.
func bitRecords(d, ones, n int) func(int) string {
	return func(int) string {
		r := mathrand.New(mathrand.NewPCG(1, 2))
		var out strings.Builder
		out.WriteString("id")
		for j := range d {
			fmt.Fprintf(&out, ",b%d", j)
		}
		for i := range n {
			fmt.Fprintf(&out, "\nr%d", i)
			bits := make([]int, d)
			for _, at := range r.Perm(d)[:ones] {
				bits[at] = 1
			}
			for _, bit := range bits {
				fmt.Fprintf(&out, ",%d", bit)
			}
		}
		return out.String() + "\n"
	}
}

// waiting are 1,000 records of four waiting times, which are far from normal.
func waiting(int) string {
	r := mathrand.New(mathrand.NewPCG(5, 6))
	var out strings.Builder
	out.WriteString("id,w,x,y,z\n")
	for i := range 1000 {
		fmt.Fprintf(&out, "r%d,%g,%g,%g,%g\n", i, r.ExpFloat64(), r.ExpFloat64(), r.ExpFloat64(), r.ExpFloat64())
	}
	return out.String()
}

func bitColumns(n int) string {
	var out []string
	for j := range n {
		out = append(out, fmt.Sprintf("{name: b%d, kind: binary}", j))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// found returns what an attack recovered, by its name and measure.
func found(t *testing.T, a audit.AttackReport, name, measure string) audit.AttackedResult {
	t.Helper()
	return foundOf(t, a.Sketches[0], name, measure)
}

func foundOf(t *testing.T, s audit.AttackedSketch, name, measure string) audit.AttackedResult {
	t.Helper()
	for _, one := range s.Attacks {
		if one.Name == name && strings.Contains(one.Measure, measure) {
			return one
		}
	}
	t.Fatalf("no attack %q of %q among %+v", name, measure, s.Attacks)
	return audit.AttackedResult{}
}

// TestAttackTellsNoiseFromNone: sparse records are recovered exactly from a much narrower sketch
// without noise. Noise hides them. Nothing is left in the store.
func TestAttackTellsNoiseFromNone(t *testing.T) {
	plain := terms{
		partition: "horizontal", columns: bitColumns(60), sketches: "[{side: records, family: rademacher, k: 30}]",
		privacy: "{mechanism: none}", analyses: "[{kind: k-means, clusters: 2}]", caps: "{attribute: {epsilon: 1000}}",
	}
	noised := plain
	noised.privacy = "{unit: attribute, mechanism: laplace, epsilon: 1}"
	noised.sketches = "[{side: records, family: sparse, k: 30}]"
	open := newBench(t, plain, bitRecords(60, 3, 400))
	before := contents(t, open.path("a"))
	got, err := open.attack()
	check(t, err)
	if after := contents(t, open.path("a")); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the attack changed the store")
	}
	if one := found(t, got, "matching pursuit", "every value"); one.Value < 0.9 || one.Baseline > 0.05 {
		t.Errorf("without noise: %+v", one)
	}
	if one := found(t, got, "known records", "R"); one.Value < 0.99 {
		t.Errorf("known records without noise: %+v", one)
	}
	if one := found(t, got, "known records", "all other records"); one.Value < 0.4 {
		t.Errorf("other records by known ones, without noise: %+v", one)
	}
	if one := found(t, got, "trilateration", "all other records"); one.Value < 0.25 || len(one.Columns) != 60 {
		t.Errorf("other records by distances, without noise: %+v", one)
	}
	if flags := got.Flags(); len(flags) > 0 || got.Sketches[0].Flags == nil {
		t.Errorf("k = 30 of 60 is flagged: %q", flags)
	}
	if one := found(t, got, "linkage", "linked"); one.Value < 0.9 {
		t.Errorf("linkage without noise: %+v", one)
	}
	if text := got.Summary(); !strings.HasPrefix(text, "Whoever knows the random matrix recovers up to ") {
		t.Errorf("without noise: %s", text)
	}
	if one := found(t, got, "matching pursuit", "variance"); len(one.Columns) != 60 || len(one.Errors) != 21 || one.Errors[10].Recovered > one.Errors[10].Guessed {
		t.Errorf("without noise the errors are no smaller than by guessing: %+v", one.Errors)
	}
	hidden, err := newBench(t, noised, bitRecords(60, 3, 400)).attack()
	check(t, err)
	if one := found(t, hidden, "matching pursuit", "every value"); one.Value > 0.1 {
		t.Errorf("with noise: %+v", one)
	}
	if one := found(t, hidden, "known records", "all other records"); one.Value > 0.1 {
		t.Errorf("other records by known ones, with noise: %+v", one)
	}
	if one := found(t, hidden, "trilateration", "all other records"); one.Value > 0.1 {
		t.Errorf("other records by distances, with noise: %+v", one)
	}
	if got.Records != 400 || got.Sample != 400 || !strings.Contains(got.Promise, "no privacy guarantee") {
		t.Errorf("%+v", got)
	}
}

// TestAttackColumns: with five times as many numbers as records, the filter recovers half of a
// column far from zero, and solving recovers all of it. Noise for whole records prevents both.
func TestAttackColumns(t *testing.T) {
	plain := terms{analyses: "[{kind: inner-product}]", sketches: "[{side: columns, family: rademacher, k: 2000}]", privacy: "{mechanism: none}", caps: "{record: {epsilon: 1, delta: 1e-6}}"}
	got, err := newBench(t, plain, uniform(400)).attack()
	check(t, err)
	if one := found(t, got, "matched filter", "variance"); one.Value < 0.4 || one.Value > 0.7 {
		t.Errorf("without noise: %+v", one)
	}
	for _, measure := range []string{"variance", "every value"} {
		if one := found(t, got, "least norm", measure); one.Value < 0.9999 {
			t.Errorf("solved without noise: %+v", one)
		}
	}
	centred := plain // around the middle of the bounds, less hides a value
	centred.sketches = "[{side: columns, family: rademacher, k: 2000, helpers: {ones: 1}}]"
	if got, err = newBench(t, centred, uniform(400)).attack(); err != nil {
		t.Fatal(err)
	}
	if one := found(t, got, "matched filter", "variance"); one.Value < 0.7 {
		t.Errorf("centred, without noise: %+v", one)
	}
	if one := found(t, got, "least norm", "every value"); one.Value < 0.9999 {
		t.Errorf("centred, solved without noise: %+v", one)
	}
	noised := plain
	noised.sketches = "[{side: columns, family: sparse, k: 200, helpers: {ones: 0.3}, clip: 0.8}]"
	noised.privacy = "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"
	if got, err = newBench(t, noised, uniform(400)).attack(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"matched filter", "least norm"} {
		if one := found(t, got, name, "variance"); one.Value > 0.1 {
			t.Errorf("with noise: %+v", one)
		}
	}
}

// TestAttackFindsWhatIsPublished: Boolean records have ten ones of 200 values. A sketch of 80
// coordinates gives more than four in five exactly to an attacker who knows R. A rotation gives the
// columns to an attacker who knows nothing. More than 60 % of noisy copies find their records.
func TestAttackFindsWhatIsPublished(t *testing.T) {
	plain := terms{
		partition: "horizontal", columns: bitColumns(200), sketches: "[{side: records, family: rademacher, k: 80}]",
		privacy: "{mechanism: none}", analyses: "[{kind: k-means, clusters: 2}]", caps: "{attribute: {epsilon: 1000}}",
	}
	got, err := newBench(t, plain, bitRecords(200, 10, 100)).attack()
	check(t, err)
	if one := found(t, got, "matching pursuit", "every value"); one.Value < 0.8 {
		t.Errorf("ten ones of 200: %+v", one)
	}
	if one := found(t, got, "linkage", "linked"); one.Value < 0.6 {
		t.Errorf("linkage: %+v", one)
	}
	square := plain
	square.sketches = "[{side: records, family: hadamard, k: 4}]"
	square.columns = "[{name: w, kind: numeric, bounds: [0, 16]}, {name: x, kind: numeric, bounds: [0, 16]}, {name: y, kind: numeric, bounds: [0, 16]}, {name: z, kind: numeric, bounds: [0, 16]}]"
	got, err = newBench(t, square, waiting).attack()
	check(t, err)
	if one := found(t, got, "independent components", "columns"); one.Value < 1 {
		t.Errorf("a rotation: %+v", one)
	}
	if one := found(t, got, "trilateration", "all other records"); one.Value < 0.999 {
		t.Errorf("distances through a rotation: %+v", one)
	}
	if flags := got.Flags(); len(flags) != 1 || !strings.Contains(flags[0], "k = 4 is at least the number of values of a record, 4, so the map can be inverted") {
		t.Errorf("a rotation is flagged %q", flags)
	}
	noised := square
	noised.privacy, noised.sketches = "{unit: attribute, mechanism: laplace, epsilon: 1}", "[{side: records, family: sparse, k: 4}]"
	got, err = newBench(t, noised, waiting).attack()
	check(t, err)
	if flags := got.Flags(); len(flags) != 0 {
		t.Errorf("noise is flagged %q", flags)
	}
}

func TestAttackNeedsRecordsAndEntropy(t *testing.T) {
	b := newBench(t, smallSketch, uniform(1))
	if _, err := b.attack(); err == nil || !strings.Contains(err.Error(), "nothing to attack") {
		t.Errorf("one record: %v", err)
	}
	st := b.open("a")
	defer st.Close()
	_, err := audit.Attack(context.Background(), source.Options{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(b.path("a.yaml")) }, Study: b.study,
		Env: node.PartyEnv{Now: b.now, Entropy: iotest.ErrReader(errors.New("no entropy today"))},
	})
	if err == nil || !strings.Contains(err.Error(), "no entropy today") {
		t.Errorf("got %v", err)
	}
}

// A label beside the rows is not one of their values: the rest is attacked.
func TestAttackBesideLabels(t *testing.T) {
	for _, family := range []string{"identity", "rademacher, k: 16"} {
		labelled := terms{
			partition: "horizontal",
			columns:   "[{name: x, kind: numeric, bounds: [0, 1]}, {name: y, kind: numeric, bounds: [0, 1]}, {name: c, kind: binary, role: label}]",
			sketches:  "[{side: records, family: " + family + ", labels: plain}]",
			privacy:   "{mechanism: none}",
			analyses:  "[{kind: ridge-classification}]",
		}
		got, err := newBench(t, labelled, func(int) string {
			r := mathrand.New(mathrand.NewPCG(5, 6))
			var out strings.Builder
			out.WriteString("id,x,y,c\n")
			for i := range 60 {
				fmt.Fprintf(&out, "r%d,%g,%g,%d\n", i, r.Float64(), r.Float64(), r.IntN(2))
			}
			return out.String()
		}).attack()
		check(t, err)
		if one := found(t, got, "least norm", "variance"); one.Value < 0.999 {
			t.Errorf("%s: %+v", family, one)
		}
	}
}

// Sketches without noise are also attacked jointly. Two sketches have half as many numbers as
// records each: one reveals half of the variance, both together reveal the data.
func TestSketchesAreAttackedTogether(t *testing.T) {
	some := func(party int) string { // the first 200 records
		lines := strings.SplitAfter(waiting(party), "\n")
		return strings.Join(lines[:201], "")
	}
	columns := terms{
		columns:  "[{name: w, kind: numeric, bounds: [0, 9], owner: a}, {name: x, kind: numeric, bounds: [0, 9], owner: a}, {name: y, kind: numeric, bounds: [0, 9], owner: b}, {name: z, kind: numeric, bounds: [0, 9], owner: c}]",
		sketches: "[{side: columns, family: rademacher, k: 100, helpers: {ones: 1}}, {side: columns, family: achlioptas, k: 120, helpers: {ones: 0}}]",
		privacy:  "{mechanism: none}", analyses: "[{kind: correlation}]", caps: "{}",
	}
	a, err := newBench(t, columns, some).attack()
	check(t, err)
	alone, both := found(t, a, "least norm", "variance"), foundOf(t, a.Together[0], "least norm", "variance")
	if len(a.Together) != 1 || alone.Value < .4 || alone.Value > .6 || both.Value < .99 {
		t.Errorf("%d together; one sketch gives %.3f of the variance, both %.3f", len(a.Together), alone.Value, both.Value)
	}
	if !strings.Contains(a.Summary(), "100.0 %") {
		t.Errorf("the summary is %q", a.Summary())
	}

	rows := terms{
		partition: "horizontal", columns: bitColumns(24), sketches: "[{side: records, family: rademacher, k: 12}, {side: records, family: achlioptas, k: 14}]",
		privacy: "{mechanism: none}", analyses: "[{kind: k-means, clusters: 2}]", caps: "{}",
	}
	a, err = newBench(t, rows, bitRecords(24, 6, 100)).attack()
	check(t, err)
	alone, both = found(t, a, "least norm", "variance"), foundOf(t, a.Together[0], "least norm", "variance")
	if both.Value < .95 || alone.Value > .8 {
		t.Errorf("rows: one sketch gives %.3f of the variance, both %.3f", alone.Value, both.Value)
	}
}
