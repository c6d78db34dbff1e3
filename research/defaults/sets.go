package defaults

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/testnet/cancer"
	"github.com/cosketch/cosketch/testnet/corpus"
)

// real holds the public data sets. Those of the folder are nil without one.
type real struct {
	adult, diabetes, heart, retail, cancer *data
	baskets                                *data  // retail as a vertical study
	malignant                              []bool // by row of cancer
}

// load loads the data sets; with a nil folder only the embedded ones.
func load(folder *corpus.Corpus) (real, error) {
	out := real{}
	var err error
	if out.cancer, out.malignant, err = patients(); err != nil || folder == nil {
		return out, err
	}
	if out.adult, err = people(*folder); err != nil {
		return out, err
	}
	if out.diabetes, err = admissions(*folder); err != nil {
		return out, err
	}
	if out.heart, err = hospitals(*folder); err != nil {
		return out, err
	}
	out.retail, out.baskets, err = baskets(*folder)
	return out, err
}

// patients returns the breast cancer data. Its code book has no bounds, so bounds are 0 and twice
// the largest value, as the range of an instrument.
func patients() (*data, []bool, error) {
	table, err := cancer.Load()
	if err != nil {
		return nil, nil, err
	}
	out := &data{name: "breast cancer", real: true, rows: table.Values}
	for j, name := range table.Names {
		most := 0.
		for _, row := range table.Values {
			most = math.Max(most, row[j])
		}
		out.columns = append(out.columns, numeric(name, 0, 2*most))
	}
	return out, table.Malignant, nil
}

// labelled adds a binary label to rows.
func labelled(d *data, name string, is func(row int) bool) *data {
	label := binary(name)
	label.label = true
	out := &data{name: d.name + ", " + name, real: d.real, columns: append(slices.Clone(d.columns), label)}
	for i, row := range d.rows {
		out.rows = append(out.rows, append(slices.Clone(row), yes(is(i))))
	}
	return out
}

// table converts columns of a table to numbers.
func table(name string, from corpus.Table, columns []column) (*data, error) {
	out := &data{name: name, real: true, columns: columns, rows: make([][]float64, len(from.Rows))}
	for _, c := range columns {
		values, err := from.Values(c.name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		for i, x := range values {
			out.rows[i] = append(out.rows[i], x)
		}
	}
	return out, nil
}

// people returns the census data with its six numeric columns.
func people(folder corpus.Corpus) (*data, error) {
	from, err := folder.Adult()
	if err != nil {
		return nil, err
	}
	return table("adult", from, []column{
		numeric("age", 16, 100), numeric("fnlwgt", 0, 2e6), numeric("education-num", 1, 16),
		numeric("capital-gain", 0, 99_999), numeric("capital-loss", 0, 99_999), numeric("hours-per-week", 0, 99),
	})
}

// rich reports, by row, who earns above 50,000 a year.
func rich(folder corpus.Corpus) ([]bool, error) {
	from, err := folder.Adult()
	if err != nil {
		return nil, err
	}
	cells, err := from.Column("income")
	out := make([]bool, len(cells))
	for i, cell := range cells {
		out[i] = cell == ">50K"
	}
	return out, err
}

// admissions returns the diabetes data with its eight counts.
func admissions(folder corpus.Corpus) (*data, error) {
	from, err := folder.Diabetes130()
	if err != nil {
		return nil, err
	}
	return table("diabetes130", from, []column{
		numeric("time_in_hospital", 1, 14), numeric("num_lab_procedures", 0, 150), numeric("num_procedures", 0, 6), numeric("num_medications", 0, 100),
		numeric("number_outpatient", 0, 100), numeric("number_emergency", 0, 100), numeric("number_inpatient", 0, 100), numeric("number_diagnoses", 1, 16),
	})
}

// hospitals returns the heart disease data; each hospital is a party with its own patients. Some
// values are missing.
func hospitals(folder corpus.Corpus) (*data, error) {
	all, err := folder.Heart()
	if err != nil {
		return nil, err
	}
	columns := []column{
		numeric("age", 0, 110), binary("sex"), numeric("cp", 1, 4), numeric("trestbps", 50, 250), numeric("thalach", 40, 230), binary("exang"), numeric("oldpeak", -5, 10),
	}
	out := &data{name: "heart", real: true, columns: columns}
	for _, h := range all {
		own, err := table("heart", h.Table, columns)
		if err != nil {
			return nil, err
		}
		var rows []int
		for _, row := range own.rows {
			rows, out.rows = append(rows, len(out.rows)), append(out.rows, row)
		}
		out.parties = append(out.parties, rows)
	}
	return out, nil
}

// baskets returns the retail data: the number of items of each basket, and whether it has each of
// the most frequent items. There are nine of them for a horizontal study, and 23 of the first
// 40,000 baskets for a vertical study of three parties.
func baskets(folder corpus.Corpus) (horizontal, vertical *data, err error) {
	lists, err := folder.Retail()
	if err != nil {
		return nil, nil, err
	}
	bought := map[int]int{}
	for _, list := range lists {
		for _, item := range list {
			bought[item]++
		}
	}
	var items []int
	for item := range bought {
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b int) int {
		if bought[a] != bought[b] {
			return bought[b] - bought[a]
		}
		return a - b
	})
	has := func(list []int, items []int) (out []float64) {
		for _, item := range items {
			out = append(out, yes(slices.Contains(list, item)))
		}
		return out
	}
	const few, many, first = 9, 23, 40_000 // dealt in turn to three parties: 8, 8 and 7
	horizontal = &data{name: "retail", real: true, columns: []column{numeric("items", 1, 100)}}
	vertical = &data{name: "retail, 23 items", real: true}
	for j, item := range items[:many] {
		c := binary(fmt.Sprintf("item%d", item))
		c.owner = j % 3
		vertical.columns = append(vertical.columns, c)
		if j < few {
			c.owner = 0
			horizontal.columns = append(horizontal.columns, c)
		}
	}
	for i, list := range lists {
		horizontal.rows = append(horizontal.rows, append([]float64{float64(len(list))}, has(list, items[:few])...))
		if i < first {
			vertical.rows = append(vertical.rows, has(list, items[:many]))
		}
	}
	return horizontal, vertical, nil
}
