// Package mapped gives memory that lies in files: for what is too large to be held, and is read
// mostly in order. The system keeps of it what there is room for.
//
// A file has no name, or goes with its last handle, so nothing is left of a process that was
// killed. All of its bytes are taken from the disk before it is mapped: a full disk is an error
// here, not a signal when a page is written. That a disk fails beneath a mapped file still ends
// the process.
package mapped

import (
	"errors"
	"fmt"
	"os"

	"github.com/cosketch/cosketch/kernel/room"
)

// Files are mapped files in a directory, which belong together. The zero value without a
// directory is not ready. Its methods are not for several goroutines at once.
type Files struct {
	Dir  string                  // required: on a disk, not in memory
	Room func(bytes int64) error // asked before a file is made; its error refuses. Default: what the disk takes

	open  []mapping
	parts []*Files
}

// mapping is one mapped file.
type mapping struct {
	file *os.File
	data []byte
	unmap
}

// Bytes returns so many zeros, good until Close.
func (f *Files) Bytes(n int) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("mapping a file of %d bytes", n)
	}
	if n == 0 {
		return []byte{}, nil
	}
	data, err := f.bytes(int64(n))
	if err != nil {
		return nil, fmt.Errorf("mapping a file of %d bytes in %q: %w", n, f.Dir, err)
	}
	return data, nil // pages are aligned
}

// Part gives files that are given back by themselves, at the latest when these are.
func (f *Files) Part() room.Part {
	part := &Files{Dir: f.Dir, Room: f.Room}
	f.parts = append(f.parts, part)
	return part
}

func (f *Files) bytes(size int64) ([]byte, error) {
	if f.Room != nil {
		if err := f.Room(size); err != nil {
			return nil, err
		}
	}
	file, err := nameless(f.Dir)
	if err != nil {
		return nil, err
	}
	m := mapping{file: file}
	if err = reserve(file, size); err == nil {
		m.data, m.unmap, err = mapFile(file, int(size))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.open = append(f.open, m)
	return m.data, nil
}

// Close gives all of it back. Nothing that Slice returned may be used from then on.
func (f *Files) Close() (err error) {
	for _, part := range f.parts {
		err = errors.Join(err, part.Close())
	}
	f.parts = nil
	for _, m := range f.open {
		err = errors.Join(err, m.unmap(), m.file.Close())
	}
	f.open = nil
	if err != nil {
		return fmt.Errorf("giving mapped files back: %w", err)
	}
	return nil
}

// unmap ends a mapping.
type unmap func() error
