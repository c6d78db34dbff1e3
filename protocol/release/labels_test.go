package release_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/audit"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
)

// Columns of a labelled study.
var (
	labelledColumns = []string{"{name: age, kind: numeric, bounds: [0, 120]}", releasetest.Binary, "{name: ward, kind: categorical, values: [a, b, c], role: label}"}
	zeroOrOne       = []string{"{name: age, kind: numeric, bounds: [0, 120]}", releasetest.Binary, "{name: died, kind: categorical, values: [\"0\", \"1\"], role: label}"}
	binaryLabel     = []string{"{name: age, kind: numeric, bounds: [0, 120]}", releasetest.Binary, "{name: died, kind: binary, role: label}"}
)

// labelled returns the plan of a horizontal study's first sketch.
func labelled(t testing.TB, columns []string, privacy string, sketches ...string) release.Plan {
	t.Helper()
	return releasetest.Plan(t, releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: columns, Sketches: sketches, Privacy: privacy}), 0)
}

// labelledRecords returns n records whose values and labels are functions of their index.
func labelledRecords(p release.Plan, n int) (ids [][]byte, values []int64, labels []int) {
	one := p.Study.Bits.One()
	for i := range n {
		ids = append(ids, []byte{byte(i), byte(i >> 8)})
		label := i % len(p.Labels.Classes)
		labels = append(labels, label)
		values = append(values, int64(i)%one, one*int64(i&1))
		switch entries := len(p.Inputs()) - p.Values; entries {
		case 1:
			values = append(values, one*int64(label))
		default:
			row := make([]int64, entries)
			row[label] = one
			values = append(values, row...)
		}
	}
	return ids, values, labels
}

