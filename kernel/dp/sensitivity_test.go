package dp

import (
	"errors"
	"math"
	"testing"
)

// families are all matrices of two or three rows of small dimension, enumerated.
var families = []struct {
	name       string
	norms      RowNorms
	rows       [][]int64 // every value that a row can take
	orthogonal [][]int64 // identity: the one matrix
}{
	{"sparse k=2 s=1", RowNorms{1, 1}, [][]int64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}, nil},
	{"sparse k=4 s=2", RowNorms{2, 2}, sparse42(), nil},
	{"rademacher k=3", RowNorms{3, 3}, signs(3), nil},
	{"identity k=3", RowNorms{1, 1}, nil, [][]int64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
}

func signs(k int) (rows [][]int64) {
	for mask := range 1 << k {
		row := make([]int64, k)
		for i := range row {
			row[i] = int64(mask>>i&1)*2 - 1
		}
		rows = append(rows, row)
	}
	return rows
}

func sparse42() (rows [][]int64) {
	for code := range 16 {
		row := make([]int64, 4)
		row[code&1] = int64(code>>1&1)*2 - 1
		row[2+code>>2&1] = int64(code>>3&1)*2 - 1
		rows = append(rows, row)
	}
	return rows
}

// matrices calls f with every matrix of n rows.
func matrices(rows [][]int64, n int, f func([][]int64)) {
	matrix := make([][]int64, n)
	var fill func(int)
	fill = func(i int) {
		if i == n {
			f(matrix)
			return
		}
		for _, matrix[i] = range rows {
			fill(i + 1)
		}
	}
	fill(0)
}

// reach is the largest observed move in each norm.
type reach struct{ l1, l2Squared int64 }

func (r *reach) see(move []int64) {
	var l1, l2 int64
	for _, m := range move {
		l1 += max(m, -m)
		l2 += m * m
	}
	r.l1, r.l2Squared = max(r.l1, l1), max(r.l2Squared, l2)
}

func (r reach) compare(t *testing.T, s Sensitivity, attained bool) {
	t.Helper()
	if r.l1 > s.L1 || r.l2Squared > s.L2Squared {
		t.Errorf("a change moved the sketch by l1 %d, l2 squared %d, beyond %d and %d", r.l1, r.l2Squared, s.L1, s.L2Squared)
	}
	if attained && (r.l1 < s.L1 || r.l2Squared < s.L2Squared) {
		t.Errorf("no change moved the sketch by more than l1 %d, l2 squared %d, below the stated %d and %d", r.l1, r.l2Squared, s.L1, s.L2Squared)
	}
}

func outer(r, v []int64) (m []int64) {
	for _, a := range r {
		for _, b := range v {
			m = append(m, a*b)
		}
	}
	return m
}

func times(v []int64, matrix [][]int64) []int64 {
	y := make([]int64, len(matrix[0]))
	for j, x := range v {
		for i, e := range matrix[j] {
			y[i] += x * e
		}
	}
	return y
}

func difference(a, b []int64) []int64 {
	d := make([]int64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

// derived are the ways in which one attribute enters a record's derived vector: its vector for each
// value, and the deltas that bound the changes.
var derived = []struct {
	name   string
	values [][]int64
	deltas []int64
}{
	{"numeric 0..3", [][]int64{{0}, {1}, {2}, {3}}, []int64{3}},
	{"numeric 0..3 and its square", [][]int64{{0, 0}, {1, 1}, {2, 4}, {3, 9}}, []int64{3, 9}},
	{"categorical of 3", [][]int64{{3, 0, 0}, {0, 3, 0}, {0, 0, 3}}, []int64{3, 3}},
}

// TestAttributeSensitivity enumerates every matrix and every change of one value.
func TestAttributeSensitivity(t *testing.T) {
	for _, f := range families {
		for _, d := range derived {
			t.Run(f.name+", "+d.name, func(t *testing.T) {
				columns, err := AttributeColumns(f.norms, d.deltas)
				if err != nil {
					t.Fatal(err)
				}
				records, err := AttributeRecords(f.norms, d.deltas, f.orthogonal != nil)
				if err != nil {
					t.Fatal(err)
				}
				var onColumns, onRecords reach
				see := func(matrix [][]int64) {
					for _, a := range d.values {
						for _, b := range d.values {
							onColumns.see(outer(matrix[0], difference(a, b)))
							onRecords.see(difference(times(a, matrix), times(b, matrix)))
						}
					}
				}
				if f.orthogonal != nil {
					see(f.orthogonal)
				} else {
					matrices(f.rows, len(d.values[0]), see)
				}
				onColumns.compare(t, columns, true)
				onRecords.compare(t, records, true)
			})
		}
	}
}

// TestRecordSensitivity clips every small record and removes it.
func TestRecordSensitivity(t *testing.T) {
	const clip, entries = 3, 3
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			rows := f.rows
			if f.orthogonal != nil {
				rows = f.orthogonal
			}
			columns, err := RecordColumns(f.norms, clip, entries)
			if err != nil {
				t.Fatal(err)
			}
			records, err := RecordRecords(clip, len(rows[0]))
			if err != nil {
				t.Fatal(err)
			}
			var onColumns, onRecords reach
			for code := range 9 * 9 * 9 {
				v := []int64{int64(code%9) - 4, int64(code/9%9) - 4, int64(code/81) - 4}
				y := times(v, [][]int64{rows[0], rows[1], rows[len(rows)-1]})
				ClipL2(v, clip)
				ClipL2(y, clip)
				onColumns.see(outer(rows[0], v))
				onRecords.see(y)
			}
			onColumns.compare(t, columns, true)
			onRecords.compare(t, records, false)
		})
	}
}

