//go:build unix

package dataset

import (
	"os/exec"
	"syscall"
)

// killWhole makes cancelling cmd kill the programs that it started as well.
func killWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
