package fail

import (
	"errors"
	"slices"
	"syscall"
)

// Errno reports whether an error is, or wraps, what an operating system refuses by one of the POSIX numbers, or by
// what the system has in its place: Windows has numbers of its own, which Go's library does not match with them.
func Errno(err error, numbers ...syscall.Errno) bool {
	return slices.ContainsFunc(numbers, func(n syscall.Errno) bool {
		return errors.Is(err, n) || slices.ContainsFunc(others(n), func(other syscall.Errno) bool { return errors.Is(err, other) })
	})
}
