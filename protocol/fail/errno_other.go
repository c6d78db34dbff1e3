//go:build !windows

package fail

import "syscall"

// others returns nil: the system's numbers are those of POSIX.
func others(syscall.Errno) []syscall.Errno { return nil }
