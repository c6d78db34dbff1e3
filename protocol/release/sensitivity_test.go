package release_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/audit"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
)

// promises lists the privacy of studies, by unit and mechanism.
var promises = []struct {
	name, privacy string
	unit          dp.Unit
}{
	{"attribute-laplace", releasetest.Laplace, dp.Attribute},
	{"attribute-gaussian", "{unit: attribute, mechanism: gaussian, epsilon: 1, delta: 1e-6}", dp.Attribute},
	{"record-laplace", "{unit: record, mechanism: laplace, epsilon: 1}", dp.Record},
	{"record-gaussian", "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}", dp.Record},
}

// shapes lists sketches: sides, families and helpers. K is small so that rows collide.
var shapes = []struct{ name, sketch string }{
	{"columns-sparse", "{side: columns, family: sparse, k: 8, helpers: {ones: 0}"},
	{"columns-sparse-ones", "{side: columns, family: sparse, k: 8, helpers: {ones: 0.3}"},
	{"columns-sparse2-squares", "{side: columns, family: sparse, k: 8, s: 2, helpers: {ones: 0, squares: true}"},
	{"columns-rademacher", "{side: columns, family: rademacher, k: 6, helpers: {ones: 0}"},
	{"columns-rademacher-ones-squares", "{side: columns, family: rademacher, k: 6, helpers: {ones: 0.3, squares: true}"},
	{"records-sparse", "{side: records, family: sparse, k: 8"},
	{"records-sparse2", "{side: records, family: sparse, k: 8, s: 2"},
	{"records-rademacher", "{side: records, family: rademacher, k: 6"},
	{"records-identity", "{side: records, family: identity"},
}

var columnSets = []struct {
	name    string
	columns []string
}{
	{"bounded", []string{releasetest.Bounded}},
	{"centred", []string{releasetest.Centred}},
	{"binary", []string{releasetest.Binary}},
	{"categorical", []string{releasetest.Categorical}},
	{"mixed", []string{releasetest.Categorical, releasetest.Centred, releasetest.Binary, releasetest.Bounded}},
}

// eachPlan calls f for every combination that a study may have.
func eachPlan(t *testing.T, f func(t *testing.T, p release.Plan, unit dp.Unit)) {
	plans := 0
	for _, partition := range []study.Partition{study.Vertical, study.Horizontal} {
		for _, shape := range shapes {
			for _, promise := range promises {
				if partition == study.Vertical && promise.unit == dp.Record && strings.Contains(shape.name, "records") {
					continue // refused: such a release shows which records a party has
				}
				for _, set := range columnSets {
					entry := shape.sketch + "}"
					if promise.unit == dp.Record {
						entry = shape.sketch + ", clip: 0.8}"
					}
					s := releasetest.Study(t, releasetest.Terms{Partition: partition, Columns: set.columns, Sketches: []string{entry}, Privacy: promise.privacy})
					name := fmt.Sprintf("%s/%s/%s/%s", partition, shape.name, promise.name, set.name)
					t.Run(name, func(t *testing.T) { f(t, releasetest.Plan(t, s, 0), promise.unit) })
					plans++
				}
			}
		}
	}
	if plans != (5*4+4*2+9*4)*5 {
		t.Errorf("%d plans", plans)
	}
}

// norms returns the l1 and squared l2 norm of a − b.
func norms(a, b sketch.Sketch) (l1, l2Squared int64) {
	for i, v := range a.Data {
		d := v - b.Data[i]
		l1 += max(d, -d)
		l2Squared += d * d
	}
	return l1, l2Squared
}

// zero returns a sketch of the same shape with zero entries.
func zero(s sketch.Sketch) sketch.Sketch {
	s.Data = make([]int64, len(s.Data))
	return s
}

// neighbour changes one record. Under unit attribute one of its values changes, wherever the record
// is. Under unit record its whole contribution will be removed.
func neighbour(rng *rand.Rand, p release.Plan, unit dp.Unit, d data) (record int, other data) {
	record = rng.IntN(len(d.ids))
	other = data{ids: d.ids, values: append([]int64(nil), d.values...)}
	row := other.values[record*p.Values:][:p.Values]
	if unit == dp.Record {
		return record, other
	}
	own := p.Study.OwnColumns(p.Party)
	pick, at := rng.IntN(len(own)), 0
	for i, c := range own {
		code := randomCode(rng, p.Study.Columns[c], p.Study.Bits)
		if i == pick {
			copy(row[at:], code)
		}
		at += len(code)
	}
	return record, other
}

