package study

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Table is one of a sketch of counts: records by one column, or by two crossed.
type Table struct {
	Of    []Axis // one or two
	Depth int    // a tree of tables of a number, cut into 2, 4, … 2^Depth bins of equal width; 0: one table
}

// Axis says into which cells a column's values are put. A category and a bit have a cell for each value; a
// number has bins, of which the first and the last have no end. Where absent values are counted they have one,
// the last.
type Axis struct {
	Column string
	Bins   int       // of a number: so many of equal width, after its transform; 0 where there are edges, or a tree
	Edges  []float64 // of a number: where one bin ends and the next begins, with the edge
}

// maxCountDepth is that of a tree of tables.
const maxCountDepth = 12

// ofCounts is the row of numbers of records by the cells of tables.
func ofCounts() additive {
	return additive{
		side: sketch.Counts, label: true, absent: "Counts have cells of their own for absent values.",
		keys: []string{"tables"}, takes: "tables and share",
		read: func(o object, sk *Sketch) {
			o.forbid("clip", "cuts records to a length, and here each counts as one")
			o.forbid("standardise", "belongs to sides columns and moments")
			for _, it := range o.items("tables", sketch.MaxCountTables) {
				sk.Tables = append(sk.Tables, o.r.table(it))
			}
		},
		project: func(s *Study, index int) {
			if s.Partition != Horizontal || slices.ContainsFunc(s.Sketches[index].Tables, func(t Table) bool { return !s.countable(t) }) {
				return // refused
			}
			_, n := s.CountSize(index)
			s.Sketches[index].Projection = projection.Spec{Family: projection.Identity, K: n}
		},
		check: (*reader).validateCounts,
		encode: func(e *encoder, sk Sketch) {
			for _, t := range sk.Tables {
				e.table(t)
			}
		},
		limit:  func(s *Study, _ int, bound int64) int64 { return bound / s.CountWeight() },
		method: func(sk Sketch) string { return fmt.Sprintf("%d counts", sk.Projection.K) },
		says:   (*Study).describeCounts,
	}
}

// table reads one entry of tables.
func (r *reader) table(it item) (t Table) {
	o := r.object(it.node, it.path, "of", "depth")
	o.require("of")
	t.Depth = o.integer("depth")
	for _, it := range o.items("of", 2) {
		of := r.object(it.node, it.path, "column", "bins", "edges")
		of.require("column")
		axis := Axis{Column: of.name("column"), Bins: of.integer("bins")}
		for _, edge := range of.items("edges", sketch.MaxCountBins-1) {
			axis.Edges = append(axis.Edges, r.number(edge))
		}
		t.Of = append(t.Of, axis)
	}
	return t
}

func (e *encoder) table(t Table) {
	e.whole("sketch.table.of", len(t.Of))
	e.whole("sketch.table.depth", t.Depth)
	for _, a := range t.Of {
		e.text("sketch.table.column", a.Column)
		e.whole("sketch.table.bins", a.Bins)
		e.whole("sketch.table.edges", len(a.Edges))
		for _, x := range a.Edges {
			e.real("sketch.table.edge", x)
		}
	}
}

// countable reports whether the columns of a table are there with their values, and cut in bounds.
func (s *Study) countable(t Table) bool {
	return len(t.Of) > 0 && t.Depth >= 0 && t.Depth <= maxCountDepth && !slices.ContainsFunc(t.Of, func(a Axis) bool {
		return a.Bins < 0 || a.Bins > sketch.MaxCountBins || !slices.ContainsFunc(s.Columns, func(c Column) bool {
			return c.Name == a.Column && (c.Kind != Categorical || len(c.Values) > 0)
		})
	})
}

// CountWeight is what a record adds to each of its cells.
func (s *Study) CountWeight() int64 {
	if s.Privacy.Mechanism == dp.Gaussian {
		return dp.CountWeight
	}
	return 1
}

// CountTables are the tables of a sketch of counts, by its index, for records as they are read.
func (s *Study) CountTables(index int) (out []sketch.CountTable) {
	for _, t := range s.Sketches[index].Tables {
		table := sketch.CountTable{Depth: t.Depth}
		for _, a := range t.Of {
			table.Axes = append(table.Axes, s.countAxis(index, t, a))
		}
		out = append(out, table)
	}
	return out
}

