package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
)

func entry(study protocol.StudyID, sketch int) ledger.Entry {
	return ledger.Entry{
		Salt: [32]byte{1, 2, 3}, Dataset: "patients", Study: study, Aggregator: protocol.PeerID{9}, Sketch: sketch,
		Unit: dp.Record, Mechanism: dp.Laplace, Epsilon: 0.5, Attributes: 3, At: 1000,
	}
}

// debit spends once for a sketch, as a driver does.
func debit(t testing.TB, s *Store, study protocol.StudyID, sketch int) ([]ledger.Entry, error) {
	t.Helper()
	return s.Debit(context.Background(), func(entries []ledger.Entry) ([]ledger.Entry, error) {
		if _, found := ledger.Debited(entries, entry(study, sketch)); found {
			return nil, nil
		}
		return []ledger.Entry{entry(study, sketch)}, nil
	})
}

func TestDebit(t *testing.T) {
	s := newStore(t, Party)
	one, two := studyID("one"), studyID("two")
	got, err := debit(t, s, one, 0)
	if err != nil || len(got) != 1 || got[0].Sequence != 1 {
		t.Fatalf("first debit: %v, %v", got, err)
	}
	if got, err = debit(t, s, one, 0); err != nil || len(got) != 0 {
		t.Errorf("the same again: %v, %v", got, err)
	}
	got, err = s.Debit(context.Background(), func(entries []ledger.Entry) ([]ledger.Entry, error) {
		return []ledger.Entry{entry(two, 0), entry(two, 1)}, nil
	})
	if err != nil || len(got) != 2 || got[1].Sequence != 3 || got[1].Previous != got[0].Hash() {
		t.Fatalf("two at once: %v, %v", got, err)
	}
	s = reopen(t, s)
	all, err := s.Ledger()
	must(t, err)
	if len(all) != 3 || all[0].Study != one || all[2] != got[1] {
		t.Errorf("ledger %v", all)
	}
}

