//go:build unix

package dataset

import (
	"os/exec"
	"syscall"
)

// killWhole makes the end of a program that of the programs that it started, too.
func killWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
