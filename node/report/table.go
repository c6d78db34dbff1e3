package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// mostRows bounds the rows of one table of a page; the files of a result have them all.
const mostRows = 150

// Grid is a table as a page shows it.
type Grid struct {
	Caption string
	Columns []GridColumn
	Rows    [][]string // cells by Columns
	Omitted int        // rows that are left out
}

// GridColumn heads a column.
type GridColumn struct {
	Name   string
	Number bool // aligned to the right
}

// numberColumn reports whether the four columns of a number begin at one of a table's.
func numberColumn(t analysis.Table, at int) bool {
	if at+4 > len(t.Columns) || t.Columns[at].Type != analysis.Real {
		return false
	}
	prefix := t.Columns[at].Name + "_"
	if t.Columns[at].Name == "estimate" {
		prefix = ""
	}
	for i, name := range []string{"standard_error", "low", "high"} {
		if t.Columns[at+1+i].Name != prefix+name {
			return false
		}
	}
	return true
}

// numberAt reads a number from a row.
func numberAt(row []any, at int) analysis.Number {
	n := analysis.Number{Undefined: "undefined"}
	for i, into := range []**float64{&n.Estimate, &n.StandardError, &n.Low, &n.High} {
		if x, ok := row[at+i].(float64); ok {
			*into = &x
		}
	}
	return n
}

// gridOf shows a table: numbers with their intervals in one cell.
func gridOf(caption string, t analysis.Table) Grid {
	g := Grid{Caption: caption}
	var starts []int
	for at := 0; at < len(t.Columns); at++ {
		starts = append(starts, at)
		c := t.Columns[at]
		g.Columns = append(g.Columns, GridColumn{strings.ReplaceAll(c.Name, "_", " "), c.Type == analysis.Integer || c.Type == analysis.Real})
		if numberColumn(t, at) {
			at += 3
		}
	}
	for _, row := range t.Rows[:min(len(t.Rows), mostRows)] {
		var cells []string
		for _, at := range starts {
			if numberColumn(t, at) {
				cells = append(cells, numberText(numberAt(row, at)))
			} else {
				cells = append(cells, cellText(row[at]))
			}
		}
		g.Rows = append(g.Rows, cells)
	}
	g.Omitted = len(t.Rows) - len(g.Rows)
	if len(t.Rows) == 1 {
		return upright(g)
	}
	return g
}

// upright shows the one row of a table as lines of name and value.
func upright(g Grid) Grid {
	out := Grid{Caption: g.Caption, Columns: []GridColumn{{"what", false}, {"value", true}}}
	for i, c := range g.Columns {
		if value := g.Rows[0][i]; value != "" { // why a number is undefined, where it is not
			out.Rows = append(out.Rows, []string{c.Name, value})
		}
	}
	return out
}

func cellText(value any) string {
	switch x := value.(type) {
	case nil:
		return "–"
	case float64:
		return strings.ReplaceAll(strconv.FormatFloat(x, 'g', 5, 64), "-", "−")
	case bool:
		if x {
			return "yes"
		}
		return "no"
	}
	return strings.ReplaceAll(fmt.Sprint(value), "\n", " ")
}

// entriesOf are the numbers of a table under their names; nil where it has none. The name
// is what the row says in words, or else where it stands, and of the only row its column's.
func entriesOf(t analysis.Table) []entry {
	var out []entry
	for at := range t.Columns {
		if !numberColumn(t, at) {
			continue
		}
		for _, row := range t.Rows {
			var words, places []string
			for i, c := range t.Columns[:at] {
				switch text := cellText(row[i]); c.Type {
				case analysis.Text:
					if text != "" {
						words = append(words, text)
					}
				case analysis.Integer:
					places = append(places, c.Name+" "+text)
				}
			}
			switch {
			case len(t.Rows) == 1:
				words = nil
			case len(words) == 0:
				words = places
			}
			if name := t.Columns[at].Name; name != "estimate" || len(words) == 0 {
				words = append(words, strings.ReplaceAll(name, "_", " "))
			}
			out = append(out, entry{strings.Join(words, ", "), numberAt(row, at)})
		}
	}
	return out
}

// pairGrid shows pairs, the clearest first.
func pairGrid(caption string, a analysis.Analysis, pairs []analysis.Pair) Grid {
	g := Grid{Caption: caption, Columns: []GridColumn{{"of", false}, {"and", false}, {"estimate", true}, {"interval", true}, {"standard error", true}}}
	sorted := clearest(pairs)
	for _, p := range sorted[:min(len(sorted), mostRows)] {
		other := "itself"
		if p.I != p.J {
			other = a.Features[p.J].Name()
		}
		row := []string{a.Features[p.I].Name(), other, "undefined", p.Undefined, ""}
		if p.Estimate != nil {
			number, between, _ := strings.Cut(numberText(p.Number), " ")
			row[2], row[3], row[4] = number, between, fmt.Sprintf("%.2g", *p.StandardError)
		}
		g.Rows = append(g.Rows, row)
	}
	g.Omitted = len(sorted) - len(g.Rows)
	return g
}
