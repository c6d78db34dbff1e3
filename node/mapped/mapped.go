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
	"math"
	"os"
	"unsafe"
)

// Files are mapped files in a directory, which belong together. The zero value without a
// directory is not ready. Its methods are not for several goroutines at once.
type Files struct {
	Dir  string                  // required: on a disk, not in memory
	Room func(bytes int64) error // asked before a file is made; its error refuses. Default: what the disk takes

	open []mapping
}

// mapping is one mapped file.
type mapping struct {
	file *os.File
	data []byte
	unmap
}

// Floats returns so many zeros, good until Close.
func (f *Files) Floats(n int) ([]float64, error) { return Slice[float64](f, n) }

// Plain are types without pointers.
type Plain interface{ ~float64 | ~[16]byte }

// Slice returns so many zeros, good until Close of the files.
func Slice[T Plain](f *Files, n int) ([]T, error) {
	var one T
	size := int64(unsafe.Sizeof(one))
	if n < 0 || int64(n) > math.MaxInt64/size {
		return nil, fmt.Errorf("mapping a file of %d × %d bytes", n, size)
	}
	if n == 0 {
		return []T{}, nil
	}
	data, err := f.bytes(int64(n) * size)
	if err != nil {
		return nil, fmt.Errorf("mapping a file of %d bytes in %q: %w", int64(n)*size, f.Dir, err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), n), nil // pages are aligned
}

func (f *Files) bytes(size int64) ([]byte, error) {
	if int64(int(size)) != size {
		return nil, errors.New("that is more than this machine can address")
	}
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