// without sketches d with one record's contribution replaced by zeros in the sketch. On the columns
// side that is the sketch of the others; on the records side a row of zeros.
func without(t *testing.T, p release.Plan, root int, d data, record int) sketch.Sketch {
	if p.Sketch().Side == sketch.Records {
		out := exact(t, p, releasetest.Seed(root), d)
		clear(out.Row(record))
		return out
	}
	rest := data{ids: append(append([][]byte(nil), d.ids[:record]...), d.ids[record+1:]...)}
	rest.values = append(append(rest.values, d.values[:record*p.Values]...), d.values[(record+1)*p.Values:]...)
	return exact(t, p, releasetest.Seed(root), rest)
}

// TestSensitivityBoundsRandomNeighbours compares the sketches of neighbouring data
// with what the plan declares, in exact integers and under the seeds that studies
// use. R counts as public: the bound holds for each seed.
func TestSensitivityBoundsRandomNeighbours(t *testing.T) {
	eachPlan(t, func(t *testing.T, p release.Plan, unit dp.Unit) {
		rapid.Check(t, func(rt *rapid.T) {
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "data"), 1))
			root := rapid.IntRange(0, 1<<20).Draw(rt, "seed")
			d := randomData(rng, p, 1+rng.IntN(3))
			record, other := neighbour(rng, p, unit, d)
			before, after := exact(t, p, releasetest.Seed(root), d), exact(t, p, releasetest.Seed(root), other)
			if unit == dp.Record {
				after = without(t, p, root, d, record)
			}
			if l1, l2 := norms(before, after); l1 > p.Sensitivity.L1 || l2 > p.Sensitivity.L2Squared {
				rt.Fatalf("the sketch moved by l1 %d, l2² %d; the plan says %d, %d", l1, l2, p.Sensitivity.L1, p.Sensitivity.L2Squared)
			}
		})
	})
}

// worst returns the largest norms that the worst changes of single values reach
// under many seeds; it stops when both bounds are met.
func worst(t *testing.T, p release.Plan) (l1, l2 int64) {
	for root := range 1500 {
		at := 0
		for _, c := range p.Study.OwnColumns(p.Party) {
			options := codes(p.Study.Columns[c], p.Study.Bits)
			for _, from := range options {
				for _, to := range options {
					d := data{ids: [][]byte{[]byte("x")}, values: make([]int64, p.Values)}
					copy(d.values[at:], from)
					before := exact(t, p, releasetest.Seed(root), d)
					copy(d.values[at:], to)
					d1, d2 := norms(before, exact(t, p, releasetest.Seed(root), d))
					l1, l2 = max(l1, d1), max(l2, d2)
				}
			}
			at += len(options[0])
		}
		if l1 >= p.Sensitivity.L1 && l2 >= p.Sensitivity.L2Squared {
			break
		}
	}
	return l1, l2
}

// TestSensitivityIsAttained: no plan has more noise than necessary. A change of one value reaches
// both norms exactly. A clipped record reaches the l2 norm up to the truncation of its entries.
// Whether its l1 norm can be reached depends on the columns, which the plan ignores.
func TestSensitivityIsAttained(t *testing.T) {
	eachPlan(t, func(t *testing.T, p release.Plan, unit dp.Unit) {
		if unit == dp.Attribute {
			if l1, l2 := worst(t, p); l1 != p.Sensitivity.L1 || l2 != p.Sensitivity.L2Squared {
				t.Errorf("the worst change moves the sketch by l1 %d, l2² %d; the plan says %d, %d", l1, l2, p.Sensitivity.L1, p.Sensitivity.L2Squared)
			}
			return
		}
		entries, row := len(p.Features), p.Spec().RowL2Squared()
		if p.Sketch().Side == sketch.Records {
			entries, row = p.Spec().K, 1
		}
		d := data{ids: [][]byte{[]byte("x")}}
		for _, f := range p.Features[:p.Values] {
			v := p.Study.Bits.One()
			if f.Kind == study.OneHot && f.Value != "a" {
				v = 0
			}
			d.values = append(d.values, v)
		}
		var most int64
		for root := range 20 { // columns of a record may cancel under one seed
			s := exact(t, p, releasetest.Seed(root), d)
			_, l2 := norms(s, zero(s))
			most = max(most, l2)
		}
		short := max(float64(p.Clip)-1-math.Sqrt(float64(entries)), 0)
		if float64(most) < float64(row)*short*short {
			t.Errorf("a record reaches l2² %d of %d", most, p.Sensitivity.L2Squared)
		}
	})
}

