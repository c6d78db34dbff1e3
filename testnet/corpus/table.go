package corpus

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table is a data set as text, records in the order of its file.
type Table struct {
	Names []string   // of the columns
	Rows  [][]string // a missing cell is empty
}

// newTable splits comma-separated lines into cells. A question mark is a missing value.
func newTable(what string, names []string, text []string) (Table, error) {
	t := Table{Names: names}
	for i, line := range text {
		cells := strings.Split(line, ",")
		if len(cells) != len(names) {
			return Table{}, fmt.Errorf("reading %s: line %d has %d fields, want %d", what, i+1, len(cells), len(names))
		}
		for j, cell := range cells {
			if cells[j] = strings.TrimSpace(cell); cells[j] == "?" {
				cells[j] = ""
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t, nil
}

// Column returns the cells of a column by its name.
func (t Table) Column(name string) ([]string, error) {
	at := slices.Index(t.Names, name)
	if at < 0 {
		return nil, fmt.Errorf("no column %q; there are %s", name, strings.Join(t.Names, ", "))
	}
	out := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		out[i] = row[at]
	}
	return out, nil
}

// Numbers returns a column without missing values as numbers.
func (t Table) Numbers(name string) ([]float64, error) {
	out, err := t.Values(name)
	if at := slices.IndexFunc(out, math.IsNaN); err == nil && at >= 0 {
		return nil, fmt.Errorf("column %q, record %d: it has no value", name, at+1)
	}
	return out, err
}

// Values returns a column as numbers, NaN where a value is missing.
func (t Table) Values(name string) ([]float64, error) {
	cells, err := t.Column(name)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(cells))
	for i, cell := range cells {
		if out[i] = math.NaN(); cell == "" {
			continue
		}
		if out[i], err = strconv.ParseFloat(cell, 64); err != nil {
			return nil, fmt.Errorf("column %q, record %d: no number", name, i+1)
		}
	}
	return out, nil
}
