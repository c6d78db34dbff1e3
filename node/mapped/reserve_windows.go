package mapped

import "os"

// reserve allocates a file's bytes on disk: for a file that is not sparse, Truncate does so at
// once.
func reserve(file *os.File, size int64) error { return file.Truncate(size) }
