package store

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol/journal"
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

// A revocation that was killed after the token ceased to be valid is journaled by the next one, also
// of the same token.
func TestAKilledRevocationIsCompleted(t *testing.T) {
	dir := t.TempDir() + "/state of [a] node"
	check(t, Create(dir, Aggregator, entropy(1)))
	s, err := Open(dir, Aggregator, Options{})
	check(t, err)
	defer s.Close()
	const killed, next = "00000000", "0123abcd"
	revoked := func() (ids []string) {
		entries, err := s.Journal()
		check(t, err)
		for _, e := range entries {
			if e.Event == journal.TokenRevoked {
				ids = append(ids, e.Note)
			}
		}
		return ids
	}
	for _, again := range []string{killed, next} {
		check(t, s.PutToken(killed, []byte("one")))
		check(t, s.PutToken(next, []byte("two")))
		check(t, os.Rename(dir+"/tokens/"+killed, dir+"/tokens/"+killed+revokedSuffix))
		if _, err := s.Token(killed); !errors.Is(err, ErrNotFound) {
			t.Errorf("it is valid: %v", err)
		}
		before := len(revoked())
		check(t, s.RemoveToken(again))
		if ids := revoked()[before:]; ids[0] != killed || ids[len(ids)-1] != again || len(ids) > 2 {
			t.Errorf("the journal says that %v were revoked", ids)
		}
		if again == killed {
			check(t, s.RemoveToken(next))
		}
		if left, err := os.ReadDir(dir + "/tokens"); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
