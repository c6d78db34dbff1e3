package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// writeFile puts a file of mode 0600 in place whole and durably, replacing what
// was there.
func writeFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	err = writeSynced(f, bytes.NewReader(data))
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

// writeSynced fills and closes a new file. Its bytes are durable, its name is not
// before its directory is synced.
func writeSynced(f *os.File, from io.Reader) error {
	_, err := io.Copy(f, from)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// mkdir makes a directory of mode 0700 and its parents, all durably.
func mkdir(path string) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist}
		}
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := mkdir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// syncDir makes renames and removals in a directory durable.
func syncDir(path string) error {
	if runtime.GOOS == "windows" { // directories cannot be synced there; NTFS journals renames
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
