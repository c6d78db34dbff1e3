package network

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Held returns the total size of the files below a directory. A node may create and remove files
// meanwhile.
func Held(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		total += info.Size()
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("looking at the size of %s: %w", dir, err)
	}
	return total, nil
}
