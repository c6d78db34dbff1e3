package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// mostRows bounds the rows of one table of a page; the files of a result have them all.
const mostRows = 150

// Grid is a table as a page shows it.
type Grid struct {
	Caption string
	Caution string // to be read before the numbers
	Columns []GridColumn
	Rows    [][]string // cells by Columns
	Omitted int        // rows that are left out
}

// GridColumn heads a column.
type GridColumn struct {
	Name   string
	Number bool // aligned to the right
}

// withoutParts leaves out what a table says of a feature beside its name: where it stands,
// its party, column and value.
func withoutParts(t analysis.Table) analysis.Table {
	at := slices.IndexFunc(t.Columns, func(c analysis.Column) bool { return c.Name == "feature" })
	if at < 0 {
		return t
	}
	from, to := at, at+4
	if at > 0 && t.Columns[at-1].Name == "i" {
		from--
	}
	out := analysis.Table{Name: t.Name, Columns: slices.Concat(t.Columns[:from], t.Columns[at:at+1], t.Columns[to:])}
	for _, row := range t.Rows {
		out.Rows = append(out.Rows, slices.Concat(row[:from], row[at:at+1], row[to:]))
	}
	return out
}

// numberColumns is how many columns a number has in a table.
const numberColumns = 6

// numberColumn reports whether the columns of a number begin at one of a table's.
func numberColumn(t analysis.Table, at int) bool {
	if at+numberColumns > len(t.Columns) || t.Columns[at].Type != analysis.Real {
		return false
	}
	prefix := t.Columns[at].Name + "_"
	if t.Columns[at].Name == "estimate" {
		prefix = ""
	}
	for i, name := range []string{"standard_error", "low", "high", "population_low", "population_high"} {
		if t.Columns[at+1+i].Name != prefix+name {
			return false
		}
	}
	return true
}

// numberAt reads a number from a row.
func numberAt(row []any, at int) analysis.Number {
	n := analysis.Number{Undefined: "undefined"}
	for i, into := range []**float64{&n.Estimate, &n.StandardError, &n.Low, &n.High, &n.PopulationLow, &n.PopulationHigh} {
		if x, ok := row[at+i].(float64); ok {
			*into = &x
		}
	}
	return n
}

// gridOf shows a table: numbers with their intervals for these records in one cell, and
// those for people like these beside it where there are some.
func gridOf(caption string, t analysis.Table) Grid {
	g := Grid{Caption: caption}
	var starts []int
	people := map[int]bool{} // by where a number starts
	for at := 0; at < len(t.Columns); at++ {
		starts = append(starts, at)
		c := t.Columns[at]
		name := strings.ReplaceAll(c.Name, "_", " ")
		if !numberColumn(t, at) {
			g.Columns = append(g.Columns, GridColumn{name, c.Type == analysis.Integer || c.Type == analysis.Real})
			continue
		}
		g.Columns = append(g.Columns, GridColumn{name + ", " + analysis.ForRecords, true})
		people[at] = slices.ContainsFunc(t.Rows, func(row []any) bool { return peopleText(numberAt(row, at)) != "" })
		if people[at] {
			g.Columns = append(g.Columns, GridColumn{name + ", " + analysis.ForPeople, true})
		}
		at += numberColumns - 1
	}
	for _, row := range t.Rows[:min(len(t.Rows), mostRows)] {
		var cells []string
		for _, at := range starts {
			if numberColumn(t, at) {
				cells = append(cells, numberText(numberAt(row, at)))
				if people[at] {
					cells = append(cells, peopleText(numberAt(row, at)))
				}
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
	out := Grid{Caption: g.Caption, Caution: g.Caution, Columns: []GridColumn{{"what", false}, {"value", true}}}
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
			out = append(out, entry{name: strings.Join(words, ", "), Number: numberAt(row, at)})
		}
	}
	return out
}

// pairGrid shows pairs, the clearest first.
func pairGrid(caption string, a analysis.Analysis, pairs []analysis.Pair) Grid {
	g := Grid{Caption: caption, Columns: []GridColumn{{"of", false}, {"and", false}, {"estimate", true}, {"interval, " + analysis.ForRecords, true}}}
	people := slices.ContainsFunc(pairs, func(p analysis.Pair) bool { return peopleText(p.Number) != "" })
	if people {
		g.Columns = append(g.Columns, GridColumn{analysis.ForPeople, true})
	}
	g.Columns = append(g.Columns, GridColumn{"standard error", true})
	sorted := a.Clearest(pairs)
	for _, p := range sorted[:min(len(sorted), mostRows)] {
		other := "itself"
		if p.I != p.J {
			other = a.Features[p.J].Name()
		}
		number, between, deviation := "undefined", p.Undefined, ""
		if p.Estimate != nil {
			number, between, _ = strings.Cut(numberText(p.Number), " ")
			deviation = fmt.Sprintf("%.2g", *p.StandardError)
		}
		if a.Unanswered(p.Number) {
			number = "no answer"
		}
		row := []string{a.Features[p.I].Name(), other, number, between}
		if people {
			row = append(row, peopleText(p.Number))
		}
		g.Rows = append(g.Rows, append(row, deviation))
	}
	g.Omitted = len(sorted) - len(g.Rows)
	return g
}
