package file

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// ofCounts returns the row of counts of records by the cells of tables.
func ofCounts() additive {
	return additive{
		side: sketch.Counts, check: (*reader).validateCounts,
		keys: schema.Keys[study.Sketch]{{
			Name: "tables", Path: "sketch.tables", Doc: "counts, and needed there: what records are counted by",
			Form: schema.List(func(sk *study.Sketch) *[]study.Table { return &sk.Tables }, schema.Table(schema.Itself[study.Table], tableKeys()), 0, sketch.MaxCountTables).
				Encoded(func(e *schema.Encoder, _ string, sk *study.Sketch) { // one table after another
					keys := tableKeys()
					for i := range sk.Tables {
						keys.Encode(e, &sk.Tables[i])
					}
				}),
		}},
	}
}

func tableKeys() schema.Keys[study.Table] {
	type T = study.Table
	return schema.Keys[T]{
		{
			Name: "of", Required: true, Doc: "one column, or two that are crossed",
			Form: schema.List(func(t *T) *[]study.Axis { return &t.Of }, schema.Table(schema.Itself[study.Axis], axisKeys()), 0, 2).Encoded(func(e *schema.Encoder, _ string, t *T) {
				e.Whole("sketch.table.of", len(t.Of))
				e.Whole("sketch.table.depth", t.Depth)
				keys := axisKeys()
				for i := range t.Of {
					keys.Encode(e, &t.Of[i])
				}
			}),
		},
		{
			Name: "depth", Doc: "of one column of numbers: it is counted in 2, 4, … 2^depth bins of equal width, for quantiles", Unset: "no such tree",
			Form: anyWhole(func(t *T) *int { return &t.Depth }, fmt.Sprintf("whole number, 1 to %d", study.MaxCountDepth)),
		},
	}
}

func axisKeys() schema.Keys[study.Axis] {
	type A = study.Axis
	return schema.Keys[A]{
		{Name: "column", Required: true, Path: "sketch.table.column", Doc: "its name. A category and a bit have a cell for each value", Form: schema.Text(func(a *A) *string { return &a.Column }, checkName)},
		{
			Name: "bins", Path: "sketch.table.bins", Doc: "numeric: so many of equal width between the bounds, or the three spreads, after the transform; the first and the last have no end",
			Form: schema.Whole(func(a *A) *int { return &a.Bins }, 2, sketch.MaxCountBins),
		},
		{
			Name: "edges", Doc: "numeric: where one bin ends and the next begins, the edge being in the latter; the first and the last have no end",
			Form: schema.List(func(a *A) *[]float64 { return &a.Edges }, schema.Real(schema.Itself[float64], "number"), 0, sketch.MaxCountBins-1).Is("list of numbers, increasing, between the bounds or within three spreads").Encoded(func(e *schema.Encoder, _ string, a *A) {
				e.Whole("sketch.table.edges", len(a.Edges))
				for _, x := range a.Edges {
					e.Real("sketch.table.edge", x)
				}
			}),
		},
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

// tooFine reports whether two edges of an axis are encoded as the same integer.
func tooFine(a sketch.CountAxis) bool {
	for i, edge := range a.Edges {
		if i > 0 && edge <= a.Edges[i-1] {
			return true
		}
	}
	return false
}

// validateTable checks one table, except its size.
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

// validateBins checks how a numeric column is binned.
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
