// Package private reads files that hold secrets. Only their owner may be able to read or write
// them, and root must not write files into another user's directory.
package private

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/cosketch/cosketch/protocol/fail"
)

// ErrOpen reports a file or directory that users other than its owner can access.
var ErrOpen error = fail.OpenToOthers

// Check returns ErrOpen if users other than the owner may read or write the file. On Windows, where
// mode bits mean nothing, it returns nil.
func Check(path string, info fs.FileInfo) error {
	return check(path, info, 0o077, "go=")
}

func check(path string, info fs.FileInfo, others fs.FileMode, mend string) error {
	if info.Mode().Perm()&others != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("%s has mode %04o and is %w", path, info.Mode().Perm(), fail.OpenToOthers.New().With(fmt.Sprintf("run `chmod %s %s`", mend, path)))
	}
	return nil
}

// Read reads a file that passes Check.
func Read(path string) ([]byte, error) { return read(path, 0o077, "go=") }

// ReadOfGroup reads a file that its group may read as well, as is usual for a server's TLS keys.
func ReadOfGroup(path string) ([]byte, error) { return read(path, 0o037, "g-wx,o=") }

func read(path string, others fs.FileMode, mend string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := check(path, info, others, mend); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(f); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
