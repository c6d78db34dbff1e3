package dp

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// moved is the distance between the contributions of two records.
func moved(a, b []int64) (s Sensitivity) {
	for i := range a {
		d := a[i] - b[i]
		s.L1 += max(d, -d)
		s.L2Squared += d * d
	}
	return s
}

// TestCellsSensitivity replaces every record of two entries in one of two cells, cut or not, by
// every other one and by zeros: the bound on l2 is attained, and the bound on l1 is the least for
// so many entries.
func TestCellsSensitivity(t *testing.T) {
	const clip, d = 5, 2
	for _, w := range []CellWeights{{Count: 5}, {Count: 1}, {Count: 9}, {Count: 5, Cut: 2}, {Count: 1, Cut: 3}, NewCellWeights(clip, true)} {
		var records [][]int64
		for x := int64(-clip); x <= clip; x++ {
			for y := int64(-clip); y <= clip; y++ {
				for cell := range 2 {
					for cut := range int64(2) {
						if x*x+y*y <= clip*clip {
							r := make([]int64, 2*(1+d)+1)
							copy(r[cell*(1+d):], []int64{w.Count, x, y})
							r[len(r)-1] = cut * w.Cut
							records = append(records, r)
						}
					}
				}
			}
		}
		for _, n := range []Neighbours{Zeroed, Replaced} {
			got, err := RecordCells(clip, d, w, n)
			if err != nil {
				t.Fatal(err)
			}
			var most Sensitivity
			others, entries := [][]int64{make([]int64, len(records[0]))}, int64(1+d)
			if n == Replaced {
				others, entries = records, 2*entries
			}
			if w.Cut > 0 {
				entries++
			}
			for _, a := range records {
				for _, b := range others {
					most = Max(most, moved(a, b))
				}
			}
			if most.L2Squared != got.L2Squared || most.L1 > got.L1 || got.L1 != int64(math.Sqrt(float64(got.L2Squared*entries))) {
				t.Errorf("%+v, neighbours %d: %+v, records move it by %+v in %d entries", w, n, got, most, entries)
			}
		}
	}
	for name, w := range map[string]CellWeights{"no weight": {}, "a negative cut": {Count: 1, Cut: -1}, "too much": {Count: math.MaxInt32, Cut: math.MaxInt32}, "far too much": {Count: math.MaxInt64}} {
		for _, n := range []Neighbours{Zeroed, Replaced} {
			if name == "too much" && n == Zeroed {
				continue
			}
			if s, err := RecordCells(math.MaxInt32, 1, w, n); err == nil {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
	if _, err := RecordCells(1, 1, CellWeights{Count: 1}, Zeroed); err != nil {
		t.Error(err)
	}
	for _, of := range [][2]int64{{0, 1}, {1, 0}} {
		if s, err := RecordCells(of[0], int(of[1]), CellWeights{Count: 1}, Zeroed); err == nil {
			t.Errorf("clip %d of %d columns: %+v", of[0], of[1], s)
		}
	}
	if got := NewCellWeights(2, true); got != (CellWeights{Count: 2, Cut: 1}) { // a requested count has a weight
		t.Errorf("%+v", got)
	}
}

// Each record is in one cell of each table, and another record in a different one.
func TestCountsSensitivity(t *testing.T) {
	for _, c := range []struct {
		n    Neighbours
		want Sensitivity
	}{{Zeroed, Sensitivity{3 * 64, 3 * 64 * 64}}, {Replaced, Sensitivity{6 * 64, 6 * 64 * 64}}} {
		if got, err := RecordCounts(3, CountWeight, c.n); got != c.want || err != nil {
			t.Errorf("%+v, want %+v (%v)", got, c.want, err)
		}
	}
	for _, of := range [][2]int64{{0, 1}, {1, 0}, {1, math.MaxInt64}} {
		if s, err := RecordCounts(int(of[0]), of[1], Replaced); err == nil {
			t.Errorf("%d tables, weight %d: %+v", of[0], of[1], s)
		}
	}
	if got, err := RecordCounts(1, 1, Zeroed); got != (Sensitivity{1, 1}) || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// A count beside a columns sketch moves by its weight.
func TestCountedColumnsSensitivity(t *testing.T) {
	row := RowNorms{2, 2}
	without, err := RecordColumns(row, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := RecordColumnsCounted(row, 3, 4, 0); got != without || err != nil {
		t.Errorf("without a count %+v, want %+v (%v)", got, without, err)
	}
	if got, err := RecordColumnsCounted(row, 3, 4, 5); got != (Sensitivity{without.L1 + 5, without.L2Squared + 25}) || err != nil {
		t.Errorf("with one %+v beside %+v (%v)", got, without, err)
	}
	const most = 3_037_000_499 // ⌊√(2^63−1)⌋
	for name, f := range map[string]func() (Sensitivity, error){
		"l2":     func() (Sensitivity, error) { return RecordColumnsCounted(RowNorms{1, 1}, most, 1, most) },
		"weight": func() (Sensitivity, error) { return RecordColumnsCounted(RowNorms{1, 1}, 1, 1, most+1) },
		"l1":     func() (Sensitivity, error) { return RecordColumnsCounted(RowNorms{math.MaxInt64, 1}, 1, 1, 1) },
		"row":    func() (Sensitivity, error) { return RecordColumnsCounted(RowNorms{math.MaxInt64, 1}, 2, 1, 1) },
	} {
		if s, err := f(); !errors.Is(err, errOverflow) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if got, err := RecordColumnsCounted(RowNorms{math.MaxInt64 - 1, 1}, 1, 1, 1); got.L1 != math.MaxInt64 || err != nil {
		t.Errorf("what just fits: %+v, %v", got, err)
	}
}

// momentRecord is the contribution of a record to a moments sketch with these weights, as
// documented at MomentWeights: values in steps of the clip, its class (one of two), whether it was
// cut, and which values it lacks.
func momentRecord(w MomentWeights, x []int64, class int, cut bool, lacks []bool) []int64 {
	var out []int64
	of := func(on bool, v int64) { // zero if the record does not move it
		if !on {
			v = 0
		}
		out = append(out, v)
	}
	for i, a := range x {
		of(true, w.Square*a*a)
		for _, b := range x[:i] {
			of(true, w.Product*a*b)
		}
		fine := a << w.Fine
		of(true, w.Sum*fine)
		for c := range 2 {
			of(c == class, w.ClassSum*fine)
		}
		of(cut, w.CutSum*fine)
		one := int64(100) // the limit of the values
		of(true, w.Fourth*(a*a*a*a/one/one/one))
		for j := range lacks {
			of(lacks[j] && w.AbsentOf.Pairs() && i != j, absentSum(w, j)*fine)
		}
	}
	for c := range 2 {
		of(c == class, w.ClassCount)
	}
	of(cut, w.Cut)
	for j := range lacks {
		of(lacks[j], absent(w, j))
		for l := range j {
			of(lacks[j] && lacks[l] && w.AbsentOf.Pairs(), bothAbsent(w, j, l))
		}
	}
	return out
}

func absent(w MomentWeights, j int) int64 {
	if w.AbsentOf.Columns() == 0 {
		return 0
	}
	return w.AbsentOf.Absent(j)
}

func absentSum(w MomentWeights, j int) int64 {
	if !w.AbsentOf.Pairs() {
		return 0
	}
	return w.AbsentOf.SumAbsent(j)
}

func bothAbsent(w MomentWeights, j, l int) int64 {
	if !w.AbsentOf.Pairs() {
		return 0
	}
	return w.AbsentOf.BothAbsent(j, l)
}

// TestMomentsSensitivity replaces records of two entries, on and within the circle to which they
// are cut, by each other and by zeros. None moves the sketch further than the bound, and some
// nearly as far: no noise is wasted.
func TestMomentsSensitivity(t *testing.T) {
	const clip = 100
	for name, parts := range map[string]MomentParts{
		"sums":                        {},
		"sums, by class, cut":         {Label: true, Cut: true, CutSums: true},
		"products":                    {Products: true, SumWeight: 3},
		"products, by class":          {Products: true, SumWeight: 2, Label: true},
		"products, cut":               {Products: true, SumWeight: 4, Cut: true, CutSums: true},
		"fourth powers":               {Products: true, SumWeight: 5, Fourth: true},
		"finer sums":                  {Products: true, SumWeight: 3, Fine: 2},
		"finer sums, by class, cut":   {Products: true, SumWeight: 4, Fine: 1, Label: true, Cut: true, CutSums: true},
		"absent, sums":                {Typical: []int64{30, 60}},
		"absent, products":            {Products: true, SumWeight: 5, Typical: []int64{50, 50}},
		"absent, products, all parts": {Products: true, SumWeight: 5, Label: true, Cut: true, CutSums: true, Fourth: true, Typical: []int64{30, 60}},
	} {
		for _, n := range []Neighbours{Zeroed, Replaced} {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				parts.Neighbours = n
				w, err := NewMomentWeights(clip, parts)
				if err != nil {
					t.Fatal(err)
				}
				r := rand.New(rand.NewPCG(2, uint64(n)))
				draw := func(angle float64) []int64 {
					lacks := make([]bool, len(parts.Typical))
					square := int64(clip * clip)
					for j := range lacks {
						if lacks[j] = r.IntN(4) == 0; lacks[j] {
							square -= w.AbsentOf.ClipReduction(j)
						}
					}
					length := math.Sqrt(float64(square))
					if r.IntN(3) == 0 {
						length *= r.Float64()
					}
					x := []int64{int64(length * math.Cos(angle)), int64(length * math.Sin(angle))}
					for j := range lacks {
						if lacks[j] {
							x[j] = 0
						}
					}
					return momentRecord(w, x, r.IntN(2), r.IntN(2) == 0, lacks)
				}
				sample := draw(0)
				zero := make([]int64, len(sample))
				entries := 0 // that one record moves
				for range 2000 {
					count := 0
					for _, v := range draw(r.Float64() * 2 * math.Pi) {
						if v != 0 {
							count++
						}
					}
					entries = max(entries, count)
				}
				got, err := RecordMoments(clip, 2, entries, w, n)
				if err != nil {
					t.Fatal(err)
				}
				var most Sensitivity
				for range 60_000 {
					angle := float64(r.IntN(4)) * math.Pi / 2
					if r.IntN(2) == 0 {
						angle = r.Float64() * 2 * math.Pi
					}
					a, b := draw(angle), zero
					if n == Replaced {
						b = draw(angle + math.Pi*r.Float64())
					}
					most = Max(most, moved(a, b))
				}
				if most.L1 > got.L1 || most.L2Squared > got.L2Squared {
					t.Errorf("records move it by %+v, and the bound is %+v", most, got)
				}
				part := float64(most.L2Squared) / float64(got.L2Squared)
				least := []float64{0.995, 0.97}[n]
				if n == Replaced && parts.Fine > 0 { // the bound includes what rounding may add
					least = 0.94
				}
				if part < least {
					t.Errorf("records move it by %.3f of the bound on l2 squared alone", part)
				}
				all := uint64(entries)
				if n == Replaced {
					all *= 2
				}
				if want := multiply(uint64(got.L2Squared), all).root(); uint64(got.L1) != want {
					t.Errorf("l1 %d, want %d", got.L1, want)
				}
			})
		}
	}
}

// A part has a weight if and only if it was asked for.
func TestMomentWeightsAreThoseAsked(t *testing.T) {
	for _, products := range []bool{false, true} {
		for mask := range 16 {
			p := MomentParts{Products: products, Label: mask&1 > 0, Cut: mask&2 > 0, CutSums: mask&4 > 0, Fourth: mask&8 > 0}
			if products {
				p.SumWeight = 3
			}
			w, err := NewMomentWeights(640, p)
			if (err != nil) != (p.Fourth && !products) {
				t.Errorf("%+v: %v", p, err)
			}
			if err != nil {
				continue
			}
			for part, on := range map[string][2]bool{
				"squares": {w.Square > 0, products}, "products": {w.Product > 0, products}, "sums": {w.Sum > 0, true},
				"class counts": {w.ClassCount > 0, p.Label}, "class sums": {w.ClassSum > 0, p.Label && products},
				"cut": {w.Cut > 0, p.Cut}, "cut sums": {w.CutSum > 0, p.CutSums}, "fourth": {w.Fourth > 0, p.Fourth},
			} {
				if on[0] != on[1] {
					t.Errorf("%+v: %s are there: %v", p, part, on[0])
				}
			}
		}
	}
}

func TestMomentWeightsRefuse(t *testing.T) {
	whole := MomentParts{Products: true, SumWeight: 3}
	with := func(change func(*MomentParts)) MomentParts {
		p := whole
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		clip int64
		of   MomentParts
		ok   bool
	}{
		"least clip":         {64, whole, true},
		"short clip":         {63, whole, false},
		"greatest clip":      {MaxMomentClip, whole, true},
		"long clip":          {MaxMomentClip + 1, whole, false},
		"long clip of sums":  {MaxSumClip, MomentParts{}, true},
		"longer of sums":     {MaxSumClip + 1, MomentParts{}, false},
		"light sums":         {100, with(func(p *MomentParts) { p.SumWeight = 1 }), false},
		"lightest sums":      {100, with(func(p *MomentParts) { p.SumWeight = 2 }), true},
		"heaviest sums":      {100, with(func(p *MomentParts) { p.SumWeight = 5 }), true},
		"heavy sums":         {100, with(func(p *MomentParts) { p.SumWeight = 6 }), false},
		"finest":             {100, with(func(p *MomentParts) { p.Fine = 4 }), true},
		"too fine":           {100, with(func(p *MomentParts) { p.Fine = 5 }), false},
		"largest typical":    {100, with(func(p *MomentParts) { p.Typical = []int64{1, 1<<22 - 1} }), true},
		"too large typical":  {100, with(func(p *MomentParts) { p.Typical = []int64{1, 1 << 22} }), false},
		"no typical at all":  {100, with(func(p *MomentParts) { p.Typical = []int64{5, 0} }), false},
		"typical that wraps": {100, with(func(p *MomentParts) { p.Typical = []int64{math.MaxInt64, math.MaxInt64, 9} }), false},
	} {
		if _, err := NewMomentWeights(c.clip, c.of); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// RecordMoments returns an error for inconsistent weights and on an overflow.
func TestMomentsSensitivityRefuses(t *testing.T) {
	whole, err := NewMomentWeights(100, MomentParts{Products: true, SumWeight: 5, Typical: []int64{50, 50}})
	if err != nil {
		t.Fatal(err)
	}
	sums, err := NewMomentWeights(100, MomentParts{Typical: []int64{50, 50}})
	if err != nil {
		t.Fatal(err)
	}
	thin, err := NewMomentWeights(64, MomentParts{Products: true, SumWeight: 2, Typical: []int64{1, 4000}}) // an absence that reduces nothing
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() (Sensitivity, error){
		"no clip":    func() (Sensitivity, error) { return RecordMoments(0, 2, 9, MomentWeights{Sum: 1}, Zeroed) },
		"no columns": func() (Sensitivity, error) { return RecordMoments(100, 0, 9, MomentWeights{Sum: 1}, Zeroed) },
		"no entries": func() (Sensitivity, error) { return RecordMoments(100, 2, 0, MomentWeights{Sum: 1}, Zeroed) },
		"no sums": func() (Sensitivity, error) {
			return RecordMoments(100, 2, 9, MomentWeights{Square: 5, Product: 7}, Zeroed)
		},
		"products": func() (Sensitivity, error) {
			return RecordMoments(100, 2, 9, MomentWeights{Square: 2, Product: 3, Sum: 1}, Zeroed)
		},
		"another clip": func() (Sensitivity, error) { return RecordMoments(101, 2, 9, whole, Zeroed) },
		"another sum":  func() (Sensitivity, error) { sums.Sum++; return RecordMoments(100, 2, 9, sums, Zeroed) },
		"no room":      func() (Sensitivity, error) { return RecordMoments(64, 2, 9, thin, Zeroed) },
		"does not fit": func() (Sensitivity, error) { return RecordMoments(1<<40, 2, 9, MomentWeights{Sum: 1}, Zeroed) },
		"nor its ratio": func() (Sensitivity, error) {
			return RecordMoments(1, 2, 9, MomentWeights{Square: 1, Sum: 1 << 31}, Replaced)
		},
	} {
		if s, err := f(); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if _, err := RecordMoments(100, 2, 9, MomentWeights{Square: 5, Product: 7, Sum: 1}, Zeroed); err != nil {
		t.Error(err)
	}
}
