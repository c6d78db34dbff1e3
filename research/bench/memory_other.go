//go:build !unix

package bench

import "os"

// peakMemory returns 0: it is unknown on this system.
func peakMemory(*os.ProcessState) int64 { return 0 }
