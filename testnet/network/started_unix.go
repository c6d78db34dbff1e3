//go:build unix

package network

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// CanPause says whether this system stops processes and lets them go on.
const CanPause = true

// Pause stops the process where it is (SIGSTOP).
func (s *Started) Pause() error { return s.signal(syscall.SIGSTOP) }

// Resume lets it go on (SIGCONT).
func (s *Started) Resume() error { return s.signal(syscall.SIGCONT) }

func (s *Started) signal(sig os.Signal) error {
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signalling %s: %w", s.node.Name, err)
	}
	return nil
}

// PeakMemory returns the most memory that the process had resident, in bytes. The
// process has ended. Of one that ended by itself it is no less than what its parent had
// when it began: Linux counts that to a child.
func (s *Started) PeakMemory() int64 {
	if s.peak > 0 {
		return s.peak
	}
	usage, ok := s.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	unit := int64(1 << 10)
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return int64(usage.Maxrss) * unit
}
