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

// WriteFileWhole writes a file that is there in full or not at all, readable by its
// owner alone; one of the same name is replaced. A device or a pipe is no file, and stays.
func WriteFileWhole(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && (!info.Mode().IsRegular() && !info.IsDir() || standard(info)) {
		return fail.Usage.Of(fmt.Errorf("writing %s: it is a device, a pipe or standard output, and only a file is written whole or not at all (name a file)", path))
	}
	return placed(path, write, func(fill func(*os.File) error) error { return durable.Replace(path, durable.Private, fill) })
}

// standard reports whether a file is the one to which standard output or standard error goes, as /dev/stdout is.
func standard(info fs.FileInfo) bool {
	return slices.ContainsFunc([]*os.File{os.Stdout, os.Stderr}, func(f *os.File) bool {
		other, err := f.Stat()
		return err == nil && os.SameFile(info, other)
	})
}

// createWhole does so for a file that must not be there before.
func createWhole(path string, write func(io.Writer) error) error {
	return placed(path, write, func(fill func(*os.File) error) error { return durable.Create(path, fill) })
}

// placed tells an error of whoever writes from one of the place, which is the user's to mend.
func placed(path string, write func(io.Writer) error, put func(fill func(*os.File) error) error) error {
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
