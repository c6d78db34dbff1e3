package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
)

// now is the date of journal entries about things that have no date.
func now() protocol.Instant { return protocol.Instant(time.Now().Unix()) }

// Note appends an entry to the journal. Durable when it returns nil.
func (s *Store) Note(e journal.Entry) error {
	if err := transact(s.db, func(tx *sql.Tx) error { return s.journal(tx, e) }); err != nil {
		return fmt.Errorf("writing the journal: %w", explain(err))
	}
	return nil
}

// journal appends an entry in the transaction of the change that it describes.
func (s *Store) journal(tx *sql.Tx, e journal.Entry) error {
	var last []byte
	err := scan(tx.QueryRow("SELECT raw FROM journal ORDER BY seq DESC LIMIT 1"), &last)
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

// LastNoted returns the date of the newest entry; 0 if there is none.
func (s *Store) LastNoted() (protocol.Instant, error) {
	var raw []byte
	err := scan(s.db.QueryRow("SELECT raw FROM journal ORDER BY seq DESC LIMIT 1"), &raw)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	var e journal.Entry
	if err == nil {
		e, err = journal.Decode(raw)
	}
	if err != nil {
		return 0, fmt.Errorf("reading the journal's newest entry: %w", explain(err))
	}
	return e.At, nil
}

// RestoredAt returns when this state directory was last restored from a backup, or ErrNotFound.
func (s *Store) RestoredAt() (protocol.Instant, error) {
	var raw []byte
	err := scan(s.db.QueryRow("SELECT raw FROM journal WHERE instr(raw, CAST(? AS BLOB)) > 0 ORDER BY seq DESC LIMIT 1", `"event":"`+string(journal.Restored)+`"`), &raw)
	var e journal.Entry
	if err == nil {
		e, err = journal.Decode(raw)
	}
	if err != nil {
		return 0, fmt.Errorf("when this state directory was restored: %w", explain(err))
	}
	return e.At, nil
}

// Journal returns every entry in order. It verifies the chain: if the journal was changed, the
// error is a *journal.Broken and the entries are those before the break.
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

// JournalHeads returns the hash of each entry, which is the journal's head after it. A truncated
// journal still verifies, but lacks a head that was noted elsewhere.
func (s *Store) JournalHeads() ([]protocol.Digest, error) {
	heads, err := collect(s.db, func(rows *sql.Rows) (protocol.Digest, error) {
		var raw []byte
		err := rows.Scan(&raw)
		return journal.Hash(raw), err
	}, "SELECT raw FROM journal ORDER BY seq")
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", explain(err))
	}
	return heads, nil
}
