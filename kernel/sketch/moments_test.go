package sketch

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
)

// parts is a moments sketch with every part. Records have five entries in four columns, the second
// of which has two entries, and a label of three classes.
type parts struct {
	layout  MomentLayout
	of      []int
	typical []int64
	one     int64
	fine    uint
}

func everyPart() parts {
	return parts{
		layout:  MomentLayout{Columns: 5, Products: true, Classes: 3, Cut: true, CutSums: true, Fourth: true, Attributes: 4},
		of:      []int{0, 1, 1, 2, 3},
		typical: []int64{4, 36, 9, 4}, one: 512,
	}
}

func (h parts) options(t require, clips []int64, n dp.Neighbours) MomentsOptions {
	t.Helper()
	o := MomentsOptions{
		SumsOptions: SumsOptions{Centre: make([]int64, h.layout.Columns), Largest: 1 << 20, Workers: 2},
		Layout:      h.layout, Clips: clips, One: h.one, AttributeOf: h.of, Fine: h.fine,
	}
	for _, c := range clips {
		w, err := dp.NewMomentWeights(c, dp.MomentParts{
			Products: h.layout.Products, SumWeight: 3, Label: h.layout.Classes > 0, Cut: h.layout.Cut, CutSums: h.layout.CutSums, Fourth: h.layout.Fourth, Typical: h.typical, Neighbours: n, Fine: h.fine,
		})
		must(t, err)
		o.Weights = append(o.Weights, w)
	}
	return o
}

// naive returns what one record adds, from the definition.
func (h parts) naive(x []int64, class int, clip int64, w dp.MomentWeights) []int64 {
	l := h.layout
	out := make([]int64, l.Entries())
	v := slices.Clone(x)
	var lacks []int
	square := clip * clip
	for j := range v {
		if v[j] != Absent {
			continue
		}
		v[j] = 0
		if a := h.of[j]; !slices.Contains(lacks, a) {
			lacks = append(lacks, a)
			square -= w.AbsentOf.ClipReduction(a)
		}
	}
	bound := int64(root(uint64(square)))
	cut := dp.ClipL2(v, bound<<h.fine)
	whole := make([]int64, len(v))
	for i := range v {
		whole[i] = int64(math.Round(float64(v[i]) / float64(int64(1)<<h.fine)))
	}
	lengthened := dp.ClipL2(whole, bound)
	if (cut || lengthened) && l.Cut {
		out[l.CutCount()] = w.Cut
	}
	for i := range v {
		for j := i; j < len(v) && l.Products; j++ {
			out[l.Product(i, j)] = w.Product * whole[i] * whole[j]
			if i == j {
				out[l.Product(i, j)] = w.Square * whole[i] * whole[j]
			}
		}
		out[l.Sum(i)] = w.Sum * v[i]
		if (cut || lengthened) && l.CutSums {
			out[l.CutSum(i)] = w.CutSum * v[i]
		}
		if l.Classes > 0 && l.Products {
			out[l.ClassSum(class, i)] = w.ClassSum * v[i]
		}
		if l.Fourth {
			u := min(max(whole[i], -whole[i]), h.one)
			out[l.FourthPower(i)] = w.Fourth * (u * u * u * u / (h.one * h.one * h.one))
		}
	}
	if l.Classes > 0 {
		out[l.ClassCount(class)] = w.ClassCount
	}
	for at, a := range lacks {
		out[l.Absent(class, a)] = w.AbsentOf.Absent(a)
		for _, b := range lacks[:at] {
			if l.Products {
				out[l.BothAbsent(a, b)] = w.AbsentOf.BothAbsent(a, b)
			}
		}
		for i := range v {
			if l.Products {
				out[l.SumAbsent(i, a)] = w.AbsentOf.SumAbsent(a) * v[i]
			}
		}
	}
	return out
}

// record draws a record with absent values, short or long.
func (h parts) record(source *rand.Rand, scale int64) []int64 {
	x := make([]int64, h.layout.Columns)
	for j := range x {
		x[j] = source.Int64N(2*scale+1) - scale
	}
	for a := range h.layout.Attributes {
		if source.IntN(4) == 0 {
			for j := range x {
				if h.of[j] == a {
					x[j] = Absent
				}
			}
		}
	}
	return x
}

// Every entry has its own index, and no index is unused.
func TestMomentLayout(t *testing.T) {
	for _, l := range []MomentLayout{
		everyPart().layout, {Columns: 4, Products: true}, {Columns: 4}, {Columns: 3, Classes: 2, Cut: true, Attributes: 2}, {Columns: 3, Cut: true, CutSums: true}, {Columns: 3, Products: true, Attributes: 3},
	} {
		seen := make([]int, l.Entries())
		for i := range l.Columns {
			for j := i; j < l.Columns && l.Products; j++ {
				seen[l.Product(i, j)]++
			}
			seen[l.Sum(i)]++
			if l.CutSums {
				seen[l.CutSum(i)]++
			}
			for c := 0; c < l.Classes && l.Products; c++ {
				seen[l.ClassSum(c, i)]++
			}
			if l.Fourth {
				seen[l.FourthPower(i)]++
			}
			for a := 0; a < l.Attributes && l.Products; a++ {
				seen[l.SumAbsent(i, a)]++
			}
		}
		for c := range l.Classes {
			seen[l.ClassCount(c)]++
		}
		if l.Cut {
			seen[l.CutCount()]++
		}
		for a := range l.Attributes {
			for c := range max(l.Classes, 1) {
				seen[l.Absent(c, a)]++
			}
			for b := 0; b < a && l.Products; b++ {
				seen[l.BothAbsent(a, b)]++
			}
		}
		for at, n := range seen {
			if n != 1 {
				t.Errorf("%+v: entry %d has %d meanings", l, at, n)
			}
		}
	}
}

