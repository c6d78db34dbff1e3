package study

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Table is a table of a counts sketch: records by one column, or by two crossed.
type Table struct {
	Of    []Axis // one or two
	Depth int    // a tree of tables of a number, with 2, 4, … 2^Depth bins of equal width; 0: one table
}

// Axis says into which cells a column's values are put. A category or a bit has a cell for each
// value. A number has bins, of which the first and the last are open-ended. If absent values are
// counted, they have the last cell.
type Axis struct {
	Column string
	Bins   int       // of a number: number of bins of equal width, after its transform; 0 with edges, or in a tree
	Edges  []float64 // of a number: where bins begin; an edge belongs to the bin above it
}

// MaxCountDepth bounds the depth of a tree of tables.
const MaxCountDepth = 12

// ofCounts returns the row of counts of records by the cells of tables.
func ofCounts() additive {
	return additive{
		side: sketch.Counts, label: true, absent: "Counts have cells of their own for absent values.",
		project: func(s *Study, index int) {
			if s.Partition != Horizontal || slices.ContainsFunc(s.Sketches[index].Tables, func(t Table) bool { return !s.Countable(t) }) {
				return // an error elsewhere
			}
			_, n := s.CountSize(index)
			s.Sketches[index].Projection = projection.Spec{Family: projection.Identity, K: n}
		},
		limit:  func(s *Study, _ int, bound int64) int64 { return bound / s.CountWeight() },
		method: func(sk Sketch) string { return fmt.Sprintf("%d counts", sk.Projection.K) },
		says:   (*Study).describeCounts,
	}
}

// Countable reports whether a table's columns exist with their values, and its depth and bins are
// within the limits.
func (s *Study) Countable(t Table) bool {
	return len(t.Of) > 0 && t.Depth >= 0 && t.Depth <= MaxCountDepth && !slices.ContainsFunc(t.Of, func(a Axis) bool {
		return a.Bins < 0 || a.Bins > sketch.MaxCountBins || !slices.ContainsFunc(s.Columns, func(c Column) bool {
			return c.Name == a.Column && (c.Kind != Categorical || len(c.Values) > 0)
		})
	})
}

// CountWeight returns what a record adds to each of its cells.
func (s *Study) CountWeight() int64 {
	if s.Privacy.Mechanism == dp.Gaussian {
		return dp.CountWeight
	}
	return 1
}

// CountTables returns the tables of a counts sketch, by its index, for records as they are read.
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

// CountSize returns the number of tables of a counts sketch and of their cells; a record is in each
// table.
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
		for i := int64(1); i < bins; i++ { // the smallest integer that is not below the edge
			out.Edges = append(out.Edges, bits.One()-of+(i*of+bins-1)/bins)
		}
	}
	return out
}

// AxisCell is a cell of an axis: records with one value, with values from From to below To, or
// without a value.
type AxisCell struct {
	Value    string  // of a category, or a bit
	From, To float64 // of a number, in the column's own units; infinite at an open end
	Absent   bool
}

// AxisCells returns the cells of an axis of a counts sketch, by its index.
func (s *Study) AxisCells(index int, t Table, a Axis) (out []AxisCell) {
	c := s.column(a.Column)
	switch {
	case c.Kind != Numeric:
		for _, value := range c.Classes() {
			out = append(out, AxisCell{Value: value})
		}
	default:
		from := math.Inf(-1)
		for i, edge := range s.countAxis(index, t, a).Edges {
			to := s.edge(c, edge)
			switch {
			case len(a.Edges) > 0:
				to = a.Edges[i]
			case a.Bins > 0: // without the rounding of encoded values
				least, most := c.Scale.Ends()
				n, at := float64(a.Bins), float64(i+1)
				to = c.Scale.Transform().Invert((float64(least*(n-at)) + float64(most*at)) / n)
			}
			out = append(out, AxisCell{From: from, To: to})
			from = to
		}
		out = append(out, AxisCell{From: from, To: math.Inf(1)})
	}
	if s.CountsAbsent(index) {
		out = append(out, AxisCell{Absent: true})
	}
	return out
}

// edge returns the smallest value of a column that is encoded as this integer or a larger one. That
// is half a step below the value that the integer stands for, as values are rounded.
func (s *Study) edge(c Column, encoded int64) float64 {
	return c.Scale.Transform().Invert(c.Scale.Origin() + float64((float64(encoded)-0.5)*c.Scale.Step(s.ReadBits())))
}

// column returns the study's column with this name, which must exist.
func (s *Study) column(name string) Column {
	return s.Columns[slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })]
}

// Edges returns the edges of the bins of a table of one number. The first and the last are the ends
// of the range: bounds, or three spreads. Open says that the first and the last bin also hold
// values beyond the range.
func (s *Study) Edges(index int, t Table) (edges []float64, open bool) {
	c := s.column(t.Of[0].Column)
	least, most := c.Scale.Ends()
	transform := c.Scale.Transform()
	edges = append(edges, transform.Invert(least))
	for _, edge := range s.countAxis(index, t, t.Of[0]).Edges {
		edges = append(edges, s.edge(c, edge))
	}
	edges = append(edges, transform.Invert(most))
	if lo, hi := c.Scale.Declared(); !isCentred(c) {
		edges[0], edges[len(edges)-1] = lo, hi
	}
	return edges, isCentred(c)
}

// isCentred reports whether a column has a centre and a spread.
func isCentred(c Column) bool {
	_, _, ok := c.Scale.CentreSpread()
	return ok
}

// Name returns the table's name for people.
func (t Table) Name() string {
	out := t.Of[0].Column
	if len(t.Of) == 2 {
		out += " by " + t.Of[1].Column
	}
	return out
}

// describeCounts describes a counts sketch.
func (s *Study) describeCounts(i int, noisy string) string {
	tables, cells := s.CountSize(i)
	n := int64(cells)
	return fmt.Sprintf("counts, %d integers, %s, however many records there are: %s numbers of your records by the cells of %d tables. Each record is in one cell of each table; noise hides in which. The tables are %s",
		n, s.Sizes(n, n), noisy, tables, s.tableNames(i))
}

// tableNames lists the tables of a counts sketch for people.
func (s *Study) tableNames(index int) (out string) {
	const most = 12
	for i, t := range s.Sketches[index].Tables {
		if i == most {
			return fmt.Sprintf("%s and %d more", out, len(s.Sketches[index].Tables)-most)
		}
		if i > 0 {
			out += ", "
		}
		out += t.Name()
		if t.Depth > 0 {
			out += fmt.Sprintf(" (%d tables, of 2 to %d bins)", t.Depth, 1<<t.Depth)
		}
	}
	return out
}
