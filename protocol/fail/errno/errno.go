// Package errno recognises what an operating system refuses by its number, where Windows has numbers of its own
// beside those of POSIX, which Go's library does not match with them.
package errno

import (
	"errors"
	"slices"
	"syscall"
)

// Is reports whether an error is, or wraps, one of the POSIX numbers or what the system has in its place.
func Is(err error, numbers ...syscall.Errno) bool {
	return slices.ContainsFunc(numbers, func(n syscall.Errno) bool {
		return errors.Is(err, n) || slices.ContainsFunc(others(n), func(other syscall.Errno) bool { return errors.Is(err, other) })
	})
}