func TestSensitivityMenu(t *testing.T) {
	// One categorical attribute of size c under sparse signs has
	// D1 = 2sc, D2 = √(2s)c on the columns side and D1 ≤ 2sc, D2 ≤ 2√s·c on the records side.
	const s, c = 4, 1 << 14
	columns, err1 := AttributeColumns(RowNorms{s, s}, []int64{c, -c})
	records, err2 := AttributeRecords(RowNorms{s, s}, []int64{c, -c}, false)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if want := (Sensitivity{2 * s * c, 2 * s * c * c}); columns != want {
		t.Errorf("columns side %v, want %v", columns, want)
	}
	if want := (Sensitivity{2 * s * c, 4 * s * c * c}); records != want {
		t.Errorf("records side %v, want %v", records, want)
	}
	if got, want := Max(Sensitivity{1, 9}, Sensitivity{5, 2}), (Sensitivity{5, 9}); got != want {
		t.Errorf("max is %v, want %v", got, want)
	}
	if got := Max(); got != (Sensitivity{}) {
		t.Errorf("max of nothing is %v", got)
	}
	if _, err := RecordRecords(3_037_000_499, math.MaxInt); err != nil { // ⌊√(2^63-1)⌋
		t.Error(err)
	}
	const k = 1 << 24
	if _, err := AttributeRecords(RowNorms{k, k}, []int64{1 << 15, 1 << 15}, false); err != nil {
		t.Error(err)
	}
}

func TestSensitivityRefuses(t *testing.T) {
	huge := RowNorms{math.MaxInt64 / 2, math.MaxInt64 / 2}
	many := make([]int64, 4)
	for i := range many {
		many[i] = math.MaxInt32
	}
	for name, f := range map[string]func() (Sensitivity, error){
		"row times delta":     func() (Sensitivity, error) { return AttributeColumns(huge, []int64{3}) },
		"delta out of range":  func() (Sensitivity, error) { return AttributeColumns(RowNorms{1, 1}, []int64{1 << 40}) },
		"least delta":         func() (Sensitivity, error) { return AttributeColumns(RowNorms{1, 1}, []int64{math.MinInt64}) },
		"sum of squares":      func() (Sensitivity, error) { return AttributeColumns(RowNorms{1, 1}, many) },
		"negative row":        func() (Sensitivity, error) { return AttributeColumns(RowNorms{-1, 1}, []int64{1}) },
		"square of the sum":   func() (Sensitivity, error) { return AttributeRecords(RowNorms{1, 1}, many[:2], false) },
		"clip":                func() (Sensitivity, error) { return RecordRecords(1<<32, 1) },
		"negative clip":       func() (Sensitivity, error) { return RecordRecords(-1, 1) },
		"no entries":          func() (Sensitivity, error) { return RecordRecords(1, 0) },
		"clip times row":      func() (Sensitivity, error) { return RecordColumns(huge, 4, 1) },
		"columns, no entries": func() (Sensitivity, error) { return RecordColumns(RowNorms{1, 1}, 1, 0) },
	} {
		if s, err := f(); err == nil {
			t.Errorf("%s: got %v, want an error", name, s)
		}
	}
}

// A sum of squares that wraps around is an error, whether the wrapped value is negative or not,
// even if the sum of the changes themselves is far from wrapping.
func TestNormsThatWrapAround(t *testing.T) {
	for n := 1; n <= 9; n++ {
		deltas := make([]int64, n)
		for i := range deltas {
			deltas[i] = math.MaxInt32
		}
		sum, squares, err := norms(deltas)
		if n <= 2 {
			if err != nil || sum != int64(n)*math.MaxInt32 || squares != int64(n)*math.MaxInt32*math.MaxInt32 {
				t.Errorf("%d changes: %d, %d, %v", n, sum, squares, err)
			}
			continue
		}
		if !errors.Is(err, errOverflow) {
			t.Errorf("%d changes: %d, %d, %v", n, sum, squares, err)
		}
	}
}
