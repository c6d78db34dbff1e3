package fail

import (
	"errors"
	"slices"
	"syscall"
)

// Errno reports whether an error is, or wraps, one of the POSIX error numbers or the system's
// equivalent. Windows has error numbers of its own, which Go's library does not match with those of
// POSIX.
func Errno(err error, numbers ...syscall.Errno) bool {
	return slices.ContainsFunc(numbers, func(n syscall.Errno) bool {
		return errors.Is(err, n) || slices.ContainsFunc(others(n), func(other syscall.Errno) bool { return errors.Is(err, other) })
	})
}
