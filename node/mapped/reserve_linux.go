package mapped

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve allocates a file's bytes on disk.
func reserve(file *os.File, size int64) error {
	err := unix.Fallocate(int(file.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) { // not supported by the file system
		return zeros(file, size)
	}
	return os.NewSyscallError("fallocate", err)
}
