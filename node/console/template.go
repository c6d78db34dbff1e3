package console

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteTemplate writes a commented configuration file, unless there is one.
func WriteTemplate(path, text string) error {
	if err := writeNew(path, text); err != nil && !errors.Is(err, fs.ErrExist) {
		return WithCode(Usage, fmt.Errorf("writing configuration file: %w", err))
	}
	return nil
}

// writeNew is fs.ErrExist where there is a file.
func writeNew(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
