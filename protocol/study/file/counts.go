package file

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// ofCounts is the row of numbers of records by the cells of tables.
func ofCounts() additive {
	return additive{
		side: sketch.Counts, keys: []string{"tables"}, takes: "tables and share",
		read: func(o object, sk *study.Sketch) {
			o.forbid("clip", "cuts records to a length, and here each counts as one")
			o.forbid("standardise", "belongs to sides columns and moments")
			for _, it := range o.Items("tables", sketch.MaxCountTables) {
				sk.Tables = append(sk.Tables, o.reader.table(it))
			}
		},
		check: (*reader).validateCounts,
		encode: func(e *schema.Encoder, sk study.Sketch) {
			for _, t := range sk.Tables {
				encodeTable(e, t)
			}
		},
	}
}

// table reads one entry of tables.
func (r *reader) table(it schema.Item) (t study.Table) {
	o := r.object(it.Node, it.Path, "of", "depth")
	o.Require("of")
	t.Depth = o.Whole("depth")
	for _, it := range o.Items("of", 2) {
		of := r.object(it.Node, it.Path, "column", "bins", "edges")
		of.Require("column")
		axis := study.Axis{Column: of.name("column"), Bins: of.Whole("bins")}
		for _, edge := range of.Items("edges", sketch.MaxCountBins-1) {
			axis.Edges = append(axis.Edges, r.Number(edge))
		}
		t.Of = append(t.Of, axis)
	}
	return t
}

func encodeTable(e *schema.Encoder, t study.Table) {
	e.Whole("sketch.table.of", len(t.Of))
	e.Whole("sketch.table.depth", t.Depth)
	for _, a := range t.Of {
		e.Text("sketch.table.column", a.Column)
		e.Whole("sketch.table.bins", a.Bins)
		e.Whole("sketch.table.edges", len(a.Edges))
		for _, x := range a.Edges {
			e.Real("sketch.table.edge", x)
		}
	}
}

// validateCounts checks a sketch of counts.
func (r *reader) validateCounts(s *study.Study, i int) {
	path, before := fmt.Sprintf("sketches[%d]", i), r.Failures
	switch {
	case s.Privacy.Mechanism == dp.RandomisedResponse:
		r.Fail(path+".side", "counts is refused under randomised-response, which flips bits before they are sketched").Hint = "take laplace or gaussian under unit: record"
	case s.Privacy.Unit == dp.Attribute:
		r.Fail(path+".side", "counts is refused under unit attribute: it is for whole records").Hint = "take unit: record, which protects more for less"
	case s.Records.Missing == study.MissingCentre:
		r.Fail("records.missing", "centre is refused beside counts, which would count absent values as the centre").Hint = "use count, which gives them cells of their own, or refuse"
	case !r.Given(path + ".tables"):
		r.Fail(path+".tables", "is missing").Hint = "what records are counted by, like [{of: [{column: region}]}]"
	case len(s.Sketches[i].Tables) == 0:
		r.Fail(path+".tables", "lists no table").Hint = "like [{of: [{column: region}]}]"
	}
	for j, t := range s.Sketches[i].Tables {
		r.validateTable(s, t, fmt.Sprintf("%s.tables[%d]", path, j))
	}
	if r.Failures > before || slices.ContainsFunc(s.Sketches[i].Tables, func(t study.Table) bool { return !s.Countable(t) }) {
		return
	}
	tables, cells := 0, 0
	for j, t := range s.CountTables(i) {
		at := fmt.Sprintf("%s.tables[%d]", path, j)
		for k, a := range t.Axes {
			if tooFine(a) {
				r.Fail(fmt.Sprintf("%s.of[%d]", at, k), "has bins narrower than a step of %d bits", s.ReadBits()).Hint = "take fewer bins, or more bits"
				return
			}
		}
		tables, cells = tables+t.Tables(), cells+t.Cells()
		if cells > sketch.MaxCounts || tables > sketch.MaxCountTables {
			r.Fail(at, "with this one a record is counted in %d tables of %d cells, %s; at most %d tables and %d cells are possible", tables, cells, s.Sizes(int64(cells), int64(cells)), sketch.MaxCountTables, sketch.MaxCounts).Hint = "take fewer bins, or fewer tables: the noise of a count grows with their number"
			return
		}
	}
}

