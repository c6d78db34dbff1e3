package standing

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// commandLine returns the command line of a running process; empty if there is no such process, or
// if the system does not report it.
func commandLine(pid int) string {
	out, err := exec.Command("powershell", "-NoProfile", "-Command",
		fmt.Sprintf("(Get-CimInstance Win32_Process -Filter 'ProcessId=%d').CommandLine", pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// alive reports whether a process exists.
func alive(pid int) bool { return commandLine(pid) != "" }

// kill ends a process at once.
func kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// terminate ends a process at once, as this system has no signal to ask it.
func terminate(pid int) error { return kill(pid) }