// Any failure inside a debit leaves the ledger as it was.
func TestDebitIsAllOrNothing(t *testing.T) {
	s := newStore(t, Party)
	study := studyID("study")
	if _, err := debit(t, s, study, 0); err != nil {
		t.Fatal(err)
	}
	exceeded := errors.New("budget exceeded")
	bad := entry(study, 3)
	bad.Epsilon = -1
	for name, c := range map[string]struct {
		entries []ledger.Entry
		err     error
	}{
		"decided against":      {[]ledger.Entry{entry(study, 1)}, exceeded},
		"the second is bad":    {[]ledger.Entry{entry(study, 2), bad}, nil},
		"debited before":       {[]ledger.Entry{entry(study, 5), entry(study, 0)}, nil},
		"debited in the batch": {[]ledger.Entry{entry(study, 6), entry(study, 6)}, nil},
	} {
		_, err := s.Debit(context.Background(), func([]ledger.Entry) ([]ledger.Entry, error) { return c.entries, c.err })
		if err == nil || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := s.Debit(ctx, func([]ledger.Entry) ([]ledger.Entry, error) {
		cancel()
		return []ledger.Entry{entry(study, 7)}, nil
	})
	wantIs(t, err, context.Canceled)
	if all, err := s.Ledger(); len(all) != 1 || err != nil {
		t.Errorf("ledger %v, %v", all, err)
	}
}

// Debits of several connections never see the same state of the ledger: each chain link is used
// once, and a cap that allows half of them stops the other half.
func TestDebitConcurrently(t *testing.T) {
	dir := newDir(t, Party)
	const workers, each, allowed = 4, 10, 20
	full := errors.New("full")
	var wg sync.WaitGroup
	for w := range workers {
		s := open(t, dir, Party, Options{})
		wg.Go(func() {
			for i := range each {
				_, err := s.Debit(context.Background(), func(entries []ledger.Entry) ([]ledger.Entry, error) {
					if len(entries) >= allowed {
						return nil, full
					}
					return []ledger.Entry{entry(studyID(fmt.Sprint(w)), i)}, nil
				})
				if err != nil && !errors.Is(err, full) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all, err := open(t, dir, Party, Options{}).Ledger()
	if len(all) != allowed || err != nil {
		t.Errorf("%d entries of %d allowed, %v", len(all), allowed, err)
	}
}

func TestTriggersRefuseTampering(t *testing.T) {
	s := newStore(t, Party)
	study := addStudy(t, s, "study")
	for sketch := range 2 {
		if _, err := debit(t, s, study, sketch); err != nil {
			t.Fatal(err)
		}
	}
	must(t, s.PutSigned(study, protocol.KindApprove, 0, []byte("a")))
	must(t, s.AppendBoard(study, 0, [][]byte{{1}}, nil))
	for _, statement := range []string{
		"UPDATE ledger SET raw = x'00' WHERE seq = 1",
		"UPDATE ledger SET seq = 7 WHERE seq = 2",
		"DELETE FROM ledger",
		"DELETE FROM ledger WHERE seq = 2",
		"INSERT INTO ledger (seq, raw) VALUES (4, x'00')",
		"INSERT OR REPLACE INTO ledger (seq, raw) VALUES (2, x'00')",
		"UPDATE meta SET ledger = 'x'",
		"DELETE FROM meta",
		"UPDATE own SET raw = x'00'",
		"DELETE FROM own",
		"UPDATE board SET raw = x'00'",
		"DELETE FROM board",
		"DELETE FROM studies",
	} {
		if err := tryTamper(t, s.dir, statement); err == nil {
			t.Errorf("%s: succeeded", statement)
		}
	}
	if all, err := s.Ledger(); len(all) != 2 || err != nil {
		t.Errorf("ledger %v, %v", all, err)
	}
}

// Somebody who removes the triggers still meets the hash chain.
func TestBrokenChain(t *testing.T) {
	for name, c := range map[string]struct {
		statement string
		sequence  uint64
	}{
		"entry changed":  {"UPDATE ledger SET raw = CAST(substr(raw, 1, length(raw) - 1) || x'07' AS BLOB) WHERE seq = 2", 3},
		"entry garbled":  {"UPDATE ledger SET raw = x'00' WHERE seq = 2", 2},
		"entry removed":  {"DELETE FROM ledger WHERE seq = 2", 2},
		"first removed":  {"DELETE FROM ledger WHERE seq = 1", 1},
		"entry repeated": {"UPDATE ledger SET raw = (SELECT raw FROM ledger WHERE seq = 1) WHERE seq = 2", 2},
		"entry moved":    {"UPDATE ledger SET seq = 9 WHERE seq = 3", 9},
	} {
		s := newStore(t, Party)
		for sketch := range 3 {
			if _, err := debit(t, s, studyID("study"), sketch); err != nil {
				t.Fatal(err)
			}
		}
		tamper(t, s.dir, "DROP TRIGGER ledger_keep", "DROP TRIGGER ledger_stay", c.statement)
		_, err := s.Ledger()
		var broken *ledger.BrokenChain
		if !errors.As(err, &broken) || broken.Sequence != c.sequence {
			t.Errorf("%s: %v, want a chain broken at %d", name, err, c.sequence)
		}
		if _, err := debit(t, s, studyID("other"), 0); !errors.As(err, &broken) || !strings.Contains(err.Error(), "debiting") {
			t.Errorf("%s: a debit on a broken ledger: %v", name, err)
		}
	}
}

func BenchmarkDebit(b *testing.B) {
	s := newStore(b, Party)
	for i := range b.N {
		if _, err := debit(b, s, studyID("study"), i); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPutSigned(b *testing.B) {
	s := newStore(b, Party)
	study := addStudy(b, s, "study")
	for i := range b.N {
		if err := s.PutSigned(study, protocol.KindCommit, uint32(i), make([]byte, 1500)); err != nil {
			b.Fatal(err)
		}
	}
}

// An aggregator keeps the highest head of each party, for good.
func TestKeepLedgerHead(t *testing.T) {
	s := newStore(t, Aggregator)
	one, two := protocol.PeerID{1}, protocol.PeerID{2}
	for _, c := range []struct {
		party protocol.PeerID
		count uint64
		raw   string
		kept  string
	}{
		{one, 0, "empty", "empty"}, {one, 2, "second", "second"}, {one, 1, "lower", "second"}, {one, 2, "another second", "second"},
		{two, 1, "of two", "of two"}, {one, 3, "third", "third"}, {one, 0, "empty", "third"},
	} {
		kept, err := s.KeepLedgerHead(c.party, c.count, []byte(c.raw))
		if err != nil || string(kept) != c.kept {
			t.Errorf("%s: kept %q (%v), want %q", c.raw, kept, err, c.kept)
		}
	}
	s = reopen(t, s)
	if kept, err := s.KeepLedgerHead(one, 0, nil); err == nil && string(kept) != "third" {
		t.Errorf("after a restart %q is kept (%v)", kept, err)
	}
	if kept, err := s.LedgerHead(two); err != nil || string(kept) != "of two" {
		t.Errorf("of the other party %q is kept (%v)", kept, err)
	}
	for _, s := range []*Store{s, newStore(t, Aggregator)} {
		if _, err := s.LedgerHead(protocol.PeerID{3}); !errors.Is(err, ErrNotFound) {
			t.Errorf("of a third party: %v", err)
		}
	}
}
