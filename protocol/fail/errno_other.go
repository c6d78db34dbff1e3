//go:build !windows

package fail

import "syscall"

// others is nil: the system's numbers are those of POSIX.
func others(syscall.Errno) []syscall.Errno { return nil }
