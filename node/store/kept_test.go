package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/protocol"
)

// What is kept outlives the secrets of the study's attempts, is readable by its owner only, and is
// gone once destroyed.
func TestKept(t *testing.T) {
	dir := newDir(t, Party)
	s := open(t, dir, Party, Options{})
	one, other := protocol.StudyID{1}, protocol.StudyID{2}
	if _, err := s.Kept(one); !errors.Is(err, ErrNotFound) {
		t.Errorf("before: %v", err)
	}
	for _, id := range []protocol.StudyID{one, other} {
		if err := errors.Join(s.PutSecret(id, 1, []byte("seed")), s.PutKept(id, []byte("keys")), s.PutKept(id, []byte("keys again"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DestroySecrets(one); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Kept(one); err != nil || string(got) != "keys again" {
		t.Errorf("%q, %v", got, err)
	}
	path := filepath.Join(dir, "secrets", "kept-"+one.String())
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if ids, err := s.KeptStudies(); err != nil || !slices.Equal(ids, []protocol.StudyID{one, other}) {
		t.Errorf("%v, %v", ids, err)
	}
	if err := errors.Join(s.DestroyKept(one), s.DestroyKept(one)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after: %v", err)
	}
	if ids, err := s.KeptStudies(); err != nil || !slices.Equal(ids, []protocol.StudyID{other}) {
		t.Errorf("%v, %v", ids, err)
	}
}