// shippedLabels makes a release and decodes it.
func shippedLabels(t testing.TB, p release.Plan, ids [][]byte, values []int64, n int) (sketch.Sketch, []int, []int, []byte) {
	t.Helper()
	b, err := p.NewBuilder(releasetest.Seed(3), 2)
	if err != nil {
		t.Fatal(err)
	}
	source := releasetest.Entropy(n)
	if err := b.Randomise(source); err != nil {
		t.Fatal(err)
	}
	half := len(ids) / 2
	width := len(p.Inputs())
	if err := b.Add(ids[:half], values[:half*width]); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(ids[half:], values[half*width:]); err != nil {
		t.Fatal(err)
	}
	exact, err := b.Finish(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Draw(&exact.Sketch, source, 2); err != nil {
		t.Fatal(err)
	}
	header, data, err := release.Encode(exact.Sketch)
	if err != nil {
		t.Fatal(err)
	}
	if rows, cols := p.Shape(int64(len(ids))); header.Rows != rows || header.Cols != cols {
		t.Fatalf("shape %d × %d, the plan says %d × %d", header.Rows, header.Cols, rows, cols)
	}
	decoded, err := release.Decode(header, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	values2, labels, err := p.Unpack(decoded)
	if err != nil {
		t.Fatal(err)
	}
	return values2, labels, exact.Order, data
}

// TestPlainLabelsGoWithTheirRows: labels are in the secret order of the rows. The rows are exactly
// those of the sketch without labels.
func TestPlainLabelsGoWithTheirRows(t *testing.T) {
	for _, columns := range [][]string{labelledColumns, binaryLabel, zeroOrOne} {
		p := labelled(t, columns, "{mechanism: none}", "{side: records, family: sparse, k: 4, labels: plain}")
		ids, values, want := labelledRecords(p, 301)
		got, labels, order, _ := shippedLabels(t, p, ids, values, 1)
		bare := labelled(t, columns, "{mechanism: none}", "{side: records, family: sparse, k: 4}")
		b, err := bare.NewBuilder(releasetest.Seed(3), 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			at := i * len(p.Inputs())
			if err := b.Add([][]byte{id}, values[at:at+p.Values]); err != nil {
				t.Fatal(err)
			}
		}
		alone := b.Exact().Sketch
		for row, record := range order {
			if labels[row] != want[record] {
				t.Fatalf("row %d has label %d, its record %d", row, labels[row], want[record])
			}
			if !slices.Equal(got.Row(row), alone.Row(record)) {
				t.Fatalf("row %d differs from the sketch without labels", row)
			}
		}
		if p.Guarantee().Mechanism() != dp.None {
			t.Errorf("labels as they are promise %v", p.Guarantee())
		}
	}
}

// TestLabelsAreRandomised: labels are randomised with the probabilities of the plan (a z of 5 has
// probability below 1e-6 each), independently in each release, and reproducibly for one entropy.
// Power: rates that are a fifth off would be detected.
func TestLabelsAreRandomised(t *testing.T) {
	p := labelled(t, labelledColumns, "{unit: attribute, mechanism: laplace, epsilon: 1}", "{side: records, family: identity, labels: randomised}")
	const n = 30_000
	ids, values, want := labelledRecords(p, n)
	_, labels, order, data := shippedLabels(t, p, ids, values, 1)
	_, again, _, same := shippedLabels(t, p, ids, values, 1)
	_, others, otherOrder, _ := shippedLabels(t, p, ids, values, 2)
	if !bytes.Equal(data, same) || !slices.Equal(labels, again) {
		t.Error("one entropy gives two releases")
	}
	r := p.Labels.Response
	if e := r.Epsilon(); e > 1 || e < 0.9999 {
		t.Errorf("the response has ε = %v", e)
	}
	var became [3][3]float64
	changed := 0
	by, byOther := make([]int, n), make([]int, n)
	for row, record := range order {
		became[want[record]][labels[row]]++
		by[record] = labels[row]
	}
	for row, record := range otherOrder {
		byOther[record] = others[row]
	}
	for i := range by {
		if by[i] != byOther[i] {
			changed++
		}
	}
	for c, row := range became {
		for d, count := range row {
			probability := r.Other()
			if c == d {
				probability = r.Kept()
			}
			z := func(p float64) float64 { return (count - n/3*p) / math.Sqrt(n/3*p*(1-p)) }
			if math.Abs(z(probability)) > 5 {
				t.Errorf("%d became %d in %v of %d, z = %.2f", c, d, count, n/3, z(probability))
			}
			if math.Abs(z(1.2*probability)) < 5 {
				t.Errorf("power: z = %.2f where the rate is a fifth higher", z(1.2*probability))
			}
		}
	}
	if float64(changed) < 0.4*n {
		t.Errorf("only %d labels differ between two releases", changed)
	}
}

// TestLabelsLeaveTheNoiseAlone: neither the number of workers nor labels change the noise on
// entries.
func TestLabelsLeaveTheNoiseAlone(t *testing.T) {
	const privacy = "{unit: attribute, mechanism: laplace, epsilon: 1}"
	with := labelled(t, labelledColumns, privacy, "{side: records, family: identity, labels: randomised}")
	without := labelled(t, labelledColumns, privacy, "{side: records, family: identity}")
	a := sketch.Sketch{Side: sketch.Records, Rows: 50, Cols: 3, Data: make([]int64, 150)}
	b := sketch.Sketch{Side: sketch.Records, Rows: 50, Cols: 2, Data: make([]int64, 100)}
	if err := with.Draw(&a, releasetest.Entropy(4), 3); err != nil {
		t.Fatal(err)
	}
	if err := without.Draw(&b, releasetest.Entropy(4), 1); err != nil {
		t.Fatal(err)
	}
	values, labels, err := with.Unpack(a)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(values.Data, b.Data) || len(labels) != 50 {
		t.Error("noise on entries differs where labels travel")
	}
	if err := with.Draw(&a, bytes.NewReader(nil), 1); err == nil {
		t.Error("labels are randomised without entropy")
	}
	if with.Noise.Sensitivity() != without.Noise.Sensitivity() {
		t.Error("under unit attribute labels change the sensitivity")
	}
}

// TestLabelsAreRequired: a record without a label, or with two, is refused, and the batch is not
// added.
func TestLabelsAreRequired(t *testing.T) {
	p := labelled(t, labelledColumns, "{mechanism: none}", "{side: records, family: identity, labels: plain}")
	one := p.Study.Bits.One()
	b, err := p.NewBuilder(releasetest.Seed(3), 1)
	if err != nil {
		t.Fatal(err)
	}
	ids, values, _ := labelledRecords(p, 4)
	if err := b.Add(ids, values); err != nil {
		t.Fatal(err)
	}
	for name, entries := range map[string][]int64{"none": {0, 0, 0}, "two": {one, one, 0}, "half": {0, one / 2, 0}, "negative": {0, -one, one}} {
		bad := append([]int64(nil), values...)
		copy(bad[2*len(p.Inputs())+p.Values:], entries)
		if err := b.Add(ids, bad); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if err := b.Add(ids, values[:4*p.Values]); err == nil {
		t.Error("records without the entries of labels are taken")
	}
	out := b.Exact()
	if out.Sketch.Rows != 4 || out.Sketch.Cols != 3 {
		t.Errorf("%v after batches that were refused", out.Sketch)
	}
}

func TestUnpackChecksRange(t *testing.T) {
	p := labelled(t, labelledColumns, "{mechanism: none}", "{side: records, family: identity, labels: plain}")
	for label, ok := range map[int64]bool{0: true, 2: true, 3: false, -1: false, 1 << 40: false} {
		s := sketch.Sketch{Side: sketch.Records, Rows: 1, Cols: 3, Data: []int64{5, 6, label}}
		header, data, err := release.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(header, bytes.NewReader(data)); (err == nil) != ok {
			t.Errorf("label %d checked: %v", label, err)
		}
		if _, _, err := p.Unpack(s); (err == nil) != ok {
			t.Errorf("label %d: %v", label, err)
		}
	}
}

// TestLabelsUnderUnitRecord: labels take their part of the budget from the values. The noise is
// that of the smaller part, and the ledger is debited for both.
func TestLabelsUnderUnitRecord(t *testing.T) {
	for _, mechanism := range []string{"laplace, epsilon: 4", "gaussian, epsilon: 4, delta: 1e-6"} {
		privacy := "{unit: record, mechanism: " + mechanism + "}"
		with := labelled(t, labelledColumns, privacy, "{side: records, family: identity, clip: 1, labels: randomised, label_share: 3}")
		quarter := labelled(t, labelledColumns, privacy, "{side: records, family: identity, clip: 1, share: 1}", "{side: records, family: identity, clip: 1, share: 3}")
		whole := labelled(t, labelledColumns, privacy, "{side: records, family: identity, clip: 1}")
		if with.Noise.String() != quarter.Noise.String() {
			t.Errorf("noise %v, a quarter has %v", with.Noise, quarter.Noise)
		}
		if with.Guarantee() != whole.Guarantee() {
			t.Errorf("debited for %v, want %v", with.Guarantee(), whole.Guarantee())
		}
		part, err := with.Study.Part(0)
		if err != nil {
			t.Fatal(err)
		}
		sum := part.Values.Loss().Plus(part.Labels.Loss())
		stated := with.Guarantee().Loss()
		if math.Abs(float64(sum.Mu-stated.Mu)) > 1e-7 || math.Abs(float64(sum.Pure-stated.Pure)) > 1e-12 {
			t.Errorf("parts add up to %+v, stated is %+v", sum, stated)
		}
		if pure, err := part.Labels.PureEquivalent(); err != nil || with.Labels.Response.Epsilon() > pure {
			t.Errorf("the response has ε = %v of %v: %v", with.Labels.Response.Epsilon(), pure, err)
		}
	}
}

// audited tries a plan often enough for mutants of it to fail.
func audited(t *testing.T, p release.Plan) audit.Audit {
	t.Helper()
	out, err := audit.Sketch(t.Context(), p, audit.Options{Trials: 20_000, Entropy: releasetest.Entropy(11)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAuditOfLabels: the plan passes, and one that keeps labels too often fails.
func TestAuditOfLabels(t *testing.T) {
	for _, privacy := range []string{"{unit: attribute, mechanism: laplace, epsilon: 2}", "{unit: attribute, mechanism: gaussian, epsilon: 8, delta: 1e-6}"} {
		p := labelled(t, labelledColumns, privacy, "{side: records, family: identity, labels: randomised}")
		sound := audited(t, p)
		if !sound.Passed() || sound.Labels == nil {
			t.Fatalf("%s: %+v", privacy, sound)
		}
		f := sound.Labels.Finding
		if t.Logf("labels: claimed %.3g, found %.3g, drawn %.4g", float64(f.Claimed), float64(f.Found), float64(sound.Labels.Drawn)); f.Found < 0.6*f.Claimed {
			t.Errorf("only %v of %v are found", f.Found, f.Claimed)
		}
		loose, err := dp.Promise(dp.Laplace, dp.Budget{Epsilon: 2 * f.Claimed})
		if err != nil {
			t.Fatal(err)
		}
		mutant := *p.Labels
		if mutant.Response, err = dp.RandomiseClasses(loose, 3); err != nil {
			t.Fatal(err)
		}
		p.Labels = &mutant
		if failed := audited(t, p); failed.Labels.Finding.Passed || failed.Passed() {
			t.Errorf("labels kept too often pass: %+v", failed.Labels)
		}
	}
}

// A label that travels is one more attribute of a record; one that does not is none.
func TestLabelsAreAttributes(t *testing.T) {
	label := strings.TrimSuffix(releasetest.Categorical, "}") + ", role: label}"
	for sketch, want := range map[string]int{
		"{side: records, family: sparse, k: 8}":                     2,
		"{side: records, family: sparse, k: 8, labels: randomised}": 3,
	} {
		s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded, label, releasetest.Binary}, Privacy: releasetest.Laplace, Sketches: []string{sketch}})
		if got := releasetest.Plan(t, s, 0).Attributes(); got != want {
			t.Errorf("%s: %d attributes, want %d", sketch, got, want)
		}
	}
}
