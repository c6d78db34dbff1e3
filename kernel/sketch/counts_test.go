package sketch_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// drawnCounts has tables over a number, a category of three values and a bit, for records of five
// entries.
func drawnCounts(t *rapid.T) sketch.CountsOptions {
	absent := rapid.Bool().Draw(t, "absent")
	number := sketch.CountAxis{At: 0, Entries: 1, Edges: slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.Int64Range(-90, 90), 1, 6).Draw(t, "edges")))), Absent: absent}
	axes := []sketch.CountAxis{number, {At: 1, Entries: 3, Absent: absent}, {At: 4, Entries: 1, Edges: []int64{100}, Absent: absent}}
	o := sketch.CountsOptions{Columns: 5, One: 100, Weight: rapid.Int64Range(1, 64).Draw(t, "weight"), Workers: rapid.IntRange(1, 3).Draw(t, "workers")}
	for range rapid.IntRange(1, 4).Draw(t, "tables") {
		a, b := rapid.IntRange(0, 2).Draw(t, "first"), rapid.IntRange(0, 2).Draw(t, "second")
		table := sketch.CountTable{Axes: []sketch.CountAxis{axes[a]}}
		if b != a {
			table.Axes = append(table.Axes, axes[b])
		}
		o.Tables = append(o.Tables, table)
	}
	if rapid.Bool().Draw(t, "tree") {
		tree := number
		tree.Edges = []int64{-75, -50, -25, 0, 25, 50, 75}
		o.Tables = append(o.Tables, sketch.CountTable{Axes: []sketch.CountAxis{tree}, Depth: 3})
	}
	return o
}

func drawnRecord(t *rapid.T, absent bool) []int64 {
	out := []int64{rapid.Int64Range(-100, 100).Draw(t, "number"), 0, 0, 0, 100 * rapid.Int64Range(0, 1).Draw(t, "bit")}
	out[1+rapid.IntRange(0, 2).Draw(t, "category")] = 100
	if absent && rapid.Bool().Draw(t, "lacks some") {
		switch rapid.IntRange(0, 2).Draw(t, "which") {
		case 0:
			out[0] = sketch.Absent
		case 1:
			out[1], out[2], out[3] = sketch.Absent, sketch.Absent, sketch.Absent
		default:
			out[4] = sketch.Absent
		}
	}
	return out
}

// byHand returns a value's cell and the number of cells, by a second implementation.
func byHand(a sketch.CountAxis, record []int64) (cell, cells int) {
	cells = 3
	if a.Entries == 1 {
		cells = len(a.Edges) + 1
	}
	defer func() {
		if a.Absent {
			cells++
		}
	}()
	switch {
	case record[a.At] == sketch.Absent:
		return cells, cells
	case a.Entries == 1:
		for _, edge := range a.Edges {
			if record[a.At] >= edge {
				cell++
			}
		}
		return cell, cells
	}
	return slices.Index(record[1:4], 100), cells
}

// Counts equal those by hand, for all batch sizes and numbers of workers.
func TestCountsAreThoseByHand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawnCounts(t)
		b, err := sketch.NewCounts(o)
		if err != nil {
			t.Fatal(err)
		}
		var want []int64
		var records [][]int64
		for range rapid.IntRange(0, 40).Draw(t, "records") {
			records = append(records, drawnRecord(t, o.Tables[0].Axes[0].Absent))
		}
		for _, table := range o.Tables {
			for level := range max(table.Depth, 1) {
				n := 1
				for _, a := range table.Axes {
					_, of := byHand(a, records0(records))
					n *= of
				}
				tree := table.Depth > 0
				if tree {
					n = 1<<(level+1) + n - 1<<table.Depth
				}
				counts := make([]int64, n)
				for _, r := range records {
					at := 0
					for _, a := range table.Axes {
						cell, of := byHand(a, r)
						at = at*of + cell
					}
					if tree && at == 1<<table.Depth {
						at = 1 << (level + 1)
					} else if tree {
						at >>= table.Depth - level - 1
					}
					counts[at] += o.Weight
				}
				want = append(want, counts...)
			}
		}
		for rest := records; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "batch")
			if err := b.Add(slices.Concat(rest[:n]...)); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		got := b.Sketch()
		if got.Side != sketch.Counts || got.Rows != 1 || !slices.Equal(got.Data, want) || b.Records() != int64(len(records)) {
			t.Fatalf("%v of %d records, want %v", got.Data, b.Records(), want)
		}
	})
}