// Each row of a sketch of several clips equals its definition, and the sketch of a builder with
// that clip alone.
func TestMomentsOfSeveralClips(t *testing.T) {
	for _, fine := range []uint{0, 3} {
		h := everyPart()
		h.fine = fine
		testSeveralClips(t, h)
		h.layout.Products, h.layout.Fourth = false, false
		testSeveralClips(t, h)
	}
}

func testSeveralClips(t *testing.T, h parts) {
	clips := []int64{300, 450, 900, 2000}
	o := h.options(t, clips, dp.Zeroed)
	b, err := NewMoments(o)
	must(t, err)
	source := rand.New(rand.NewPCG(1, 2))
	want := make([][]int64, len(clips))
	lengths := make([]int64, len(clips)+1)
	for e := range want {
		want[e] = make([]int64, h.layout.Entries())
	}
	for range 7 {
		var x []int64
		var classes []int
		for range 200 + source.IntN(900) {
			r, class := h.record(source, 1<<(int(h.fine)+6+source.IntN(6))), source.IntN(3)
			x, classes = append(x, r...), append(classes, class)
			at := len(clips)
			for e := len(clips) - 1; e >= 0; e-- {
				one := h.naive(r, class, clips[e], o.Weights[e])
				if one[h.layout.CutCount()] == 0 {
					at = e
				}
				add(want[e], one)
			}
			lengths[at]++
		}
		must(t, b.Add(x, classes))
	}
	s := b.Sketch()
	for e := range clips {
		if !slices.Equal(s.Row(e), want[e]) {
			t.Errorf("the sketch of clip %d is not its definition", clips[e])
		}
	}
	if !slices.Equal(b.Lengths(), lengths) || b.Clipped() != lengths[len(clips)] {
		t.Errorf("lengths %d, want %d", b.Lengths(), lengths)
	}
}

// Entries that are moved and scaled saturate, and are rounded half away from zero.
func TestMomentsStandardised(t *testing.T) {
	s := Standard{Centre: 16*100 + 8, Spread: 16 * 50}
	for v, want := range map[int64]int64{100: -10, 101: 10, 150: 1014, -1 << 20: -1 << 20, 1 << 20: 1 << 20} {
		if got := s.Apply(v, 1024, 0); got != want {
			t.Errorf("%d becomes %d, want %d", v, got, want)
		}
	}
}

// No record, added or replacing another, moves the sketch by more than declared: with all parts,
// with and without absent values, short, long and on the axes. Some records come near the bound.
func TestMomentsSensitivity(t *testing.T) {
	source := rand.New(rand.NewPCG(3, 4))
	for _, change := range []struct {
		fine                    uint
		products, label, absent bool
		n                       dp.Neighbours
		least                   float64 // fraction of the declared square
	}{
		{0, true, true, true, dp.Zeroed, .98}, {0, true, false, true, dp.Zeroed, .98}, {0, true, true, true, dp.Replaced, .9}, {4, true, false, true, dp.Replaced, .9},
		{0, false, true, true, dp.Zeroed, .98}, {0, false, true, true, dp.Replaced, .9}, {3, false, true, true, dp.Zeroed, .98}, {4, false, true, true, dp.Replaced, .9}, {4, false, false, true, dp.Zeroed, .98}, {0, true, false, false, dp.Zeroed, .98}, {4, true, true, true, dp.Zeroed, .96},
	} {
		h := everyPart()
		h.layout.Products, h.layout.Fourth, h.fine = change.products, change.products, change.fine
		if !change.label {
			h.layout.Classes = 0
		}
		if !change.absent {
			h.layout.Attributes, h.typical = 0, nil
		}
		const clip = 900
		o := h.options(t, []int64{clip}, change.n)
		declared, err := dp.RecordMoments(clip, h.layout.Columns, h.layout.Affected(), o.Weights[0], change.n)
		must(t, err)
		var moves [][]int64
		for range 700 {
			r := h.record(source, 1<<(int(h.fine)+6+source.IntN(8)))
			if source.IntN(3) == 0 { // few entries, all large
				for j := range r {
					if r[j] != Absent && source.IntN(2) == 0 {
						r[j] = 0
					}
				}
			}
			moves = append(moves, h.naive(r, source.IntN(3)%max(h.layout.Classes, 1), clip, o.Weights[0]))
		}
		for j := range 2 * h.layout.Columns {
			r := make([]int64, h.layout.Columns)
			r[j/2] = int64(1-2*(j%2)) * clip * 2 << h.fine
			moves = append(moves, h.naive(r, 0, clip, o.Weights[0]))
		}
		var furthest dp.Sensitivity
		zeros := make([]int64, h.layout.Entries())
		for i, x := range moves {
			others := [][]int64{zeros}
			if change.n == dp.Replaced {
				others = append(others, moves[:i]...)
			}
			for _, y := range others {
				furthest = dp.Max(furthest, apart(x, y))
			}
		}
		if furthest.L2Squared > declared.L2Squared || furthest.L1 > declared.L1 {
			t.Errorf("%+v: moved by %v, declared %v", change, furthest, declared)
		}
		if float64(furthest.L2Squared) < change.least*float64(declared.L2Squared) {
			t.Errorf("%+v: moved by no more than %v, declared %v", change, furthest, declared)
		}
	}
}

