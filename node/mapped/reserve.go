//go:build !linux && !windows

package mapped

import "os"

// reserve allocates a file's bytes on disk.
func reserve(file *os.File, size int64) error { return zeros(file, size) }
