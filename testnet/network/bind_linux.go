package network

import (
	"os/exec"
	"syscall"
)

// bind has the system kill the process when this one is gone, however it went. The signal
// is sent when the thread that started the process ends; the runtime ends threads only
// with goroutines that were locked to one, and nothing here locks.
func bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
