package table

import (
	"io"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/plain"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// Form is a file format of a table, or of the names beside one.
type Form struct {
	Extension, Media string
}

// The forms.
var (
	AsCSV     = Form{".csv", "text/csv; charset=utf-8"}
	AsParquet = Form{".parquet", "application/vnd.apache.parquet"}
	AsJSON    = Form{".json", "application/json"}
	AsNPY     = Form{".npy", "application/x-npy"}
	AsNames   = Form{"_names.txt", "text/plain; charset=utf-8"} // of the rows of a matrix, one per line
)

func Forms() []Form { return []Form{AsNames, AsCSV, AsParquet, AsJSON, AsNPY} }

// writer returns the function that writes tables in a form; nil if there is none.
func (f Form) writer() func(io.Writer, analysis.Table) error {
	return map[Form]func(io.Writer, analysis.Table) error{AsCSV: CSV, AsParquet: Parquet, AsJSON: JSON, AsNPY: Records}[f]
}

// File is one file of a result.
type File struct {
	Name    string
	Form    Form
	Rows    int
	Columns []string // of a table
	Large   bool     // too large to be held in memory
	Beside  bool     // the document is incomplete without it
	Write   func(io.Writer) error
}

// Files lists the files of a result: each table in every form, each matrix, and the names of their
// rows. As NPY, the table of pairs is given as matrices, or as one array for each dense table.
func Files(r analysis.Result) []File {
	var out []File
	for _, t := range r.Tables() {
		var columns []string
		for _, c := range t.Columns {
			columns = append(columns, c.Name)
		}
		for _, f := range []Form{AsCSV, AsParquet, AsJSON, AsNPY} {
			if f == AsNPY && t.Name == analysis.NumbersTable { // written as matrices instead
				continue
			}
			write := f.writer()
			out = append(out, File{Name: t.Name + f.Extension, Form: f, Rows: int(t.Len()), Columns: columns, Large: t.More != nil, Write: func(w io.Writer) error { return write(w, t) }})
		}
	}
	named := map[string]bool{}
	for _, m := range r.Matrices() {
		out = append(out, File{Name: m.Name + AsNPY.Extension, Form: AsNPY, Rows: len(m.Rows), Write: func(w io.Writer) error { return NPY(w, m.Rows) }})
		if m.Names != nil && !named[m.Analysis] {
			named[m.Analysis] = true
			out = append(out, names(m.Analysis, m.Names))
		}
	}
	for _, d := range r.DenseTables() {
		pairs := File{Name: d.Name + "_pairs" + AsNPY.Extension, Form: AsNPY, Rows: int(d.Pairs), Columns: slices.Concat(d.Fields, []string{"undefined"}), Large: true, Beside: true,
			Write: func(w io.Writer) error { return Dense(w, d.Dense) }}
		of := names(d.Name, d.Names)
		of.Beside = true
		out = append(out, pairs, of)
	}
	return out
}

func names(analysis string, of []string) File {
	return File{Name: analysis + AsNames.Extension, Form: AsNames, Rows: len(of), Write: func(w io.Writer) error {
		var text strings.Builder
		for _, name := range of {
			text.WriteString(plain.Line(name) + "\n")
		}
		_, err := io.WriteString(w, text.String())
		return err
	}}
}
