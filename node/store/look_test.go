package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cosketch/cosketch/protocol"
)

// A first look replaces an earlier one, is readable by its owner only, is destroyed with the
// study's secrets, and is read back unchanged or not at all.
func TestLook(t *testing.T) {
	dir := newDir(t, Party)
	s := open(t, dir, Party, Options{})
	id := protocol.StudyID{1}
	if _, err := s.Look(id); !errors.Is(err, ErrNotFound) {
		t.Errorf("before: %v", err)
	}
	put := func() {
		t.Helper()
		if err := errors.Join(s.PutLook(id, []byte("a look")), s.PutLook(id, []byte("another look"))); err != nil {
			t.Fatal(err)
		}
	}
	put()
	path := filepath.Join(dir, "secrets", id.String()+"-look")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if got, err := s.Look(id); err != nil || string(got) != "another look" {
		t.Errorf("%q, %v", got, err)
	}
	if err := errors.Join(s.DestroyLook(id), s.DestroyLook(id)); err != nil {
		t.Fatal(err)
	}
	put()
	if err := s.DestroySecrets(id); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after: %v", err)
	}
	put()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func() error{
		"a bit":     func() error { return os.WriteFile(path, append(whole[:len(whole)-1:len(whole)-1], 'K'), 0o600) },
		"the end":   func() error { return os.WriteFile(path, whole[:len(whole)-3], 0o600) },
		"too large": func() error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 16<<20+1)) }, // all zeros: up to the limit it would count as erased
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Look(id); !errors.Is(err, errSeal) || got != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 16<<20)); err != nil { // as large as allowed, and erased
		t.Fatal(err)
	}
	if got, err := s.Look(id); !errors.Is(err, ErrNotFound) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Look(id); !errors.Is(err, ErrNotFound) {
		t.Errorf("a byte that was erased: %q, %v", got, err)
	}
	if err := s.DestroySecrets(id); err != nil {
		t.Errorf("destroying a damaged one: %v", err)
	}
}
