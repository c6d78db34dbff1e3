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

	"github.com/cosketch/cosketch/kernel/room"
)

// Files are mapped files in a directory, which belong together. The zero value without a
// directory is not ready. Its methods are not for several goroutines at once.
type Files struct {
	Dir  string                  // required: on a disk, not in memory
	Room func(bytes int64) error // asked before a file is made; its error refuses. Default: what the disk takes

	open  []unmap
	rest  []byte // of a file that is shared
	parts []*Files
}

// Bytes returns so many zeros, good until Close.
func (f *Files) Bytes(n int) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("mapping a file of %d bytes", n)
	}
	if n == 0 {
		return []byte{}, nil
	}
	if n > few {
		return f.bytes(int64(n)) // pages are aligned
	}
	taken := (n + aligned - 1) / aligned * aligned
	if taken > len(f.rest) {
		fresh, err := f.bytes(shared)
		if err != nil {
			return nil, err
		}
		f.rest = fresh
	}
	out := f.rest[:n:n]
	f.rest = f.rest[taken:]
	return out, nil
}

// Files of shared bytes hold requests of a few, each aligned, as files and mappings are not without number.
const (
	shared  = 4 << 20
	few     = 256 << 10
	aligned = 64
)

// Part gives files that are given back by themselves, at the latest when these are.
func (f *Files) Part() room.Part {
	part := &Files{Dir: f.Dir, Room: f.Room}
	f.parts = append(f.parts, part)
	return part
}

// bytes maps a file.
func (f *Files) bytes(size int64) (_ []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("mapping a file of %d bytes in %q: %w", size, f.Dir, err)
		}
	}()
	if f.Room != nil {
		if err := f.Room(size); err != nil {
			return nil, err
		}
	}
	file, err := nameless(f.Dir)
	if err != nil {
		return nil, err
	}
	if err := reserve(file, size); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	data, end, err := mapFile(file, int(size))
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.open = append(f.open, end)
	return data, nil
}

// Close gives all of it back. Nothing that Bytes returned may be used from then on.
func (f *Files) Close() (err error) {
	for _, part := range f.parts {
		err = errors.Join(err, part.Close())
	}
	f.parts = nil
	for _, end := range f.open {
		err = errors.Join(err, end())
	}
	f.open, f.rest = nil, nil
	if err != nil {
		return fmt.Errorf("giving mapped files back: %w", err)
	}
	return nil
}

// unmap ends a mapping.
type unmap func() error
