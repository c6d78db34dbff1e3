//go:build unix

package network

import (
	"errors"
	"fmt"
	"os"
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
