package console

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/protocol/fail"
)

// WriteFileAtomic writes a file completely or not at all, readable only by its owner. It replaces an
// existing file, but refuses a device or a pipe.
func WriteFileAtomic(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && (!info.Mode().IsRegular() && !info.IsDir() || standard(info)) {
		return fail.Usage.Of(fmt.Errorf("writing %s: it is a device, a pipe or standard output, and only a file is written whole or not at all (name a file)", path))
	}
	return pathError(path, write, func(fill func(*os.File) error) error { return durable.Replace(path, durable.Private, fill) })
}

// standard reports whether a file is standard output or standard error, as /dev/stdout is.
func standard(info fs.FileInfo) bool {
	return slices.ContainsFunc([]*os.File{os.Stdout, os.Stderr}, func(f *os.File) bool {
		other, err := f.Stat()
		return err == nil && os.SameFile(info, other)
	})
}

// createAtomic is WriteFileAtomic for a file that must not exist.
func createAtomic(path string, write func(io.Writer) error) error {
	return pathError(path, write, func(fill func(*os.File) error) error { return durable.Create(path, fill) })
}

// pathError returns an error of write unchanged. An error of the path is the user's to fix, and so a
// Usage error.
func pathError(path string, write func(io.Writer) error, put func(fill func(*os.File) error) error) error {
	var failed error
	err := put(func(f *os.File) error {
		failed = write(f)
		return failed
	})
	switch {
	case failed != nil:
		return failed
	case errors.Is(err, fs.ErrExist):
		return fail.Usage.Of(fmt.Errorf("writing %s: it exists and stays as it is", path))
	case err != nil:
		return fail.Usage.Of(fmt.Errorf("writing %s: %w", path, err))
	}
	return nil
}
