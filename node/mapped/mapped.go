// Package mapped provides file-backed memory for data that are too large for RAM and are mostly
// read in order. The system caches as much of it as fits.
//
// The files have no name, or are deleted with their last handle, so nothing is left of a process
// that was killed. All bytes are allocated on disk before a file is mapped: a full disk is an error
// here, not a signal when a page is written. If a disk fails under a mapped file, the process still
// ends.
package mapped

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/kernel/room"
)

// Files is a group of mapped files in one directory. Dir must be set before use. It is not safe for
// concurrent use.
type Files struct {
	Dir  string                  // required; on disk, not in a memory file system
	Room func(bytes int64) error // called before a file is created; may refuse. Default: only the disk limits

	open  []unmap
	rest  []byte // unused bytes of a shared file
	parts []*Files
}

// Bytes returns n zero bytes, valid until Close.
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

// Requests of at most few bytes are served from files of shared bytes, each aligned, because the
// numbers of files and mappings are limited.
const (
	shared  = 4 << 20
	few     = 256 << 10
	aligned = 64
)

// Part returns files that can be closed separately; Close of the whole closes them too.
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

// Close unmaps everything. Memory that Bytes returned must not be used afterwards.
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
