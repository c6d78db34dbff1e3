//go:build !linux && !windows

package mapped

import "os"

// reserve takes the bytes of a file from the disk.
func reserve(file *os.File, size int64) error { return zeros(file, size) }
