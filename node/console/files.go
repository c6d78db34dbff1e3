package console

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cosketch/cosketch/node/plain"
	"github.com/cosketch/cosketch/node/table"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
)

// file is a file that a result is written to.
type file struct {
	name  string
	write func(io.Writer) error
}

// bytesFile is a file with these bytes.
func bytesFile(name string, data []byte) file {
	return file{name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}}
}

// writeFiles puts files into a directory, for their owner alone, and returns their paths.
func writeFiles(dir string, files []file) (written []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fail.Usage.Of(fmt.Errorf("writing result: %w", err))
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := WriteFileWhole(path, f.write); err != nil {
			return nil, err
		}
		written = append(written, path)
	}
	return written, nil
}

// render makes the files of the format that was asked for, beside the whole document.
func (d Document) render(c *Console) []file {
	switch c.Files {
	case CSV:
		return tables(d.Result, ".csv", table.CSV)
	case Parquet:
		return tables(d.Result, ".parquet", table.Parquet)
	case NPY:
		return arrays(d.Result)
	}
	out := denseTables(d.Result) // without them the document is not whole
	if c.Format == Text {
		var text bytes.Buffer
		to := plain.Text(&text)
		d.text(to)
		to.Close() // a buffer takes all
		out = append([]file{bytesFile("result.txt", text.Bytes())}, out...)
	}
	return out
}

// denseTables writes every dense table of a result as an array, with the names of its features.
func denseTables(r analysis.Result) (files []file) {
	for _, d := range r.DenseTables() {
		files = append(files, file{d.Name + "_pairs.npy", func(w io.Writer) error { return table.Dense(w, d.Dense) }}, names(d.Name, d.Names))
	}
	return files
}

// names are those of features, one a line.
func names(analysis string, of []string) file {
	var text strings.Builder
	for _, name := range of {
		text.WriteString(plain.Line(name) + "\n")
	}
	return bytesFile(analysis+"_names.txt", []byte(text.String()))
}

// tables writes every table of a result, one a file.
func tables(r analysis.Result, extension string, write func(io.Writer, analysis.Table) error) (files []file) {
	for _, t := range r.Tables() {
		files = append(files, file{t.Name + extension, func(w io.Writer) error { return write(w, t) }})
	}
	return files
}

// arrays writes every matrix of a result, one a file, and the names of their rows and
// columns, one a line; and every table but that of the pairs, which are the matrices, or an
// array for each dense table.
func arrays(r analysis.Result) (files []file) {
	for _, t := range r.Tables() {
		if t.Name == analysis.NumbersTable {
			continue
		}
		files = append(files, file{t.Name + ".npy", func(w io.Writer) error { return table.Records(w, t) }})
	}
	named := map[string]bool{}
	for _, m := range r.Matrices() {
		files = append(files, file{m.Name + ".npy", func(w io.Writer) error { return table.NPY(w, m.Rows) }})
		if m.Names != nil && !named[m.Analysis] {
			named[m.Analysis] = true
			files = append(files, names(m.Analysis, m.Names))
		}
	}
	return append(files, denseTables(r)...)
}
