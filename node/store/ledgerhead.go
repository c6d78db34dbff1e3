package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// What was debited is in the database alone. Where that loses its newest part, as when it is copied
// without its log, the chain that is left is whole. So how far the ledger had come is written down beside
// the database after each debit, and no release is stored without one.

// ledgerHeadFile has the number and the hash of the ledger's last entry.
const ledgerHeadFile = "ledger.head"

func ledgerHead(entries []ledger.Entry) string {
	last := entries[len(entries)-1]
	return fmt.Sprintf("%d %s\n", last.Sequence, last.Hash())
}

// keepLedgerHead writes down how far the ledger has come. Durable when it returns nil.
func (s *Store) keepLedgerHead(entries []ledger.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	return writeFile(s.path(ledgerHeadFile), []byte(ledgerHead(entries)))
}

// traces are what stands beside a ledger and tells how far it had come.
type traces struct {
	headed bool     // whether a head is written down
	head   string   // as it is written down
	stored []string // the directories of releases and queries
	role   Role
}

// traces looks at what stands beside the ledger. A writer beside this one debits first and leaves its traces
// then: so whoever compares the two reads the ledger after this, or misses what was debited in between.
func (s *Store) traces() (traces, error) {
	t := traces{role: s.role}
	head, err := private.Read(s.path(ledgerHeadFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return traces{}, err
	}
	t.headed, t.head = err == nil, string(head)
	dirs, err := os.ReadDir(s.path(releasesDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return traces{}, fmt.Errorf("looking through releases: %w", err)
	}
	for _, d := range dirs {
		name, _, _ := strings.Cut(d.Name(), "-query-")
		if _, err := protocol.ParseStudyID(name); err == nil && !strings.HasSuffix(d.Name(), ".tmp") {
			t.stored = append(t.stored, d.Name()) // others are not of this program, or half written
		}
	}
	return t, nil
}

// whole is ErrLedgerMissing where the entries lack one that left a trace.
func (t traces) whole(entries []ledger.Entry) error {
	if t.headed {
		var count int
		if _, err := fmt.Sscanf(t.head, "%d ", &count); err != nil || count < 1 {
			return fmt.Errorf("%s is damaged: it is %.40q (%s)", ledgerHeadFile, t.head, ledgerLost(t.role))
		}
		if count > len(entries) || ledgerHead(entries[:count]) != t.head {
			return fail.LedgerMissing.Of(fmt.Errorf("by %s it had %d entries, and the last of those is not in %s, which has %d", ledgerHeadFile, count, databaseFile, len(entries))).
				With(fmt.Sprintf("was that copied without %s-wal? %s", databaseFile, ledgerLost(t.role)))
		}
	}
	if unpaid := t.unpaid(entries); len(unpaid) > 0 {
		return fail.LedgerMissing.Of(fmt.Errorf("it has no debit for %s/%s, which is stored", releasesDir, unpaid[0])).With(ledgerLost(t.role))
	}
	return nil
}

// unpaid are the directories of stored releases and queries for which the entries have no debit.
func (t traces) unpaid(entries []ledger.Entry) []string {
	paid := map[string]bool{}
	for _, e := range entries {
		paid[releaseDirOf(e)] = true
	}
	return slices.DeleteFunc(slices.Clone(t.stored), func(dir string) bool { return paid[dir] })
}

// releaseDirOf is where what was debited is stored.
func releaseDirOf(e ledger.Entry) string {
	if e.Query > 0 {
		return QueryDir(e.Study, e.Query)
	}
	return e.Study.String()
}

// checkLedger holds the ledger of a party's database against what stands beside it, when it is opened. An
// entry that cannot be read is found by whoever reads it.
func (s *Store) checkLedger() error {
	if s.role != Party {
		return nil
	}
	beside, err := s.traces()
	if err != nil {
		return err
	}
	entries, err := readLedger(context.Background(), s.db)
	if err != nil {
		return nil
	}
	return beside.whole(entries)
}

// LedgerHeadKept reports whether how far the ledger has come is written down, as it is after every debit.
func (s *Store) LedgerHeadKept() (bool, error) {
	_, err := os.Stat(s.path(ledgerHeadFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// beginLedgerHead writes it down for a ledger that was taken over, or of a program that did not.
func (s *Store) beginLedgerHead() error {
	if s.role != Party {
		return nil
	}
	entries, err := readLedger(context.Background(), s.db)
	if err != nil {
		return nil // checkLedger
	}
	return s.keepLedgerHead(entries)
}

// backedUpRelease reports whether a file of a release belongs to one for which a copy of the database has the debit: the
// running node may have stored more since.
func backedUpRelease(entries []ledger.Entry, name string) bool {
	_, below, _ := strings.Cut(name, "/")
	dir, _, _ := strings.Cut(below, "/")
	return slices.ContainsFunc(entries, func(e ledger.Entry) bool { return releaseDirOf(e) == dir })
}
