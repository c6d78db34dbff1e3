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

// apart puts the process in a group of its own as well: an interrupt at the terminal
// reaches the testnet alone, which ends its nodes in order.
func apart(cmd *exec.Cmd) {
	bind(cmd)
	cmd.SysProcAttr.Setpgid = true
}
