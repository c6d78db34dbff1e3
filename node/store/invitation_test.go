package store

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/protocol/journal"
)

// An invitation has one introduction for good. Revoking it removes everything about it, even for a
// writer in progress.
func TestInvitations(t *testing.T) {
	dir := t.TempDir() + "/state"
	check(t, Create(dir, Aggregator, entropy(1)))
	s, err := Open(dir, Aggregator, Options{})
	check(t, err)
	defer s.Close()
	if ids, err := s.Invitations(); err != nil || len(ids) != 0 {
		t.Errorf("before there is one: %v %v", ids, err)
	}
	check(t, s.PutInvitation("0123abcd", []byte("one")))
	check(t, s.PutInvitation("00000000", []byte("two")))
	if err := s.PutInvitation("0123abcd", []byte("other")); !errors.Is(err, ErrConflict) {
		t.Errorf("another one in its place: %v", err)
	}
	for _, id := range []string{"", "../state", "0123ABCD", "0123abcd.revoked"} {
		if s.PutInvitation(id, nil) == nil || s.PutIntroduction(id, nil) == nil {
			t.Errorf("%q is stored", id)
		}
		if _, err := s.Invitation(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
		if err := s.RemoveInvitation(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("removing %q: %v", id, err)
		}
	}
	if _, err := s.Introduction("0123abcd"); !errors.Is(err, ErrNotFound) {
		t.Errorf("before it came: %v", err)
	}
	for range 2 {
		check(t, s.PutIntroduction("0123abcd", []byte("me")))
		check(t, s.PutAccepted("0123abcd"))
	}
	if err := s.PutIntroduction("0123abcd", []byte("you")); !errors.Is(err, ErrConflict) {
		t.Errorf("another introduction: %v", err)
	}
	accepted, err := s.Accepted("0123abcd")
	check(t, err)
	not, err := s.Accepted("00000000")
	check(t, err)
	if raw, err := s.Introduction("0123abcd"); err != nil || string(raw) != "me" || !accepted || not {
		t.Errorf("%q %v; accepted: %v, %v", raw, err, accepted, not)
	}
	if ids, err := s.Invitations(); err != nil || !slices.Equal(ids, []string{"00000000", "0123abcd"}) {
		t.Errorf("listed: %v %v", ids, err)
	}
	check(t, os.Mkdir(dir+"/invitations/11111111.revoked", 0o700)) // left by a process that was killed
	looker, err := Open(dir, Aggregator, Options{ReadOnly: true})
	check(t, err)
	defer looker.Close()
	if err := looker.RemoveInvitation("0123abcd"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a reader removes: %v", err)
	}
	check(t, s.RemoveInvitation("0123abcd"))
	for what, err := range map[string]error{
		"its record":      second(looker.Invitation("0123abcd")),
		"what came":       second(looker.Introduction("0123abcd")),
		"to be used":      s.PutIntroduction("0123abcd", []byte("me")),
		"to be accepted":  s.PutAccepted("0123abcd"),
		"removed again":   s.RemoveInvitation("0123abcd"),
		"to be read once": second(s.Invitation("0123abcd")),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s, after it was revoked: %v", what, err)
		}
	}
	if left, err := os.ReadDir(dir + "/invitations"); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
	entries, err := s.Journal()
	check(t, err)
	var noted []journal.Event
	for _, e := range entries {
		noted = append(noted, e.Event)
	}
	if want := []journal.Event{journal.InvitationMade, journal.InvitationMade, journal.InvitationUsed, journal.InvitationRevoked, journal.InvitationRevoked}; !slices.Equal(noted[len(noted)-len(want):], want) {
		t.Errorf("the journal has %v", noted)
	}
}

func second[T any](_ T, err error) error { return err }

// A node holds at most MostInvitations.
func TestInvitationsAreBounded(t *testing.T) {
	dir := t.TempDir() + "/state"
	check(t, Create(dir, Aggregator, entropy(1)))
	s, err := Open(dir, Aggregator, Options{})
	check(t, err)
	defer s.Close()
	for i := range MostInvitations {
		check(t, os.MkdirAll(fmt.Sprintf("%s/invitations/%08x", dir, i), 0o700))
	}
	if err := s.PutInvitation("ffffffff", []byte("one more")); err == nil {
		t.Error("one more is kept")
	}
	check(t, s.RemoveInvitation("00000000"))
	check(t, s.PutInvitation("ffffffff", []byte("one more")))
}