// CountSize is how many tables of a sketch of counts a record is in, and how many cells these have.
func (s *Study) CountSize(index int) (tables, cells int) {
	for _, t := range s.CountTables(index) {
		tables, cells = tables+t.Tables(), cells+t.Cells()
	}
	return tables, cells
}

func (s *Study) countAxis(index int, t Table, a Axis) sketch.CountAxis {
	out := sketch.CountAxis{Entries: 1, Absent: s.CountsAbsent(index)}
	features := s.Features(0, index)
	out.At = slices.IndexFunc(features, func(f Feature) bool { return s.Columns[f.Column].Name == a.Column })
	c := s.Columns[features[out.At].Column]
	bits := s.ReadBits()
	switch {
	case c.Kind == Categorical:
		out.Entries = len(c.Values)
	case c.Kind == Binary:
		out.Edges = []int64{bits.One()}
	case len(a.Edges) > 0:
		for _, x := range a.Edges {
			v, _ := c.Scale.Encode(x, bits)
			out.Edges = append(out.Edges, v)
		}
	default:
		bins := int64(a.Bins)
		if t.Depth > 0 {
			bins = 1 << t.Depth
		}
		of := c.Scale.Range(bits)
		for i := int64(1); i < bins; i++ { // the first integer that is not below the edge
			out.Edges = append(out.Edges, bits.One()-of+(i*of+bins-1)/bins)
		}
	}
	return out
}

// validateCounts checks a sketch of counts.
func (r *reader) validateCounts(s *Study, i int) {
	path, before := fmt.Sprintf("sketches[%d]", i), r.failures
	switch {
	case s.Privacy.Mechanism == dp.RandomisedResponse:
		r.fail(path+".side", "counts is refused under randomised-response, which flips bits before they are sketched").Hint = "take laplace or gaussian under unit: record"
	case s.Privacy.Unit == dp.Attribute:
		r.fail(path+".side", "counts is refused under unit attribute: it is for whole records").Hint = "take unit: record, which protects more for less"
	case s.Records.Missing == MissingCentre:
		r.fail("records.missing", "centre is refused beside counts, which would count absent values as the centre").Hint = "use count, which gives them cells of their own, or refuse"
	case !r.given(path + ".tables"):
		r.fail(path+".tables", "is missing").Hint = "what records are counted by, like [{of: [{column: region}]}]"
	case len(s.Sketches[i].Tables) == 0:
		r.fail(path+".tables", "lists no table").Hint = "like [{of: [{column: region}]}]"
	}
	for j, t := range s.Sketches[i].Tables {
		r.validateTable(s, t, fmt.Sprintf("%s.tables[%d]", path, j))
	}
	if r.failures > before || slices.ContainsFunc(s.Sketches[i].Tables, func(t Table) bool { return !s.countable(t) }) {
		return
	}
	tables, cells := 0, 0
	for j, t := range s.CountTables(i) {
		at := fmt.Sprintf("%s.tables[%d]", path, j)
		for k, a := range t.Axes {
			if s.tooFine(a) {
				r.fail(fmt.Sprintf("%s.of[%d]", at, k), "has bins narrower than a step of %d bits", s.ReadBits()).Hint = "take fewer bins, or more bits"
				return
			}
		}
		tables, cells = tables+t.Tables(), cells+t.Cells()
		if cells > sketch.MaxCounts || tables > sketch.MaxCountTables {
			r.fail(at, "with this one a record is counted in %d tables of %d cells, %s; at most %d tables and %d cells are possible", tables, cells, s.sizes(int64(cells), int64(cells)), sketch.MaxCountTables, sketch.MaxCounts).Hint = "take fewer bins, or fewer tables: the noise of a count grows with their number"
			return
		}
	}
}

// tooFine reports whether two edges of an axis are one integer.
func (s *Study) tooFine(a sketch.CountAxis) bool {
	for i, edge := range a.Edges {
		if i > 0 && edge <= a.Edges[i-1] {
			return true
		}
	}
	return false
}

