//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the most resident bytes that a process had.
func peakMemory(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss) // in bytes there
	}
	return int64(usage.Maxrss) << 10
}
