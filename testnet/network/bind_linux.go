package network

import (
	"os/exec"
	"syscall"
)

// bind makes the system kill the process when this process ends, for whatever reason. The signal is
// sent when the thread that started the process ends. The runtime ends threads only with goroutines
// that are locked to one, and nothing here locks.
func bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// apart also puts the process in its own process group. Then an interrupt at the terminal reaches
// only the testnet, which ends its nodes in order.
func apart(cmd *exec.Cmd) {
	bind(cmd)
	cmd.SysProcAttr.Setpgid = true
}
