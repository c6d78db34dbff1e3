package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
)

func TestRotate(t *testing.T) {
	s, _ := filled(t)
	spent, other := addStudy(t, s, "spent"), addStudy(t, s, "other")
	for i := range 3 {
		if _, err := debit(t, s, spent, i); err != nil {
			t.Fatal(err)
		}
	}
	before, err := s.Ledger()
	must(t, err)
	_, err = s.RetiredAt()
	wantIs(t, err, ErrNotFound)
	dir := filepath.Join(t.TempDir(), "new")
	id, err := s.Rotate(dir, entropy(9), 500)
	must(t, err)
	if old, _ := s.ID(); old == id || id == (protocol.PeerID{}) {
		t.Errorf("the new identity is %s", id)
	}
	next := open(t, dir, Party, Options{})
	after, err := next.Ledger()
	must(t, err)
	if len(after) != len(before) || after[2].Hash() != before[2].Hash() {
		t.Errorf("the new ledger has %d entries, the old one %d", len(after), len(before))
	}
	// The old identity stops, and the new one continues.
	wantIs(t, s.PutDecision(other, Approve, 600), ErrRetired)
	_, err = debit(t, s, spent, 4)
	wantIs(t, err, ErrRetired)
	must(t, s.PutDecision(other, Decline, 600))
	if _, err := debit(t, next, addStudy(t, next, "next"), 0); err != nil {
		t.Error(err)
	}
	if successor, err := s.Retired(); successor != id || err != nil {
		t.Errorf("successor %s, %v", successor, err)
	}
	if at, err := s.RetiredAt(); at != 500 || err != nil {
		t.Errorf("retired at %s, %v", at, err)
	}
	// Repeating it gives the same identity; another directory is refused.
	if again, err := s.Rotate(dir, entropy(9), 700); again != id || err != nil {
		t.Errorf("again: %s, %v", again, err)
	}
	if _, err := s.Rotate(filepath.Join(t.TempDir(), "third"), entropy(9), 700); !errors.Is(err, ErrNoStore) {
		t.Errorf("elsewhere: %v", err)
	}
	_, err = s.Rotate(newDir(t, Party), entropy(9), 700)
	wantIs(t, err, ErrRetired)
}

// A rotation killed between its steps is completed by the next one, and at no time can both
// identities spend.
func TestRotateKilled(t *testing.T) {
	s, id := filled(t)
	if _, err := debit(t, s, id, 0); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new")
	must(t, Create(dir, Party, entropy(9)))
	next := open(t, dir, Party, Options{})
	successor, err := next.ID()
	must(t, err)
	must(t, s.retire(successor, 500))
	must(t, next.Close())
	if _, err := debit(t, s, id, 1); !errors.Is(err, ErrRetired) {
		t.Errorf("the old one spends: %v", err)
	}
	_, err = s.Rotate(dir, entropy(9), 500)
	must(t, err)
	if entries, err := open(t, dir, Party, Options{}).Ledger(); err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// A successor that has spent by itself inherits no ledger: the two would contradict each other.
func TestRotateOntoALedgerOfItsOwn(t *testing.T) {
	s, id := filled(t)
	dir := filepath.Join(t.TempDir(), "new")
	must(t, Create(dir, Party, entropy(9)))
	next := open(t, dir, Party, Options{})
	if _, err := debit(t, next, addStudy(t, next, "another"), 3); err != nil {
		t.Fatal(err)
	}
	before, err := next.Ledger()
	must(t, err)
	successor, err := next.ID()
	must(t, err)
	must(t, next.Close())
	must(t, s.retire(successor, 500)) // like a rotation that was killed
	_, err = s.Rotate(dir, entropy(9), 500)
	wantIs(t, err, ErrConflict)
	if !strings.Contains(err.Error(), "the new directory's ledger does not begin with all entries of the old one") {
		t.Errorf("error %v", err)
	}
	after, err := open(t, dir, Party, Options{}).Ledger()
	if err != nil || len(after) != len(before) || after[0].Hash() != before[0].Hash() {
		t.Errorf("its ledger has %d entries now (%v)", len(after), err)
	}
	if _, err := debit(t, s, id, 1); !errors.Is(err, ErrRetired) {
		t.Errorf("the old one spends: %v", err)
	}
}
