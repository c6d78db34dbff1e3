package store

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/node/private"
)

func TestTokens(t *testing.T) {
	dir := t.TempDir() + "/agg"
	check(t, Create(dir, Aggregator, entropy(1)))
	s, err := Open(dir, Aggregator, Options{})
	check(t, err)
	defer s.Close()
	if ids, err := s.Tokens(); err != nil || len(ids) > 0 {
		t.Errorf("before there is one: %v %v", ids, err)
	}
	check(t, s.PutToken("0123abcd", []byte("one")))
	check(t, s.PutToken("00000000", []byte("two")))
	if err := s.PutToken("0123abcd", []byte("other")); !errors.Is(err, ErrConflict) {
		t.Errorf("another one in its place: %v", err)
	}
	for _, id := range []string{"", "../state", "0123ABCD", "0123abcd.tmp"} {
		if s.PutToken(id, nil) == nil {
			t.Errorf("%q is stored", id)
		}
		if _, err := s.Token(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
		if err := s.RemoveToken(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("removing %q: %v", id, err)
		}
	}
	if record, err := s.Token("0123abcd"); err != nil || string(record) != "one" {
		t.Errorf("%s %v", record, err)
	}
	check(t, os.WriteFile(dir+"/tokens/0123abcd.1.tmp", nil, 0o600)) // left by a process that was killed
	if ids, err := s.Tokens(); err != nil || !slices.Equal(ids, []string{"00000000", "0123abcd"}) {
		t.Errorf("listed: %v %v", ids, err)
	}
	check(t, os.Chmod(dir+"/tokens/0123abcd", 0o620))
	if _, err := s.Token("0123abcd"); !errors.Is(err, private.ErrOpen) && runtime.GOOS != "windows" {
		t.Errorf("a token that others can write to: %v", err)
	}
	check(t, os.Chmod(dir+"/tokens/0123abcd", 0o600))
	looker, err := Open(dir, Aggregator, Options{ReadOnly: true})
	check(t, err)
	defer looker.Close()
	if err := looker.RemoveToken("0123abcd"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a reader removes: %v", err)
	}
	check(t, s.RemoveToken("0123abcd"))
	if _, err := looker.Token("0123abcd"); !errors.Is(err, ErrNotFound) {
		t.Errorf("removed: %v", err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
