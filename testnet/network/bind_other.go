//go:build !linux

package network

import "os/exec"

// bind does nothing here: a process that outlives a killed testnet is ended by hand, or by
// the next `testnet down`.
func bind(*exec.Cmd) {}
