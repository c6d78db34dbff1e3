package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
)

// now dates journal entries about what carries no date itself.
func now() protocol.Instant { return protocol.Instant(time.Now().Unix()) }

// Note appends an entry to the journal. Durable when it returns nil.
func (s *Store) Note(e journal.Entry) error {
	if err := transact(s.db, func(tx *sql.Tx) error { return s.journal(tx, e) }); err != nil {
		return fmt.Errorf("writing the journal: %w", explain(err))
	}
	return nil
}

// journal appends an entry in the transaction of what it tells of.
func (s *Store) journal(tx *sql.Tx, e journal.Entry) error {
	var last []byte
	err := tx.QueryRow("SELECT raw FROM journal ORDER BY seq DESC LIMIT 1").Scan(&last)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	var raw []byte
	if err == nil {
		raw, err = journal.Append(last, e)
	}
	if err == nil {
		_, err = tx.Exec("INSERT INTO journal (seq, raw) SELECT COALESCE(MAX(seq), 0) + 1, ? FROM journal", raw)
	}
	return err
}

// Journal returns every entry in order. It verifies the chain: a journal that is not what
// was written is a *journal.Broken, with the entries before the break.
func (s *Store) Journal() ([]journal.Entry, error) {
	raws, err := collect(s.db, func(rows *sql.Rows) (raw []byte, err error) {
		return raw, rows.Scan(&raw)
	}, "SELECT raw FROM journal ORDER BY seq")
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", explain(err))
	}
	entries, err := journal.Verify(raws)
	if err != nil {
		return entries, fmt.Errorf("reading the journal: %w", err)
	}
	return entries, nil
}

// JournalHead returns the number of entries and the hash of the last, to be noted
// elsewhere: a journal whose end was cut off still verifies, but has another head.
func (s *Store) JournalHead() (uint64, protocol.Digest, error) {
	var count uint64
	var raw []byte
	err := s.db.QueryRow("SELECT seq, raw FROM journal ORDER BY seq DESC LIMIT 1").Scan(&count, &raw)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, protocol.Digest{}, nil
	}
	if err != nil {
		return 0, protocol.Digest{}, fmt.Errorf("reading the journal: %w", explain(err))
	}
	return count, journal.Hash(raw), nil
}
