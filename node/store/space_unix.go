//go:build unix

package store

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Free returns how many bytes the node may still write beside its state.
func (s *Store) Free() (int64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(s.dir, &fs); err != nil {
		return 0, fmt.Errorf("asking for the free space of %q: %w", s.dir, err)
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil
}

// ownedElsewhere refuses another user's directory to root, who may write there: what root
// makes, its owner cannot open.
func ownedElsewhere(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if me := os.Geteuid(); ok && me == 0 && stat.Uid != 0 {
		return fmt.Errorf("%s belongs to user %d, who could not open what root writes there (run it as that user, such as sudo -u '#%d')", path, stat.Uid, stat.Uid)
	}
	return nil
}

// mayWrite is nil when this process may write a file, or into a directory.
func mayWrite(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
