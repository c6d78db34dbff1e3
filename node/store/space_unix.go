//go:build unix

package store

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Free returns how many bytes this process may still write in the state directory.
func (s *Store) Free() (int64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(s.dir, &fs); err != nil {
		return 0, fmt.Errorf("asking for the free space of %q: %w", s.dir, err)
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil
}

// mayWrite returns nil if this process may write the file, or into the directory.
func mayWrite(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
