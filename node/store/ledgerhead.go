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

// Debits are stored in the database only. If the database loses its newest part, for example
// because it is copied without its write-ahead log, the remaining chain is still valid. So the
// ledger's head is also stored in a file after each debit, and no release is stored without a
// debit.

// ledgerHeadFile holds the number and the hash of the ledger's last entry.
const ledgerHeadFile = "ledger.head"

func ledgerHead(entries []ledger.Entry) string {
	last := entries[len(entries)-1]
	return fmt.Sprintf("%d %s\n", last.Sequence, last.Hash())
}

// keepLedgerHead stores the ledger's head. Durable when it returns nil.
func (s *Store) keepLedgerHead(entries []ledger.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	return writeFile(s.path(ledgerHeadFile), []byte(ledgerHead(entries)))
}

// ledgerEvidence are files outside the database that show how long the ledger was.
type ledgerEvidence struct {
	headed bool     // there is a head file
	head   string   // its content
	stored []string // the directories of releases and queries
	role   Role
}

// traces reads the traces. Other processes debit first and leave traces afterwards. So a caller who
// compares the two must read the ledger after the traces, or may miss a debit made in between.
func (s *Store) traces() (ledgerEvidence, error) {
	t := ledgerEvidence{role: s.role}
	head, err := private.Read(s.path(ledgerHeadFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ledgerEvidence{}, err
	}
	t.headed, t.head = err == nil, string(head)
	dirs, err := os.ReadDir(s.path(releasesDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ledgerEvidence{}, fmt.Errorf("looking through releases: %w", err)
	}
	for _, d := range dirs {
		name, _, _ := strings.Cut(d.Name(), queryMark)
		if _, err := protocol.ParseStudyID(name); err == nil && !strings.HasSuffix(d.Name(), ".tmp") {
			t.stored = append(t.stored, d.Name()) // others are foreign or incomplete
		}
	}
	return t, nil
}

// check returns ErrLedgerMissing if the entries lack one that left a trace.
func (t ledgerEvidence) check(entries []ledger.Entry) error {
	if t.headed {
		var count int
		if _, err := fmt.Sscanf(t.head, "%d ", &count); err != nil || count < 1 {
			return fmt.Errorf("%s is damaged: it is %.40q (%s)", ledgerHeadFile, t.head, ledgerLost(t.role))
		}
		if count > len(entries) || ledgerHead(entries[:count]) != t.head {
			return fail.LedgerMissing.Of(fmt.Errorf("%s records %d entries; %s has %d and lacks the last one recorded", ledgerHeadFile, count, databaseFile, len(entries))).
				With(fmt.Sprintf("was %s copied without %s-wal? %s", databaseFile, databaseFile, ledgerLost(t.role)))
		}
	}
	if unpaid := t.withoutDebit(entries); len(unpaid) > 0 {
		return fail.LedgerMissing.Of(fmt.Errorf("it has no debit for %s/%s, which is stored", releasesDir, unpaid[0])).With(ledgerLost(t.role))
	}
	return nil
}

// withoutDebit returns the directories of stored releases and queries for which the entries have no
// debit.
func (t ledgerEvidence) withoutDebit(entries []ledger.Entry) []string {
	paid := map[string]bool{}
	for _, e := range entries {
		paid[releaseDirOf(e)] = true
	}
	return slices.DeleteFunc(slices.Clone(t.stored), func(dir string) bool { return paid[dir] })
}

// releaseDirOf returns the directory in which a debited release or query is stored.
func releaseDirOf(e ledger.Entry) string {
	if e.Query > 0 {
		return QueryDir(e.Study, e.Query)
	}
	return e.Study.String()
}

// checkLedger compares a party's ledger with its traces when the store is opened. It ignores a
// ledger that cannot be read: whoever reads it meets the error.
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
	return beside.check(entries)
}

// LedgerHeadKept reports whether the ledger's head is stored in a file, as it is after every debit.
func (s *Store) LedgerHeadKept() (bool, error) {
	_, err := os.Stat(s.path(ledgerHeadFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// beginLedgerHead stores the head of a ledger that was inherited, restored, or written by a program
// without head files.
func (s *Store) beginLedgerHead() error {
	if s.role != Party {
		return nil
	}
	entries, err := readLedger(context.Background(), s.db)
	if err != nil {
		return nil // as in checkLedger
	}
	return s.keepLedgerHead(entries)
}

// backedUpRelease reports whether a file belongs to a release whose debit is among the entries,
// which come from a copy of the database: the running node may have stored more releases since.
func backedUpRelease(entries []ledger.Entry, name string) bool {
	_, below, _ := strings.Cut(name, "/")
	dir, _, _ := strings.Cut(below, "/")
	return slices.ContainsFunc(entries, func(e ledger.Entry) bool { return releaseDirOf(e) == dir })
}
