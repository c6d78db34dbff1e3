// Package tree walks the Go files of the repository, for programs that check or count the code.
package tree

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files calls each for every Go file below root, with its slash-separated path relative to root. It
// skips testdata and folders whose names begin with a dot.
func Files(root string, each func(path string, text []byte) error) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		path, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return each(filepath.ToSlash(path), text)
	})
}