// If sums have finer steps than products, replacing a record moves the sketch further than one
// vector would. Rounding moves the products of two records further apart than their sums.
func TestMomentsSensitivityOfRounding(t *testing.T) {
	const clip, fine = 64, 4
	for _, change := range []struct {
		sum  int64
		x, y []int64
	}{
		{3, []int64{1007, -119, -71, 41, -114, 24}, []int64{-71, 989, 215, -23, 119, 67}},
		{5, []int64{202, -695, 22, 104, -167, -425, -134, 215, -24, 490}, []int64{89, 615, -298, 376, 358, -8, 353, -402, -121, 56}},
	} {
		weights, err := dp.NewMomentWeights(clip, dp.MomentParts{Products: true, SumWeight: change.sum, Neighbours: dp.Replaced, Fine: fine})
		must(t, err)
		d := len(change.x)
		h := parts{layout: MomentLayout{Columns: d, Products: true}, fine: fine, one: 64}
		declared, err := dp.RecordMoments(clip, d, h.layout.Affected(), weights, dp.Replaced)
		must(t, err)
		moved := apart(h.naive(change.x, 0, clip, weights), h.naive(change.y, 0, clip, weights))
		if moved.L2Squared > declared.L2Squared || float64(moved.L2Squared) < .85*float64(declared.L2Squared) {
			t.Errorf("moved by %v, declared %v", moved, declared)
		}
	}
}

// With many columns, a short clip has too few steps for each absent value to shorten the record by
// its part. Counts of absent values would then exceed what noise covers. The declared sensitivity
// covers the worst such records: all values absent but one, which is as long as they allow.
func TestMomentsOfManyAbsentValues(t *testing.T) {
	const clip = 64
	refused, took := 0, 0
	for _, d := range []int{5, 20, 60, 120, 200, 293, 410} {
		for _, w := range []int64{2, 3, 5} {
			typical := make([]int64, d)
			for j := range typical {
				typical[j] = 4
			}
			weights, err := dp.NewMomentWeights(clip, dp.MomentParts{Products: true, SumWeight: w, Typical: typical})
			must(t, err)
			h := parts{layout: MomentLayout{Columns: d, Products: true, Attributes: d}, one: 64}
			for j := range d {
				h.of = append(h.of, j)
			}
			declared, err := dp.RecordMoments(clip, d, h.layout.Affected(), weights, dp.Zeroed)
			if err != nil {
				refused++
				continue
			}
			took++
			x := slices.Repeat([]int64{Absent}, d)
			x[0] = clip
			if moved := apart(h.naive(x, 0, clip, weights), make([]int64, h.layout.Entries())); moved.L2Squared > declared.L2Squared {
				t.Errorf("%d columns, sums of weight %d: moved by %v, declared %v", d, w, moved, declared)
			}
		}
	}
	if refused == 0 || took < 9 {
		t.Errorf("%d refused and %d declared: the test wants both", refused, took)
	}
}

// A refused batch leaves no trace, and the error contains no value.
func TestMomentsRefuse(t *testing.T) {
	h := everyPart()
	b, err := NewMoments(h.options(t, []int64{900}, dp.Zeroed))
	must(t, err)
	must(t, b.Add([]int64{1, Absent, Absent, 2, 3}, []int{2}))
	before := b.Sketch()
	for _, bad := range []struct {
		x       []int64
		classes []int
	}{
		{make([]int64, 5), nil}, {make([]int64, 5), []int{3}}, {make([]int64, 6), []int{0}}, {[]int64{0, 0, 0, 0, 1<<20 + 1}, []int{0}},
	} {
		if err := b.Add(bad.x, bad.classes); err == nil {
			t.Errorf("%d, %d: added", bad.x, bad.classes)
		}
	}
	if !slices.Equal(before.Data, b.Sketch().Data) || b.Records() != 1 {
		t.Error("a refused batch left a trace")
	}
	h.layout.Attributes = 0
	h.typical = nil
	if b, err = NewMoments(h.options(t, []int64{900}, dp.Zeroed)); err != nil {
		t.Fatal(err)
	}
	if err := b.Add([]int64{1, Absent, Absent, 2, 3}, []int{2}); err == nil {
		t.Error("an absent value was added where none is counted")
	}
}