// TestSquaresMoveAsPlanned tries every change of a value around a centre, its own or a public one
// that is subtracted. Two of these are the worst (Plan.changes): rounding the squares adds nothing
// to them.
func TestSquaresMoveAsPlanned(t *testing.T) {
	for _, test := range []struct {
		column, ones string
		ends         func(one int64) (least, most, step int64) // of centred values
	}{
		{releasetest.Centred, "0", func(one int64) (int64, int64, int64) { return -one, one, 1 }},
		{releasetest.Bounded, "0", func(one int64) (int64, int64, int64) { return 0, one, 1 }},
		{releasetest.Bounded, "1", func(one int64) (int64, int64, int64) { return -one / 2, one - one/2, 1 }},
		{releasetest.Binary, "1", func(one int64) (int64, int64, int64) { return -one / 2, one - one/2, one }},
		{releasetest.Rare, "1", func(one int64) (int64, int64, int64) {
			c := int64(math.Round(0.03 * float64(one)))
			return -c, one - c, one
		}},
	} {
		for bits := 1; bits <= 8; bits++ {
			s := releasetest.Study(t, releasetest.Terms{
				Partition: study.Vertical, Columns: []string{test.column}, Bits: bits, Privacy: releasetest.Laplace,
				Sketches: []string{"{side: columns, family: sparse, k: 4, helpers: {ones: " + test.ones + ", squares: true}}"},
			})
			var want dp.Sensitivity
			f := fixedpoint.Bits(bits)
			least, most, step := test.ends(f.One())
			for v := least; v <= most; v += step {
				for w := least; w <= most; w += step {
					d, sq := max(v-w, w-v), fixedpoint.Square(v, f)-fixedpoint.Square(w, f)
					want = dp.Max(want, dp.Sensitivity{L1: d + max(sq, -sq), L2Squared: d*d + sq*sq})
				}
			}
			p := releasetest.Plan(t, s, 0)
			if got := p.Sensitivity; got != want {
				t.Errorf("%s, ones %s, %d bits: %+v, want %+v", test.column, test.ones, bits, got, want)
			}
			g, err := dp.NewGenerator(releasetest.Entropy(3))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := audit.Realise(p, releasetest.Seed(5), g); err != nil || got.L1 != want.L1 { // the norm that laplace noise covers
				t.Errorf("%s, ones %s, %d bits: the search finds %+v, want %+v (%v)", test.column, test.ones, bits, got, want, err)
			}
		}
	}
}

// TestClippingHoldsAfterwards checks single records after clipping: no contribution is longer than
// the bound, the count is that of records beyond it, and a record within it is unchanged.
func TestClippingHoldsAfterwards(t *testing.T) {
	eachPlan(t, func(t *testing.T, p release.Plan, unit dp.Unit) {
		if unit != dp.Record {
			if p.Clip != 0 {
				t.Errorf("clipped to %d", p.Clip)
			}
			return
		}
		free := p
		free.Clip = 0
		row := p.Spec().RowL2Squared()
		if p.Sketch().Side == sketch.Records {
			row = 1
		}
		rapid.Check(t, func(rt *rapid.T) {
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "data"), 2))
			root := releasetest.Seed(rapid.IntRange(0, 1<<20).Draw(rt, "seed"))
			d := randomData(rng, p, 1)
			b, err := p.NewBuilder(root, 1)
			if err != nil {
				rt.Fatal(err)
			}
			if err := b.Add(d.ids, d.values); err != nil {
				rt.Fatal(err)
			}
			got, err := b.Finish(releasetest.Entropy(1))
			if err != nil {
				rt.Fatal(err)
			}
			unclipped := exact(t, free, root, d)
			_, after := norms(got.Sketch, zero(got.Sketch))
			_, before := norms(unclipped, zero(unclipped))
			changed, _ := norms(got.Sketch, unclipped)
			ones := int64(p.OnesWeight() * float64(p.Study.Bits.One())) // never clipped
			var counted int64
			if got.Clipped > 0 {
				counted = p.CutWeight() * p.CutWeight()
			}
			beyond := before > row*(p.Cut()*p.Cut()+ones*ones)
			switch {
			case after > row*p.Clip*p.Clip+counted:
				rt.Fatalf("a clipped record contributes l2² %d, at most %d", after, row*p.Clip*p.Clip+counted)
			case beyond != (got.Clipped == 1), beyond != (changed > 0):
				rt.Fatalf("l2² %d against a bound of %d: counted %d, changed by %d", before, row*p.Clip*p.Clip, got.Clipped, changed)
			}
		})
	})
}

