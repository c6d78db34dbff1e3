//go:build unix

package private

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Owned refuses root, who may write everywhere, access to a file or directory of another user, who
// could not open what root writes there.
func Owned(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if me := os.Geteuid(); ok && me == 0 && stat.Uid != 0 {
		return fmt.Errorf("%s belongs to user %d, who could not open what root writes there (run it as that user, such as sudo -u '#%d')", path, stat.Uid, stat.Uid)
	}
	return nil
}
