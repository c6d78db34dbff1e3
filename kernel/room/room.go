// Package room allocates slices of numbers: in memory, or elsewhere for large data that is read
// mostly in order, such as in mapped files.
package room

import (
	"fmt"
	"math"
	"unsafe"
)

// Allocator allocates space outside of memory.
type Allocator interface {
	// Bytes returns n zeroed bytes, aligned to at least 16 bytes. They are valid as long as the
	// giver is.
	Bytes(n int) ([]byte, error)
}

// Part is a Giver that may be closed on its own, before the Giver that it is part of.
type Part interface {
	Allocator
	Close() error
}

// Plain lists types without pointers.
type Plain interface {
	~bool | ~int8 | ~uint8 | ~int | ~int32 | ~int64 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~[16]byte
}

// least is the least number of bytes that a giver allocates: smaller slices are always in memory.
const least = 1 << 12

// Error reports that a giver could not allocate.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Of returns n zeros. They are in memory if the giver is nil or if they are few. Its error is an
// *Error.
func Of[T Plain](from Allocator, n int) ([]T, error) {
	var one T
	size := int(unsafe.Sizeof(one))
	if n < 0 || n > math.MaxInt/size {
		return nil, &Error{fmt.Errorf("%d × %d bytes", n, size)}
	}
	if from == nil || n*size < least {
		return make([]T, n), nil
	}
	data, err := from.Bytes(n * size)
	if err != nil {
		return nil, &Error{err}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), n), nil
}
