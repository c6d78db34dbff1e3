// Package room gives slices of numbers: in memory, or where else there is room for what is large
// and read mostly in order, such as in files that are mapped.
package room

import (
	"fmt"
	"math"
	"unsafe"
)

// Giver gives room beside the memory.
type Giver interface {
	// Bytes returns so many zeros, aligned to 16 bytes at least, which are good for as long as the giver is.
	Bytes(n int) ([]byte, error)
}

// Part is room that is given back by itself, before the rest of what it is a part of.
type Part interface {
	Giver
	Close() error
}

// Plain are types without pointers.
type Plain interface {
	~bool | ~int8 | ~uint8 | ~int | ~int32 | ~int64 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~[16]byte
}

// least is how many bytes are worth room of their own: fewer are in memory, whoever gives.
const least = 1 << 12

// Error is that a giver has no room.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *Error) Unwrap() error { return e.Err }

// Of returns n zeros; from memory where the giver is nil, or they are few. Its error is an *Error.
func Of[T Plain](from Giver, n int) ([]T, error) {
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
