package console

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cosketch/cosketch/node/plain"
	"github.com/cosketch/cosketch/node/table"
	"github.com/cosketch/cosketch/protocol/fail"
)

// file is a file to be written for a result.
type file struct {
	name  string
	write func(io.Writer) error
}

// bytesFile returns a file with these bytes.
func bytesFile(name string, data []byte) file {
	return file{name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}}
}

// writeFiles writes files into a directory, readable only by their owner, and returns their paths.
func writeFiles(dir string, files []file) (written []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fail.Usage.Of(fmt.Errorf("writing result: %w", err))
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := WriteFileAtomic(path, f.write); err != nil {
			return nil, err
		}
		written = append(written, path)
	}
	return written, nil
}

// render returns the files of the requested format, besides the whole document.
func (d Document) render(c *Console) (out []file) {
	wanted := func(f table.File) bool { return f.Beside }
	switch c.Files {
	case CSV:
		wanted = func(f table.File) bool { return f.Form == table.AsCSV }
	case Parquet:
		wanted = func(f table.File) bool { return f.Form == table.AsParquet }
	case NPY:
		wanted = func(f table.File) bool { return f.Form == table.AsNPY || f.Form == table.AsNames }
	default:
		if c.Format == Text {
			var text bytes.Buffer
			to := plain.Text(&text)
			d.text(to)
			to.Close() // never fails for a buffer
			out = append(out, bytesFile("result.txt", text.Bytes()))
		}
	}
	for _, f := range table.Files(d.Result) {
		if wanted(f) {
			out = append(out, file{f.Name, f.Write})
		}
	}
	return out
}
