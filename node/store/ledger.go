package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// Debit checks and appends to the ledger in one transaction, exclusive among all processes. decide
// receives the whole ledger, all datasets, and returns the entries to append, in order and not yet
// chained; none if there is nothing to debit. If it returns an error, the ledger does not change.
// Debit returns the entries as appended; they are durable if its error is nil. If the commit itself
// fails, they may be durable nevertheless: call Debit again and let decide look for them.
func (s *Store) Debit(ctx context.Context, decide func(entries []ledger.Entry) ([]ledger.Entry, error)) ([]ledger.Entry, error) {
	entries, err := s.debit(ctx, decide)
	if err != nil {
		return nil, fmt.Errorf("debiting the ledger: %w", explain(err))
	}
	return entries, nil
}

func (s *Store) debit(ctx context.Context, decide func(entries []ledger.Entry) ([]ledger.Entry, error)) ([]ledger.Entry, error) {
	if s.readOnly {
		return nil, ErrReadOnly
	}
	select {
	case s.debiting <- struct{}{}:
		defer func() { <-s.debiting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	tx, err := s.db.BeginTx(ctx, nil) // BEGIN IMMEDIATE: see openDatabase
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	if err := inService(tx); err != nil {
		return nil, err
	}
	beside, err := s.traces()
	if err != nil {
		return nil, err
	}
	entries, err := readLedger(ctx, tx)
	if err != nil {
		return nil, err
	}
	if err := beside.check(entries); err != nil {
		return nil, err
	}
	asked, err := decide(entries)
	if err != nil {
		return nil, err
	}
	first := len(entries)
	for _, next := range asked {
		if next, err = ledger.Append(entries, next); err != nil {
			return nil, err
		}
		raw, err := next.Encode()
		if err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO ledger (seq, raw) VALUES (?, ?)", next.Sequence, raw); err != nil {
			return nil, err
		}
		entries = append(entries, next)
		noted := journal.Entry{At: next.At, Event: journal.Debited, Study: next.Study.String(), Note: debitNote(next)}
		if err := s.journal(tx, noted); err != nil {
			return nil, err
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	if err := s.keepLedgerHead(entries); err != nil {
		return nil, err
	}
	return entries[first:], nil
}

// debitNote returns the journal note of a debit. Summed parses it.
func debitNote(e ledger.Entry) string {
	released := fmt.Sprintf("sketch %d", e.Sketch+1)
	if e.Query > 0 {
		released = fmt.Sprintf("query %d", e.Query)
	}
	return fmt.Sprintf("dataset %q, %s, ledger entry %s", e.Dataset, released, ledgerMark(e))
}

// markedDebit matches the end of a debitNote.
var markedDebit = regexp.MustCompile(`, (?:sketch [0-9]+|query ([0-9]+)), ledger entry [0-9]+ \([0-9a-f]{16}\)$`)

// Summed returns the directory names of the releases and queries that must have a file of sums,
// derived from the debits in the journal: a debit note with a ledger mark comes from a program that
// also writes sums. The releases need not have been drawn yet.
func Summed(entries []journal.Entry) map[string]bool {
	out := map[string]bool{}
	for _, e := range entries {
		mark := markedDebit.FindStringSubmatch(e.Note)
		study, err := protocol.ParseStudyID(e.Study)
		if e.Event != journal.Debited || mark == nil || err != nil {
			continue
		}
		name := study.String()
		if number, err := strconv.Atoi(mark[1]); err == nil {
			name = QueryDir(study, number)
		}
		out[name] = true
	}
	return out
}

// ledgerMark identifies an entry in journal notes by its number and the beginning of its hash. The
// hash of a chain's last entry is stored nowhere else.
func ledgerMark(e ledger.Entry) string {
	return fmt.Sprintf("%d (%s)", e.Sequence, e.Hash().String()[:16])
}

// Ledger returns every entry of every dataset in order. It verifies the chain: if the ledger was
// changed, the error is a *ledger.BrokenChain.
func (s *Store) Ledger() ([]ledger.Entry, error) {
	entries, err := readLedger(context.Background(), s.db)
	if err != nil {
		return nil, fmt.Errorf("reading the ledger: %w", explain(err))
	}
	return entries, nil
}

// KeepLedgerHead is for aggregators. It stores a party's signed ledger head if its count exceeds
// that of the stored one, and returns the encoded head that is stored afterwards. If that is not
// raw, the party had signed another head of at least this count. Durable when the error is nil.
func (s *Store) KeepLedgerHead(party protocol.PeerID, count uint64, raw []byte) (kept []byte, err error) {
	err = transact(s.db, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO ledger_heads (party, count, raw) VALUES (?, ?, ?)
			ON CONFLICT (party) DO UPDATE SET count = excluded.count, raw = excluded.raw WHERE excluded.count > count`, party[:], count, raw)
		if err != nil {
			return err
		}
		return scan(tx.QueryRow("SELECT raw FROM ledger_heads WHERE party = ?", party[:]), &kept)
	})
	if err != nil {
		return nil, fmt.Errorf("keeping the ledger head of %s: %w", party, explain(err))
	}
	return kept, nil
}

// LedgerHead returns the encoded head that KeepLedgerHead stored for a party, or ErrNotFound.
func (s *Store) LedgerHead(party protocol.PeerID) ([]byte, error) {
	var kept []byte
	err := scan(s.db.QueryRow("SELECT raw FROM ledger_heads WHERE party = ?", party[:]), &kept)
	if err != nil {
		return nil, fmt.Errorf("ledger head of %s: %w", party, explain(err))
	}
	return kept, nil
}

// LedgerHeads calls each for every stored ledger head, without decoding it.
func (s *Store) LedgerHeads(each func(party []byte, count int64, raw []byte) error) error {
	type row struct {
		party, raw []byte
		count      int64
	}
	kept, err := collect(s.db, func(rows *sql.Rows) (r row, err error) { return r, rows.Scan(&r.party, &r.count, &r.raw) },
		"SELECT party, count, raw FROM ledger_heads ORDER BY party")
	if err != nil {
		return fmt.Errorf("reading ledger heads: %w", explain(err))
	}
	for _, r := range kept {
		if err := each(r.party, r.count, r.raw); err != nil {
			return err
		}
	}
	return nil
}

// queryer is a database or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func readLedger(ctx context.Context, q queryer) ([]ledger.Entry, error) {
	rows, err := q.QueryContext(ctx, "SELECT seq, raw FROM ledger ORDER BY seq")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var entries []ledger.Entry
	for rows.Next() {
		var seq uint64
		var raw []byte
		if err := scanned(rows.Scan(&seq, &raw)); err != nil {
			return nil, err
		}
		e, err := ledger.DecodeEntry(raw)
		if err == nil && e.Sequence != seq {
			err = errors.New("its number is not its place")
		}
		if err != nil {
			return nil, &ledger.BrokenChain{Sequence: seq, Err: err}
		}
		entries = append(entries, e)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return entries, ledger.VerifyChain(entries)
}
