//go:build unix && !linux

package network

import (
	"os/exec"
	"syscall"
)

// bind does nothing here: a process that outlives a killed testnet is ended by hand, or by
// the next `testnet down`.
func bind(*exec.Cmd) {}

// apart puts the process in a group of its own: an interrupt at the terminal reaches the
// testnet alone, which ends its nodes in order.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
