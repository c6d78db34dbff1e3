//go:build unix

package network

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// CanPause reports whether this system can stop and continue processes.
const CanPause = true

// Pause stops the process (SIGSTOP).
func (s *Started) Pause() error { return s.signal(syscall.SIGSTOP) }

// Resume continues the process (SIGCONT).
func (s *Started) Resume() error { return s.signal(syscall.SIGCONT) }

func (s *Started) signal(sig os.Signal) error {
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signalling %s: %w", s.node.Name, err)
	}
	return nil
}

// PeakMemory returns the process' peak resident memory in bytes. It must not be called before Ended
// is closed. If the process ended by itself, the value is at least the memory that its parent had
// when it started, as Linux counts this for a child.
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