// tooFine reports whether two edges of an axis are one integer.
func tooFine(a sketch.CountAxis) bool {
	for i, edge := range a.Edges {
		if i > 0 && edge <= a.Edges[i-1] {
			return true
		}
	}
	return false
}

// validateTable checks one table but for its size.
func (r *reader) validateTable(s *study.Study, t study.Table, path string) {
	if len(t.Of) == 0 {
		if r.Given(path + ".of") {
			r.Fail(path+".of", "lists no column").Hint = "like [{column: region}], or two, which are crossed"
		}
		return
	}
	if len(t.Of) == 2 && t.Of[0].Column == t.Of[1].Column {
		r.Fail(path+".of[1].column", "%q is crossed with itself", t.Of[1].Column)
	}
	for k, a := range t.Of {
		at := fmt.Sprintf("%s.of[%d]", path, k)
		c := slices.IndexFunc(s.Columns, func(c study.Column) bool { return c.Name == a.Column })
		if c < 0 {
			r.Fail(at+".column", "%q is no column of this study", a.Column)
			continue
		}
		if s.Columns[c].Kind != study.Numeric {
			for _, key := range []string{"bins", "edges"} {
				if r.Given(at + "." + key) {
					r.Fail(at+"."+key, "does not belong here: it cuts numbers, and a %s column has a cell for each value", s.Columns[c].Kind).Hint = "remove the key"
				}
			}
		} else {
			r.validateBins(s.Columns[c], a, t.Depth, at)
		}
		if r.Given(path+".depth") && (len(t.Of) != 1 || s.Columns[c].Kind != study.Numeric || t.Depth < 1 || t.Depth > study.MaxCountDepth) {
			r.Fail(path+".depth", "%d: want 1 to %d, of a single column of numbers", t.Depth, study.MaxCountDepth).Hint = "it counts a number in 2, 4, … 2^depth bins, for quantiles"
		}
	}
}

// validateBins checks how a column of numbers is cut.
func (r *reader) validateBins(c study.Column, a study.Axis, depth int, path string) {
	ways := 0
	for _, has := range []bool{r.Given(path + ".bins"), r.Given(path + ".edges"), depth > 0} {
		if has {
			ways++
		}
	}
	if ways != 1 {
		r.Fail(path, "a column of numbers is cut by bins, by edges or by the depth of its table, one of the three").Hint = "like bins: 10, or edges: [18, 40, 65]"
		return
	}
	if r.Given(path + ".bins") {
		if a.Bins < 2 || a.Bins > sketch.MaxCountBins {
			r.Fail(path+".bins", "%d is not between 2 and %d", a.Bins, sketch.MaxCountBins)
		}
		return
	}
	if r.Given(path+".edges") && len(a.Edges) == 0 {
		r.Fail(path+".edges", "lists no edge").Hint = "like [18, 40, 65]: four bins, of which the first and the last have no end"
	}
	least, most := c.Scale.Ends()
	transform := c.Scale.Transform()
	for k, x := range a.Edges {
		if k > 0 && x <= a.Edges[k-1] {
			r.Fail(fmt.Sprintf("%s.edges[%d]", path, k), "%v is not above the edge before it", x)
		}
		if y := transform.Apply(x); transform.IsLog() && x <= 0 || y <= least || y >= most {
			r.Fail(fmt.Sprintf("%s.edges[%d]", path, k), "%v is not between %.6g and %.6g, where values of %q can be told apart", x, transform.Invert(least), transform.Invert(most), c.Name)
		}
	}
}
