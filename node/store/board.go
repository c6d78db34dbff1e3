package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
)

// SignedEnvelope is an envelope that this node signed.
type SignedEnvelope struct {
	Kind    protocol.Kind
	Attempt uint32
	Raw     []byte // encoded envelope
}

// PutSigned stores an own envelope, which must happen before it is sent. There is one per study, kind
// and attempt, for good: storing equal bytes again is a no-op, other bytes are ErrConflict. Durable
// when it returns nil.
func (s *Store) PutSigned(study protocol.StudyID, kind protocol.Kind, attempt uint32, raw []byte) error {
	err := transact(s.db, func(tx *sql.Tx) error {
		var before []byte
		err := scan(tx.QueryRow("SELECT raw FROM own WHERE study = ? AND kind = ? AND attempt = ?", study[:], string(kind), attempt), &before)
		switch {
		case err == nil && bytes.Equal(before, raw):
			return nil
		case err == nil:
			return fmt.Errorf("%w: another one was signed before", ErrConflict)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if _, err = tx.Exec("INSERT INTO own (study, kind, attempt, raw) VALUES (?, ?, ?, ?)", study[:], string(kind), attempt, raw); err != nil {
			return err
		}
		return s.journal(tx, journal.Entry{At: now(), Event: journal.Signed, Study: study.String(), Bytes: int64(len(raw)), Note: string(kind)})
	})
	if err != nil {
		return fmt.Errorf("storing own %s/%d of study %s: %w", kind, attempt, study.Short(), explain(err))
	}
	return nil
}

// Own returns this node's envelopes of a study in the order of storage.
func (s *Store) Own(study protocol.StudyID) ([]SignedEnvelope, error) {
	own, err := collect(s.db, func(rows *sql.Rows) (o SignedEnvelope, err error) {
		return o, rows.Scan(&o.Kind, &o.Attempt, &o.Raw)
	}, "SELECT kind, attempt, raw FROM own WHERE study = ? ORDER BY seq", study[:])
	if err != nil {
		return nil, fmt.Errorf("reading own envelopes of study %s: %w", study.Short(), explain(err))
	}
	return own, nil
}

// AppendBoard appends encoded envelopes to a study's board. The board's length must be from;
// otherwise it changes nothing and returns ErrConflict. A non-nil head replaces the stored one,
// even without envelopes. The call is atomic, and durable when it returns nil. An aggregator also
// notes the time of each envelope in its journal.
func (s *Store) AppendBoard(study protocol.StudyID, from uint64, raws [][]byte, head []byte) error {
	err := transact(s.db, func(tx *sql.Tx) error {
		var count uint64
		if err := scan(tx.QueryRow("SELECT COUNT(*) FROM board WHERE study = ?", study[:]), &count); err != nil {
			return err
		}
		if count != from {
			return fmt.Errorf("%w: it holds %d envelopes, not %d", ErrConflict, count, from)
		}
		for i, raw := range raws {
			if _, err := tx.Exec("INSERT INTO board (study, seq, raw) VALUES (?, ?, ?)", study[:], from+uint64(i), raw); err != nil {
				return err
			}
			if s.role != Aggregator {
				continue
			}
			entry := journal.Entry{At: now(), Event: journal.OnBoard, Study: study.String(), Bytes: int64(len(raw)), Note: fmt.Sprintf("%s%d", messageNote, from+uint64(i))}
			if err := s.journal(tx, entry); err != nil {
				return err
			}
		}
		if head == nil {
			return nil
		}
		_, err := tx.Exec("INSERT INTO heads (study, raw) VALUES (?, ?) ON CONFLICT (study) DO UPDATE SET raw = excluded.raw", study[:], head)
		return err
	})
	if err != nil {
		return fmt.Errorf("appending to the board of study %s: %w", study.Short(), explain(err))
	}
	return nil
}

// messageNote precedes a message's number in journal notes.
const messageNote = "message "

// Noted says when an aggregator noted a message on a board, by its own clock.
type Noted struct {
	Study  protocol.StudyID
	Number uint64 // of the message on the board, from 0
	At     protocol.Instant
}

// Noted returns the messages on boards that the journal notes after an entry (0: from the start),
// and the number of the last entry read, to pass to the next call. It verifies nothing, unlike
// Journal.
func (s *Store) Noted(after uint64) (noted []Noted, last uint64, err error) {
	fail := func(err error) ([]Noted, uint64, error) {
		return nil, after, fmt.Errorf("reading the journal: %w", explain(err))
	}
	raws, err := collect(s.db, func(rows *sql.Rows) (raw []byte, err error) {
		return raw, rows.Scan(&raw)
	}, "SELECT raw FROM journal WHERE seq > ? ORDER BY seq", after)
	if err != nil {
		return fail(err)
	}
	for _, raw := range raws {
		e, err := journal.Decode(raw)
		if err != nil {
			return fail(err)
		}
		last = e.Sequence
		if e.Event != journal.OnBoard {
			continue
		}
		n := Noted{At: e.At}
		if n.Study, err = protocol.ParseStudyID(e.Study); err != nil {
			return fail(err)
		}
		if n.Number, err = strconv.ParseUint(strings.TrimPrefix(e.Note, messageNote), 10, 64); err != nil {
			return fail(err)
		}
		noted = append(noted, n)
	}
	return noted, max(after, last), nil
}

// Board returns at most limit encoded envelopes of a board in order, starting with number from; the
// first is 0.
func (s *Store) Board(study protocol.StudyID, from uint64, limit int) ([][]byte, error) {
	raws, err := collect(s.db, func(rows *sql.Rows) (raw []byte, err error) {
		return raw, rows.Scan(&raw)
	}, "SELECT raw FROM board WHERE study = ? AND seq >= ? ORDER BY seq LIMIT ?", study[:], from, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the board of study %s: %w", study.Short(), explain(err))
	}
	return raws, nil
}

// BoardCount returns the number of envelopes on a board, 0 for an unknown study.
func (s *Store) BoardCount(study protocol.StudyID) (uint64, error) {
	var count uint64
	if err := scan(s.db.QueryRow("SELECT COUNT(*) FROM board WHERE study = ?", study[:]), &count); err != nil {
		return 0, fmt.Errorf("reading the board of study %s: %w", study.Short(), explain(err))
	}
	return count, nil
}

// Head returns the newest encoded head of a board, or ErrNotFound.
func (s *Store) Head(study protocol.StudyID) ([]byte, error) {
	var raw []byte
	if err := scan(s.db.QueryRow("SELECT raw FROM heads WHERE study = ?", study[:]), &raw); err != nil {
		return nil, fmt.Errorf("board head of study %s: %w", study.Short(), explain(err))
	}
	return raw, nil
}
