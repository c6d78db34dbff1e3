package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
)

// rest shows the tables of an answer that nothing else has shown, and intervals if these hold
// numbers. So what a kind adds to its document is on the page even before there is code to explain
// it.
func (s *section) rest() {
	for _, t := range s.a.Tables() {
		if s.skipped[t.Name] {
			continue
		}
		t = withoutParts(t)
		caption := strings.ReplaceAll(t.Name, "_", " ")
		if kind := strings.ReplaceAll(string(s.a.Kind), "-", "_"); strings.HasPrefix(t.Name, kind) { // k-means, not k means
			caption = string(s.a.Kind) + strings.ReplaceAll(strings.TrimPrefix(t.Name, kind), "_", " ")
		}
		if rows := numbersOf(t); len(rows) > 1 {
			s.forest(strings.ReplaceAll(t.Name, "_", "-"), caption, block.Forest{Rows: rows, Common: ofOneSize(rows)})
		}
		s.tables = append(s.tables, tableOf(caption, t))
	}
}

// withoutParts leaves out what a table says of a feature beside its name: its position, party,
// column and value.
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

// numberColumns is the number of columns of a number in a table.
const numberColumns = 6

// numberColumn reports whether the columns of a number begin at column at.
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
func numberAt(row []any, at int) block.Number {
	n := analysis.Number{Undefined: "undefined"}
	for i, into := range []**float64{&n.Estimate, &n.StandardError, &n.Low, &n.High, &n.PopulationLow, &n.PopulationHigh} {
		if x, ok := row[at+i].(float64); ok {
			*into = &x
		}
	}
	return n.Shown()
}

// tableOf shows a table: numbers with their intervals for these records in one cell, and intervals
// for people like these in a column beside it if there are any.
func tableOf(caption string, t analysis.Table) block.Table {
	out := block.Table{Caption: caption, Of: len(t.Rows), Folded: true}
	var starts []int
	people := map[int]bool{} // by index of a number's first column
	for at := 0; at < len(t.Columns); at++ {
		starts = append(starts, at)
		c := t.Columns[at]
		name := strings.ReplaceAll(c.Name, "_", " ")
		if !numberColumn(t, at) {
			out.Columns = append(out.Columns, block.Column{Name: name, Number: c.Type == analysis.Integer || c.Type == analysis.Real})
			continue
		}
		out.Columns = append(out.Columns, block.Numbers(name+", "+block.ForRecords))
		people[at] = slices.ContainsFunc(t.Rows, func(row []any) bool { return numberAt(row, at).People })
		if people[at] {
			out.Columns = append(out.Columns, block.Numbers(name+", "+block.ForPeople))
		}
		at += numberColumns - 1
	}
	for _, row := range t.Rows[:min(len(t.Rows), block.MostRows)] {
		var cells []block.Cell
		for _, at := range starts {
			if !numberColumn(t, at) {
				cells = append(cells, block.Cell{Text: cellText(row[at])})
				continue
			}
			n := numberAt(row, at)
			if cells = append(cells, block.Cell{Text: n.String()}); people[at] {
				cells = append(cells, block.Cell{Text: n.PeopleInterval()})
			}
		}
		out.Rows = append(out.Rows, cells)
	}
	if len(t.Rows) == 1 {
		return upright(out)
	}
	return out
}

// upright shows the only row of a table as lines of name and value.
func upright(t block.Table) block.Table {
	out := block.Table{Caption: t.Caption, Folded: t.Folded, Columns: []block.Column{block.Words("what"), block.Numbers("value")}}
	for i, c := range t.Columns {
		if value := t.Rows[0][i]; value.Text != "" { // empty: why a number is undefined, for a defined one
			out.Rows = append(out.Rows, []block.Cell{{Text: c.Name}, value})
		}
	}
	return out
}

func cellText(value any) string {
	switch x := value.(type) {
	case nil:
		return "–"
	case float64:
		return block.Digits(x, 5)
	case bool:
		if x {
			return "yes"
		}
		return "no"
	}
	return strings.ReplaceAll(fmt.Sprint(value), "\n", " ")
}

// numbersOf returns the numbers of a table with their names; nil if there are none. The name is
// what the row says in words, or else its position; in a table with one row it is the column's.
func numbersOf(t analysis.Table) []block.ForestRow {
	var out []block.ForestRow
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
			out = append(out, block.ForestRow{Name: strings.Join(words, ", "), Number: numberAt(row, at)})
		}
	}
	return out
}
