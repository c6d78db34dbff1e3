package console

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cosketch/cosketch/node/table"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// file is a file that a result is written to.
type file struct {
	name string
	data []byte
}

// writeFiles puts files into a directory, for their owner alone, and returns their paths.
func writeFiles(dir string, files []file) (written []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, WithCode(Usage, fmt.Errorf("writing result: %w", err))
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := WriteFileWhole(path, func(w io.Writer) error {
			_, err := w.Write(f.data)
			return err
		}); err != nil {
			return nil, err
		}
		written = append(written, path)
	}
	return written, nil
}

// render makes the files of the format that was asked for, beside the whole document.
func (d Document) render(c *Console) ([]file, error) {
	switch c.Files {
	case CSV:
		return tables(d.Result, ".csv", table.CSV)
	case Parquet:
		return tables(d.Result, ".parquet", table.Parquet)
	case NPY:
		return matrices(d.Result)
	}
	if c.Format != Text {
		return nil, nil
	}
	var text bytes.Buffer
	d.text(&text)
	return []file{{"result.txt", text.Bytes()}}, nil
}

// tables writes every table of a result, one a file.
func tables(r analysis.Result, extension string, write func(io.Writer, analysis.Table) error) (files []file, err error) {
	for _, t := range r.Tables() {
		var out bytes.Buffer
		if err := write(&out, t); err != nil {
			return nil, err
		}
		files = append(files, file{t.Name + extension, out.Bytes()})
	}
	return files, nil
}

// matrices writes every matrix of a result, one a file, and the names of their rows and
// columns, one a line.
func matrices(r analysis.Result) (files []file, err error) {
	named := map[string]bool{}
	for _, m := range r.Matrices() {
		var out bytes.Buffer
		if err := table.NPY(&out, m.Rows); err != nil {
			return nil, err
		}
		files = append(files, file{m.Name + ".npy", out.Bytes()})
		if m.Names != nil && !named[m.Analysis] {
			named[m.Analysis] = true
			files = append(files, file{m.Analysis + "_names.txt", []byte(strings.Join(m.Names, "\n") + "\n")})
		}
	}
	return files, nil
}
