//go:build unix

package mapped

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// nameless creates a file and removes its name.
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

// mapFile maps a file. The file is closed when the mapping ends, or before.
func mapFile(file *os.File, size int) ([]byte, unmap, error) {
	data, err := unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	end := func() error { return os.NewSyscallError("munmap", unix.Munmap(data)) }
	if err := file.Close(); err != nil { // the mapping keeps the file without a descriptor
		return nil, nil, errors.Join(err, end())
	}
	return data, end, nil
}
