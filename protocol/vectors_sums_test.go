package protocol_test

import (
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed/stream"
)

// sumsCase is an exact sketch without a projection. Records are encoded values.
type sumsCase struct {
	Side        sketch.Side `json:"side"`
	Columns     []string    `json:"columns"` // numeric ones, by name
	Centre      []int64     `json:"centre"`
	One         int64       `json:"one"`
	Clip        int64       `json:"clip"`
	L           int         `json:"L,omitempty"`
	Rows        hexed       `json:"cell rows,omitempty"`
	Permutation hexed       `json:"cell permutation,omitempty"`
	Records     [][]int64   `json:"records"`           // the smallest int64 where a value is absent
	Classes     []int       `json:"classes,omitempty"` // moments: class of each record, of two

	Tables []countTable `json:"tables,omitempty"` // counts: the tables in which records are counted
	Weight int64        `json:"weight,omitempty"` // counts: weight of a record

	Lengths []int64 `json:"lengths,omitempty"` // look: the lengths by which records are counted

	Codebook *codebookCase `json:"codebook,omitempty"` // codes; its radius is the clip

	Cells    []int    `json:"cells,omitempty"` // of the records
	Entries  []int64  `json:"entries"`         // row-major
	Zeroed   [2]int64 `json:"zeroed"`          // D1, D2 squared
	Replaced [2]int64 `json:"replaced"`
}

// codebookCase is a codebook without its radius.
type codebookCase struct {
	Centre []int64   `json:"centre"`
	Axes   [][]int64 `json:"axes"`
	Codes  [][]int64 `json:"codes"`
}

// countTable is a table of counts.
type countTable struct {
	Depth int         `json:"depth,omitempty"`
	Axes  []countAxis `json:"axes"`
}

// countAxis says which entries of a record determine its cell, from 0.
type countAxis struct {
	At      int     `json:"at"`
	Entries int     `json:"entries"` // for a categorical column, one for each value
	Edges   []int64 `json:"edges,omitempty"`
	Absent  bool    `json:"absent"`
}

func sums() vectors {
	return cases[sumsCase]{
		file:  "sums",
		about: "Given: columns, their public centre, the clip, records as encoded values and, of cells, L and two keys, of moments the classes of records, of counts tables and a weight, of codes a codebook whose radius is the clip, of looks lengths. Moments hold every part, with sums of weight 3 and typical squares of 9, 9 and 4. To be found: the exact sketch, the records' cells, and both sensitivities.",
		given: func(*testing.T) []sumsCase {
			records := [][]int64{{512, 0, -512}, {0, 512, 100}, {300, 200, 0}, {256, 511, 512}, {256, 256, 0}}
			moments := sumsCase{Side: sketch.Moments, Columns: []string{"a", "b", "c"}, Centre: []int64{256, 256, 0}, One: 512, Clip: 409, Records: records}
			cells := moments
			moments.Records = append(slices.Clone(records), []int64{sketch.Absent, 511, 512}, []int64{sketch.Absent, 200, sketch.Absent})
			moments.Classes = []int{0, 1, 1, 0, 0, 1, 0}
			cells.Side, cells.L, cells.Rows, cells.Permutation = sketch.Cells, 2, hexedOf(rowKey(1)), hexedOf(rowKey(101))
			counts := sumsCase{
				Side: sketch.Counts, Columns: []string{"a", "b = x", "b = y"}, One: 512, Weight: dp.CountWeight,
				Records: [][]int64{{0, 512, 0}, {128, 0, 512}, {127, 512, 0}, {512, 512, 0}, {sketch.Absent, 0, 512}, {300, sketch.Absent, sketch.Absent}},
				Tables: []countTable{
					{Axes: []countAxis{{At: 1, Entries: 2, Absent: true}}},
					{Axes: []countAxis{{Entries: 1, Edges: []int64{128, 256}, Absent: true}, {At: 1, Entries: 2, Absent: true}}},
					{Axes: []countAxis{{Entries: 1, Edges: []int64{128, 256, 384}, Absent: true}}, Depth: 2},
				},
			}
			codes := sumsCase{
				Side: sketch.Codes, Columns: []string{"a", "b", "c"}, Centre: []int64{0, 0, 0}, One: 512, Clip: 300,
				Records: append(slices.Clone(records), []int64{sketch.Absent, 511, 0}, []int64{257, 257, 1}),
				Codebook: &codebookCase{
					Centre: []int64{4096, 4100, -7}, Axes: [][]int64{{11585, 11585, 0}, {-9459, 9459, 9459}},
					Codes: [][]int64{{100, 0}, {-100, 0}, {0, 150}, {100, 0}},
				},
			}
			look := sumsCase{
				Side: sketch.Look, Columns: []string{"a", "b", "c"}, Centre: []int64{256, 256, 0}, One: 512, Weight: dp.CountWeight, Lengths: []int64{256, 437, 619},
				Records: append(slices.Clone(records), []int64{sketch.Absent, 511, 1}),
			}
			return []sumsCase{moments, cells, counts, codes, look}
		},
		fill: fillSums,
	}
}

