package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFileWhole writes a file that is there in full or not at all, readable by its
// owner alone; one of the same name is replaced.
func WriteFileWhole(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return WithCode(Usage, fmt.Errorf("writing %s: %w", path, err))
	}
	if err := write(f); err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	err = errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return WithCode(Usage, errors.Join(fmt.Errorf("writing %s: %w", path, err), os.Remove(f.Name())))
	}
	return nil
}
