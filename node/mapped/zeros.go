//go:build !windows

package mapped

import "os"

// zeros fills a file with size zero bytes.
func zeros(file *os.File, size int64) error {
	block := make([]byte, 1<<20)
	for size > 0 {
		n, err := file.Write(block[:min(int64(len(block)), size)])
		if err != nil {
			return err
		}
		size -= int64(n)
	}
	return nil
}