func records0(records [][]int64) []int64 {
	if len(records) > 0 {
		return records[0]
	}
	return []int64{0, 100, 0, 0, 0}
}

// No record moves counts by more than the sensitivity. Every added record moves them by exactly the
// sensitivity.
func TestCountsMoveByTheirSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawnCounts(t)
		tables := 0
		for _, table := range o.Tables {
			tables += table.Tables()
		}
		of := func(record []int64) []int64 {
			b, err := sketch.NewCounts(o)
			if err == nil {
				err = b.Add(record)
			}
			if err != nil {
				t.Fatal(err)
			}
			return b.Sketch().Data
		}
		absent := o.Tables[0].Axes[0].Absent
		a, b := of(drawnRecord(t, absent)), of(drawnRecord(t, absent))
		for _, n := range []dp.Neighbours{dp.Zeroed, dp.Replaced} {
			s, err := dp.RecordCounts(tables, o.Weight, n)
			if err != nil {
				t.Fatal(err)
			}
			var l1, l2 int64
			for i, v := range a {
				if n == dp.Replaced {
					v -= b[i]
				}
				l1, l2 = l1+max(v, -v), l2+v*v
			}
			if l1 > s.L1 || l2 > s.L2Squared || n == dp.Zeroed && (l1 < s.L1 || l2 < s.L2Squared) {
				t.Fatalf("moved by %d and √%d, of %v", l1, l2, s)
			}
		}
	})
}

func TestCountsRefuse(t *testing.T) {
	number := sketch.CountAxis{At: 0, Entries: 1, Edges: []int64{10}}
	category := sketch.CountAxis{At: 1, Entries: 3}
	for name, o := range map[string]sketch.CountsOptions{
		"no table":          {Columns: 4, One: 100},
		"no axis":           {Columns: 4, One: 100, Tables: []sketch.CountTable{{}}},
		"edges that repeat": {Columns: 4, One: 100, Tables: []sketch.CountTable{{Axes: []sketch.CountAxis{{Entries: 1, Edges: []int64{3, 3}}}}}},
		"edges that fall":   {Columns: 4, One: 100, Tables: []sketch.CountTable{{Axes: []sketch.CountAxis{{Entries: 1, Edges: []int64{3, 2}}}}}},
		"entries beyond":    {Columns: 3, One: 100, Tables: []sketch.CountTable{{Axes: []sketch.CountAxis{category}}}},
		"a lopsided tree":   {Columns: 4, One: 100, Tables: []sketch.CountTable{{Axes: []sketch.CountAxis{number}, Depth: 2}}},
		"too many tables":   {Columns: 4, One: 100, Tables: slices.Repeat([]sketch.CountTable{{Axes: []sketch.CountAxis{number}}}, sketch.MaxCountTables+1)},
		"too many records":  {Columns: 4, One: 100, Tables: []sketch.CountTable{{Axes: []sketch.CountAxis{number}}}, Weight: 2, Limit: 1 << 62},
	} {
		if _, err := sketch.NewCounts(o); err == nil {
			t.Errorf("%s: made", name)
		}
	}
	b, err := sketch.NewCounts(sketch.CountsOptions{Columns: 4, One: 100, Limit: 2, Tables: []sketch.CountTable{{Axes: []sketch.CountAxis{number, category}}}})
	if err != nil {
		t.Fatal(err)
	}
	good := []int64{0, 0, 100, 0}
	for name, x := range map[string][]int64{
		"half a record": good[:3], "no category": {0, 0, 0, 0}, "two categories": {0, 100, 100, 0}, "half a category": {0, 50, 0, 0},
		"no number": {sketch.Absent, 0, 100, 0}, "three records": slices.Concat(good, good, good), "a bad one among good ones": {0, 100, 0, 0, 0, 0, 0, 0},
	} {
		if err := b.Add(x); err == nil || b.Records() != 0 || slices.Max(b.Sketch().Data) != 0 {
			t.Errorf("%s: %v, %d records", name, err, b.Records())
		}
	}
	if err := b.Add(slices.Concat(good, good)); err != nil || b.Sketch().Data[1] != 2 {
		t.Errorf("%v: %v", b.Sketch().Data, err)
	}
}
