package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func write(text string) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	}
}

// only checks that a directory holds exactly these files with these modes, and no temporary ones.
func only(t *testing.T, dir string, want map[string]fs.FileMode) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(want) {
		t.Errorf("%d files (%v): %v", len(entries), err, entries)
	}
	for name, mode := range want {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || runtime.GOOS != "windows" && info.Mode() != mode {
			t.Errorf("%s: %v (%v), want mode %v", name, info, err, mode)
		}
	}
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "backup")
	if err := Create(path, write("all")); err != nil {
		t.Fatal(err)
	}
	only(t, dir, map[string]fs.FileMode{"backup": 0o600})
	if err := Create(path, write("other")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "all" {
		t.Errorf("it holds %q (%v)", raw, err)
	}
	failed := errors.New("it failed")
	if err := Create(filepath.Join(dir, "half"), func(f *os.File) error { return errors.Join(write("x")(f), failed) }); !errors.Is(err, failed) {
		t.Errorf("error %v", err)
	}
	only(t, dir, map[string]fs.FileMode{"backup": 0o600})
}

// In a directory shared with others, a name may be taken while the file is written.
func TestCreateKeepsWhatComesMeanwhile(t *testing.T) {
	for name, meanwhile := range map[string]func(path string) error{
		"a file": func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o666) },
		"a link": func(path string) error { return os.Symlink(filepath.Join(filepath.Dir(path), "elsewhere"), path) },
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "backup")
		err := Create(path, func(f *os.File) error {
			return errors.Join(write("secret")(f), meanwhile(path))
		})
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
		if raw, _ := os.ReadFile(path); strings.Contains(string(raw), "secret") {
			t.Errorf("%s has the secret", name)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("%s: %v", name, entries)
		}
	}
}

// A dangling link counts as an existing file.
func TestCreateFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "backup")
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), path); err != nil {
		t.Skip(err)
	}
	if err := Create(path, write("secret")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "elsewhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was followed: %v", err)
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path, linked := filepath.Join(dir, "site.yaml"), filepath.Join(dir, "theirs")
	if err := os.WriteFile(linked, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(linked, path); err != nil {
		t.Skip(err)
	}
	if err := Replace(path, 0o640, write("new")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(linked, 0o644); err != nil {
		t.Fatal(err)
	}
	only(t, dir, map[string]fs.FileMode{"site.yaml": 0o640, "theirs": 0o644})
	if raw, err := os.ReadFile(linked); err != nil || string(raw) != "theirs" {
		t.Errorf("what the link pointed at holds %q (%v)", raw, err)
	}
	if err := Replace(path, Private, func(*os.File) error { return fs.ErrInvalid }); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("error %v", err)
	}
	only(t, dir, map[string]fs.FileMode{"site.yaml": 0o640, "theirs": 0o644})
}

func TestMkdir(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b")
	for range 2 {
		if err := Mkdir(path); err != nil {
			t.Fatal(err)
		}
	}
	only(t, dir, map[string]fs.FileMode{"a": fs.ModeDir | 0o700})
	only(t, filepath.Join(dir, "a"), map[string]fs.FileMode{"b": fs.ModeDir | 0o700})
	if err := os.WriteFile(filepath.Join(path, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, below := range []string{"file", "file/c"} {
		if err := Mkdir(filepath.Join(path, below)); err == nil {
			t.Errorf("%s became a directory", below)
		}
	}
	if err := SyncTree(dir); err != nil {
		t.Error(err)
	}
}
