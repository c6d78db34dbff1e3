package mapped

import "os"

// reserve takes the bytes of a file from the disk: unless a file is sparse, its length is allocated at once.
func reserve(file *os.File, size int64) error { return file.Truncate(size) }
