package console

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/protocol/fail"
)

// WriteTemplate writes a commented configuration file, unless one exists.
func WriteTemplate(path, text string) error {
	if err := writeNew(path, text); err != nil && !errors.Is(err, fs.ErrExist) {
		return fail.Usage.Of(fmt.Errorf("writing configuration file: %w", err))
	}
	return nil
}

// writeNew returns fs.ErrExist if the file exists.
func writeNew(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return durable.Create(path, func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	})
}
