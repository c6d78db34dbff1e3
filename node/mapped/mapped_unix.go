//go:build unix

package mapped

import (
	"os"

	"golang.org/x/sys/unix"
)

// nameless makes a file and takes its name away.
func nameless(dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, "scratch-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func mapFile(file *os.File, size int) ([]byte, unmap, error) {
	data, err := unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() error { return os.NewSyscallError("munmap", unix.Munmap(data)) }, nil
}