// TestClipIsRoundedDown: the bound in integers is never above the bound in the study. On the
// columns side it is at most the length of the longest record.
func TestClipIsRoundedDown(t *testing.T) {
	for _, test := range []struct {
		sketch string
		want   int64
	}{
		{"{side: columns, family: sparse, k: 8, clip: 0.8}", 204},                // 204.8
		{"{side: columns, family: rademacher, k: 6, clip: 0.8}", 204},            // before projection
		{"{side: records, family: sparse, k: 8, s: 2, clip: 0.8}", 289},          // 204.8·√2 = 289.6
		{"{side: records, family: rademacher, k: 16, clip: 0.8}", 819},           // 204.8·4 = 819.2
		{"{side: records, family: identity, clip: 1}", 256},                      // exact
		{"{side: records, family: identity, clip: 0.00390625}", 1},               // one step
		{"{side: columns, family: sparse, k: 8, clip: 1000}", 256},               // beyond every record: the length of the longest
		{"{side: columns, family: sparse, k: 8, clip: 0.9999999999999999}", 255}, // just below a step
	} {
		s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded}, Sketches: []string{test.sketch}, Privacy: promises[3].privacy})
		if got := releasetest.Plan(t, s, 0).Clip; got != test.want {
			t.Errorf("%s: clipped to %d, want %d", test.sketch, got, test.want)
		}
	}
}

// TestMechanismNoneHasNoSensitivity: without a guarantee nothing is bounded.
func TestMechanismNoneHasNoSensitivity(t *testing.T) {
	s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded}, Privacy: releasetest.NoPromise, Sketches: []string{"{side: records, family: sparse, k: 8}"}})
	p := releasetest.Plan(t, s, 0)
	if p.Sensitivity != (dp.Sensitivity{}) || p.Clip != 0 || p.Noise.Variance() != 0 {
		t.Errorf("sensitivity %v, clip %d, noise variance %v", p.Sensitivity, p.Clip, p.Noise.Variance())
	}
}

// TestRecordAccountHoldsTheOnes: removing a record, with its entry of ones, moves an
// attribute-level sketch by at most as many attributes as the ledger counts. That count exceeds the
// number of columns only if the ones require it.
func TestRecordAccountHoldsTheOnes(t *testing.T) {
	const gaussian = "{unit: attribute, mechanism: gaussian, epsilon: 1, delta: 1e-6}"
	for _, privacy := range []string{releasetest.Laplace, gaussian} {
		for _, ones := range []float64{0, .3, .6, 1} {
			for _, d := range []int{1, 2, 5} {
				var columns []string
				for i := range d {
					columns = append(columns, fmt.Sprintf("{name: c%d, kind: %s}", i, []string{"numeric, bounds: [0, 1]", "binary, centre: 0.1"}[d%2]))
				}
				s := releasetest.Study(t, releasetest.Terms{Partition: study.Vertical, Columns: columns, Privacy: privacy, Sketches: []string{fmt.Sprintf("{side: columns, family: sparse, k: 16, helpers: {ones: %v}}", ones)}})
				p := releasetest.Plan(t, s, 0)
				b, err := p.NewBuilder(releasetest.Seed(1), 1)
				if err != nil {
					t.Fatal(err)
				}
				row := make([]int64, d)
				for i := range row {
					row[i] = s.Bits.One()
				}
				if err := b.Add([][]byte{[]byte("a")}, row); err != nil {
					t.Fatal(err)
				}
				exact := b.Exact()
				var l1, l2 float64 // without the record all entries are zero
				for _, v := range exact.Sketch.Data {
					l1, l2 = l1+math.Abs(float64(v)), l2+float64(v*v)
				}
				moved := l1 / float64(p.Sensitivity.L1)
				counted := float64(p.Attributes())
				if privacy == gaussian {
					moved = math.Sqrt(l2 / float64(p.Sensitivity.L2Squared))
				}
				if most := math.Max(float64(d), math.Ceil(moved-1e-9)); counted != most {
					t.Errorf("%s, ones %v, %d columns: a record moves it by %.3f attributes, and %v are counted", privacy, ones, d, moved, counted)
				}
			}
		}
	}
}

// TestAttributesCountsColumns: a categorical column is one attribute. In a records-side sketch a
// label that does not travel is none.
func TestAttributesCountsColumns(t *testing.T) {
	label := strings.TrimSuffix(releasetest.Categorical, "}") + ", role: label}"
	s := releasetest.Study(t, releasetest.Terms{
		Partition: study.Horizontal, Columns: []string{releasetest.Bounded, label, releasetest.Binary}, Privacy: releasetest.Laplace,
		Sketches: []string{
			"{side: records, family: identity}",
			"{side: columns, family: sparse, k: 8, helpers: {ones: 1, squares: true}}",
		},
	})
	for i, want := range []struct{ attributes, values, features int }{{2, 2, 2}, {3, 5, 11}} {
		p := releasetest.Plan(t, s, i)
		if p.Attributes() != want.attributes || p.Values != want.values || len(p.Features) != want.features {
			t.Errorf("sketch %d: %d attributes, %d values, %d features, want %+v", i, p.Attributes(), p.Values, len(p.Features), want)
		}
	}
	if p := releasetest.Plan(t, s, 0); p.Spec().Family != projection.Identity || p.Spec().K != 2 {
		t.Errorf("identity over the values alone: %v", p.Spec())
	}
}
