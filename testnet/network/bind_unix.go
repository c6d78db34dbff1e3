//go:build unix && !linux

package network

import (
	"os/exec"
	"syscall"
)

// bind does nothing on this system: a process that outlives a killed testnet must be ended
// manually, or by the next `testnet down`.
func bind(*exec.Cmd) {}

// apart puts the process in its own process group. Then an interrupt at the terminal reaches only
// the testnet, which ends its nodes in order.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
