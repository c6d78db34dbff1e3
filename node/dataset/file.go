package dataset

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/cosketch/cosketch/protocol"
)

// file reads a file from beginning to end, hashing and counting its bytes.
type file struct {
	path
	f    io.ReadCloser
	hash hash.Hash
	read int64

	program bool // reads a program's output, whose end without an error means success
}

// statFile stats a file before it is opened: opening a pipe would wait for its writer.
func statFile(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fileError(name, "no such file", err)
	case err != nil:
		return nil, fileError(name, cannotOpen, err)
	case info.IsDir():
		return nil, &Error{File: name, Message: "a directory", Hint: "name the file in it, or a pattern that ends like /*.csv"}
	case !info.Mode().IsRegular():
		return nil, &Error{File: name, Message: "not a regular file", Hint: "data are read more than once: store them in a file"}
	case info.Size() == 0:
		return nil, &Error{File: name, Message: "the file is empty"}
	}
	return info, nil
}

func openFile(p path) (*file, error) {
	f, err := os.Open(p.name)
	if err != nil {
		return nil, fileError(p.name, cannotOpen, err)
	}
	return &file{path: p, f: f, hash: sha256.New()}, nil
}

// Read implements io.Reader.
func (f *file) Read(p []byte) (int, error) {
	n, err := f.f.Read(p)
	f.hash.Write(p[:n])
	f.read += int64(n)
	if err != nil && err != io.EOF && !f.program {
		err = fileError(f.name, cannotRead, err)
	}
	return n, err
}

func (f *file) Close() error { return f.f.Close() }

// unchanged returns an error if the file changed since the reading began.
func (f *file) unchanged() error {
	opened, isFile := f.f.(*os.File)
	if !isFile {
		return nil
	}
	info, err := opened.Stat()
	if err != nil {
		return fileError(f.name, cannotRead, err)
	}
	if info.Size() != f.info.Size() || f.read != info.Size() || !info.ModTime().Equal(f.info.ModTime()) {
		return &Error{File: f.name, Message: "the file changed while it was read", Hint: "try again when its writer has finished"}
	}
	return nil
}

func (f *file) digest() protocol.Digest { return protocol.Digest(f.hash.Sum(nil)) }

// HashFile returns the SHA-256 of a file's bytes; for CSV it is the Digest of its Origin.
func HashFile(ctx context.Context, name string) (protocol.Digest, error) {
	info, err := statFile(name)
	if err != nil {
		return protocol.Digest{}, err
	}
	f, err := openFile(path{name, info})
	if err != nil {
		return protocol.Digest{}, err
	}
	defer f.Close()
	for buf := make([]byte, 1<<20); ; {
		if err := context.Cause(ctx); err != nil {
			return protocol.Digest{}, fmt.Errorf("reading %s: %w", name, err)
		}
		switch _, err := f.Read(buf); {
		case err == io.EOF:
			return f.digest(), f.unchanged()
		case err != nil:
			return protocol.Digest{}, err
		}
	}
}

// fileError wraps an operating system error, without repeating the path.
func fileError(name, message string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		message = fmt.Sprintf("%s: %v", message, err)
	}
	return &Error{File: name, Message: message, Err: err}
}

// openCommand starts a program and hashes its output.
func openCommand(ctx context.Context, c *Command) (*file, error) {
	r, err := c.start(ctx)
	if err != nil {
		return nil, err
	}
	return &file{path: path{name: c.String()}, f: r, hash: sha256.New(), program: true}, nil
}