func fillSums(t *testing.T, c *sumsCase) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	switch c.Side {
	case sketch.Counts:
		fillCounts(t, c)
		return
	case sketch.Look:
		fillLook(t, c)
		return
	}
	options := sketch.SumsOptions{Centre: c.Centre, Largest: c.One, Clip: c.Clip}
	d := len(c.Columns)
	values := slices.Concat(c.Records...)
	layout := sketch.MomentLayout{Columns: d, Products: true, Classes: 2, Cut: true, CutSums: true, Fourth: true, Attributes: d}
	weights := func(n dp.Neighbours) dp.MomentWeights {
		w, err := dp.NewMomentWeights(c.Clip, dp.MomentParts{Products: true, SumWeight: 3, Label: true, Cut: true, CutSums: true, Fourth: true, Typical: []int64{9, 9, 4}, Neighbours: n})
		check(err)
		return w
	}
	sensitivity := func(n dp.Neighbours) [2]int64 {
		if c.Side == sketch.Codes {
			d = len(c.Codebook.Axes)
		}
		s, err := dp.RecordCells(c.Clip, d, dp.NewCellWeights(c.Clip, true), n)
		if c.Side == sketch.Moments {
			s, err = dp.RecordMoments(c.Clip, layout.Columns, layout.Affected(), weights(n), n)
		}
		check(err)
		return [2]int64{s.L1, s.L2Squared}
	}
	c.Zeroed, c.Replaced = sensitivity(dp.Zeroed), sensitivity(dp.Replaced)
	if c.Side == sketch.Moments {
		options.Clip = 0
		b, err := sketch.NewMoments(sketch.MomentsOptions{
			SumsOptions: options, Layout: layout, Clips: []int64{c.Clip}, Weights: []dp.MomentWeights{weights(dp.Zeroed)}, One: c.One, AttributeOf: []int{0, 1, 2},
		})
		check(err)
		check(b.Add(values, c.Classes))
		c.Entries = b.Sketch().Data
		return
	}
	if c.Side == sketch.Codes {
		fillCodes(t, c)
		return
	}
	var labels [][]byte
	for _, name := range c.Columns {
		labels = append(labels, stream.ColumnLabel(name))
	}
	directions, err := projection.FixHadamard(projection.Spec{Family: projection.Hadamard, K: c.L},
		stream.New([32]byte(c.Rows)), stream.New([32]byte(c.Permutation)), labels)
	check(err)
	b, err := sketch.NewCells(directions, dp.NewCellWeights(c.Clip, true), options)
	check(err)
	check(b.Add(values))
	c.Entries, c.Cells = b.Sketch().Data, nil
	for _, r := range c.Records {
		x, y := slices.Clone(r), make([]int64, c.L)
		for j := range x {
			x[j] -= c.Centre[j]
		}
		dp.ClipL2(x, c.Clip)
		directions.Project(y, x)
		c.Cells = append(c.Cells, sketch.CellOf(y))
	}
}

func fillCodes(t *testing.T, c *sumsCase) {
	t.Helper()
	of := c.Codebook
	b, err := sketch.NewCodes(sketch.CodesOptions{
		SumsOptions: sketch.SumsOptions{Centre: c.Centre, Largest: c.One}, Weights: dp.NewCellWeights(c.Clip, true),
		Codebook: sketch.Codebook{Centre: of.Centre, Axes: of.Axes, Codes: of.Codes, Radius: c.Clip},
	})
	if err == nil {
		err = b.Add(slices.Concat(c.Records...))
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Entries = b.Sketch().Data
}

func fillLook(t *testing.T, c *sumsCase) {
	t.Helper()
	d := len(c.Columns)
	o := sketch.MomentsOptions{
		SumsOptions: sketch.SumsOptions{Centre: c.Centre, Largest: c.One, Limit: 1 << 20}, Clips: c.Lengths, One: c.One, AttributeOf: []int{0, 1, 2}, Measure: true,
		Layout: sketch.MomentLayout{Columns: d, Attributes: d, Cut: true, CutSums: true},
	}
	for _, clip := range c.Lengths {
		w, err := dp.NewMomentWeights(clip, dp.MomentParts{Cut: true, CutSums: true, Typical: []int64{9, 9, 4}})
		if err != nil {
			t.Fatal(err)
		}
		o.Weights = append(o.Weights, w)
	}
	b, err := sketch.NewMoments(o)
	if err == nil {
		err = b.Add(slices.Concat(c.Records...), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Entries = nil
	for _, n := range b.Lengths() {
		c.Entries = append(c.Entries, n*c.Weight)
	}
	for n, to := range map[dp.Neighbours]*[2]int64{dp.Zeroed: &c.Zeroed, dp.Replaced: &c.Replaced} {
		s, err := dp.RecordCounts(1, c.Weight, n)
		if err != nil {
			t.Fatal(err)
		}
		*to = [2]int64{s.L1, s.L2Squared}
	}
}

func fillCounts(t *testing.T, c *sumsCase) {
	t.Helper()
	o := sketch.CountsOptions{Columns: len(c.Columns), One: c.One, Weight: c.Weight}
	tables := 0
	for _, of := range c.Tables {
		table := sketch.CountTable{Depth: of.Depth}
		for _, a := range of.Axes {
			table.Axes = append(table.Axes, sketch.CountAxis(a))
		}
		o.Tables, tables = append(o.Tables, table), tables+table.Tables()
	}
	b, err := sketch.NewCounts(o)
	if err == nil {
		err = b.Add(slices.Concat(c.Records...))
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Entries = b.Sketch().Data
	for n, to := range map[dp.Neighbours]*[2]int64{dp.Zeroed: &c.Zeroed, dp.Replaced: &c.Replaced} {
		s, err := dp.RecordCounts(tables, c.Weight, n)
		if err != nil {
			t.Fatal(err)
		}
		*to = [2]int64{s.L1, s.L2Squared}
	}
}
