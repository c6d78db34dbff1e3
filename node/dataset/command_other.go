//go:build !unix

package dataset

import "os/exec"

// killWhole does nothing here: only the program itself is killed, through its context.
func killWhole(*exec.Cmd) {}
