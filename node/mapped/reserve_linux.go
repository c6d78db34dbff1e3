package mapped

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve takes the bytes of a file from the disk.
func reserve(file *os.File, size int64) error {
	err := unix.Fallocate(int(file.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) { // the file system cannot
		return zeros(file, size)
	}
	return os.NewSyscallError("fallocate", err)
}
