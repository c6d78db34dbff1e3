//go:build unix

package standing

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// commandLine is the command line of a running process, its words between spaces; empty
// where there is no such process. Numbers of processes are used again: whoever signals one
// by a pid file looks first.
func commandLine(pid int) string {
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		return strings.ReplaceAll(strings.TrimRight(string(raw), "\x00"), "\x00", " ")
	}
	out, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// alive reports whether a process is there.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// kill ends a process at once.
func kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

// terminate asks a process to end.
func terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }
