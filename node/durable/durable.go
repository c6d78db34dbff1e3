// Package durable writes files atomically and durably: a file is there completely or not at all,
// even after a power cut. A file's bytes are synced before it is renamed into place, and its
// directory afterwards. No other package implements this.
package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Private is the mode of files that only their owner may access.
const Private fs.FileMode = 0o600

// Replace atomically and durably writes a file, replacing what was there; a symbolic link is
// replaced, not its target. While it is written it has another name and mode Private.
func Replace(path string, mode fs.FileMode, write func(*os.File) error) error {
	name, err := staged(path, mode, write)
	if err != nil {
		return err
	}
	if err := Rename(name, path); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// Create atomically and durably creates a file of mode Private. It returns fs.ErrExist if the name
// is taken, even by a dangling symbolic link, and even if it was taken meanwhile.
func Create(path string, write func(*os.File) error) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = exists(path)
		}
		return err
	}
	name, err := staged(path, Private, write)
	if err != nil {
		return err
	}
	err = os.Link(name, path) // a rename would replace an existing file
	if err != nil && !errors.Is(err, fs.ErrExist) {
		if _, there := os.Lstat(path); there == nil {
			err = exists(path)
		} else if err = Rename(name, path); err == nil { // no hard links here
			return nil
		}
	}
	if err = errors.Join(err, os.Remove(name)); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

func exists(path string) error { return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist} }

// staged writes a temporary file beside path. Its name is new, so it follows no link and overwrites
// nothing.
func staged(path string, mode fs.FileMode, write func(*os.File) error) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if at := (*fs.PathError)(nil); errors.As(err, &at) { // its path would name a file that nobody asked for
		err = &fs.PathError{Op: "writing into folder", Path: filepath.Dir(path), Err: at.Err}
	}
	if err != nil {
		return "", err
	}
	if mode != Private { // CreateTemp's mode
		err = f.Chmod(mode)
	}
	if err == nil {
		err = write(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// New creates a file of mode Private in a directory that is not yet in place. Its bytes are
// durable; its name is durable once the directory is synced.
func New(path string, from io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, Private)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Rename atomically and durably renames a file that is durable itself.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if dir := filepath.Dir(from); dir != filepath.Dir(to) {
		if err := SyncDir(dir); err != nil {
			return err
		}
	}
	return SyncDir(filepath.Dir(to))
}

// Mkdir durably creates a directory of mode 0700 and its parents. It syncs the parent even of an
// existing one, which a process may have created just before it was killed.
func Mkdir(path string) error {
	parent := filepath.Dir(path)
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist}
		}
		if err := SyncDir(parent); !errors.Is(err, fs.ErrPermission) { // without permission, this program did not create it
			return err
		}
		return nil
	}
	if parent != path {
		if err := Mkdir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(parent)
}

// SyncTree makes the names of all files below a directory durable.
func SyncTree(path string) error {
	return filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return SyncDir(name)
	})
}

// SyncDir makes renames and removals in a directory durable.
func SyncDir(path string) error {
	if runtime.GOOS == "windows" { // directories cannot be synced there; NTFS journals renames
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