// validateTable checks one table but for its size.
func (r *reader) validateTable(s *Study, t Table, path string) {
	if len(t.Of) == 0 {
		if r.given(path + ".of") {
			r.fail(path+".of", "lists no column").Hint = "like [{column: region}], or two, which are crossed"
		}
		return
	}
	if len(t.Of) == 2 && t.Of[0].Column == t.Of[1].Column {
		r.fail(path+".of[1].column", "%q is crossed with itself", t.Of[1].Column)
	}
	for k, a := range t.Of {
		at := fmt.Sprintf("%s.of[%d]", path, k)
		c := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == a.Column })
		if c < 0 {
			r.fail(at+".column", "%q is no column of this study", a.Column)
			continue
		}
		if s.Columns[c].Kind != Numeric {
			for _, key := range []string{"bins", "edges"} {
				if r.given(at + "." + key) {
					r.fail(at+"."+key, "does not belong here: it cuts numbers, and a %s column has a cell for each value", s.Columns[c].Kind).Hint = "remove the key"
				}
			}
		} else {
			r.validateBins(s.Columns[c], a, t.Depth, at)
		}
		if r.given(path+".depth") && (len(t.Of) != 1 || s.Columns[c].Kind != Numeric || t.Depth < 1 || t.Depth > maxCountDepth) {
			r.fail(path+".depth", "%d: want 1 to %d, of a single column of numbers", t.Depth, maxCountDepth).Hint = "it counts a number in 2, 4, … 2^depth bins, for quantiles"
		}
	}
}

// validateBins checks how a column of numbers is cut.
func (r *reader) validateBins(c Column, a Axis, depth int, path string) {
	ways := 0
	for _, has := range []bool{r.given(path + ".bins"), r.given(path + ".edges"), depth > 0} {
		if has {
			ways++
		}
	}
	if ways != 1 {
		r.fail(path, "a column of numbers is cut by bins, by edges or by the depth of its table, one of the three").Hint = "like bins: 10, or edges: [18, 40, 65]"
		return
	}
	if r.given(path + ".bins") {
		if a.Bins < 2 || a.Bins > sketch.MaxCountBins {
			r.fail(path+".bins", "%d is not between 2 and %d", a.Bins, sketch.MaxCountBins)
		}
		return
	}
	if r.given(path+".edges") && len(a.Edges) == 0 {
		r.fail(path+".edges", "lists no edge").Hint = "like [18, 40, 65]: four bins, of which the first and the last have no end"
	}
	least, most := c.Scale.Ends()
	transform := c.Scale.Transform()
	for k, x := range a.Edges {
		if k > 0 && x <= a.Edges[k-1] {
			r.fail(fmt.Sprintf("%s.edges[%d]", path, k), "%v is not above the edge before it", x)
		}
		if y := transform.Apply(x); transform.IsLog() && x <= 0 || y <= least || y >= most {
			r.fail(fmt.Sprintf("%s.edges[%d]", path, k), "%v is not between %.6g and %.6g, where values of %q can be told apart", x, transform.Invert(least), transform.Invert(most), c.Name)
		}
	}
}

// describeCounts says what a sketch of counts is.
func (s *Study) describeCounts(i int, noisy string) string {
	tables, cells := s.CountSize(i)
	n := int64(cells)
	return fmt.Sprintf("counts, %d integers, %s, however many records there are: %s numbers of your records by the cells of %d tables. Each record is in one cell of each table; noise hides in which. The tables are %s",
		n, s.sizes(n, n), noisy, tables, s.tableNames(i))
}

// tableNames lists the tables of a sketch of counts for people.
func (s *Study) tableNames(index int) (out string) {
	const most = 12
	for i, t := range s.Sketches[index].Tables {
		if i == most {
			return fmt.Sprintf("%s and %d more", out, len(s.Sketches[index].Tables)-most)
		}
		if i > 0 {
			out += ", "
		}
		out += t.Of[0].Column
		if len(t.Of) == 2 {
			out += " by " + t.Of[1].Column
		}
		if t.Depth > 0 {
			out += fmt.Sprintf(" (%d tables, of 2 to %d bins)", t.Depth, 1<<t.Depth)
		}
	}
	return out
}
