//go:build unix

package cost

import (
	"syscall"
	"time"
)

// used is the processor time of this process, which other processes take nothing of.
func used() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it has no reason to
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
