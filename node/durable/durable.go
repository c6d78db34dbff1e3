// Package durable writes files that are there whole or not at all, also after a power cut: a
// file's bytes are synced before it gets its name, and its directory after. It is the one
// place that knows how.
package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Private is the mode of what is for its owner alone.
const Private fs.FileMode = 0o600

// Replace puts a file in place whole and durably, in the place of what was there; a symbolic
// link is replaced, not what it points at. While it is written it has another name and is for
// its owner alone.
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

// Create makes a new file of mode Private whole and durably. It is fs.ErrExist where there is
// something of that name, a symbolic link too, whoever put it there and when.
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
	err = os.Link(name, path) // which a rename would replace
	if err != nil && !errors.Is(err, fs.ErrExist) {
		if _, there := os.Lstat(path); there == nil {
			err = exists(path)
		} else if err = Rename(name, path); err == nil { // a file system without links
			return nil
		}
	}
	if err = errors.Join(err, os.Remove(name)); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

func exists(path string) error { return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist} }

// staged writes a file beside the one that it is to be. Its name is new: nobody else has put
// anything there, and no link is followed.
func staged(path string, mode fs.FileMode, write func(*os.File) error) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if at := (*fs.PathError)(nil); errors.As(err, &at) { // of a name that nobody gave
		err = &fs.PathError{Op: "writing into folder", Path: filepath.Dir(path), Err: at.Err}
	}
	if err != nil {
		return "", err
	}
	if mode != Private { // the mode that CreateTemp gives
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

// New fills a new file of mode Private within a directory that has no name yet. Its bytes are
// durable; its name is when its directory is synced.
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

// Rename gives what is durable another name, in one step, and durably.
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

// Mkdir makes a directory of mode 0700 and its parents, all durably. One that is there may be
// of a process that was killed before its name was durable.
func Mkdir(path string) error {
	parent := filepath.Dir(path)
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist}
		}
		if err := SyncDir(parent); !errors.Is(err, fs.ErrPermission) { // then it is not of our making
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
