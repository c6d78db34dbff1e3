package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
)

// errFault is the error of a step that a test makes fail.
var errFault = errors.New("a fault that a test has made")

// faults makes the n-th database step fail: a statement, the reading of a row, or the beginning or
// end of a transaction.
type faults struct {
	from    *sql.DB
	at, did int
	hit     string // which step failed
}

// failing replaces a store's database by one whose steps can fail.
func failing(t *testing.T, s *Store) *faults {
	t.Helper()
	f := &faults{from: s.db}
	s.db = sql.OpenDB(f)
	s.db.SetMaxOpenConns(1) // one connection, so that steps have an order
	t.Cleanup(func() { s.db.Close(); f.from.Close() })
	return f
}

func (f *faults) step(what string) error {
	if f.did++; f.did != f.at {
		return nil
	}
	f.hit = what
	return fmt.Errorf("%s: %w", what, errFault)
}

func (f *faults) Driver() driver.Driver { return f.from.Driver() }

func (f *faults) Connect(ctx context.Context) (driver.Conn, error) {
	held, err := f.from.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &faultyConn{held: held, faults: f}
	return c, held.Raw(func(of any) error { c.Conn = of.(driver.Conn); return nil })
}

type faultyConn struct {
	driver.Conn
	held *sql.Conn
	*faults
}

func (c *faultyConn) Close() error { return c.held.Close() }

func (c *faultyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.step(query); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *faultyConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.step(query); err != nil {
		return nil, err
	}
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
	return &faultyRows{rows, c.faults, query}, err
}

func (c *faultyConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.step("begin"); err != nil {
		return nil, err
	}
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	return &faultyTx{tx, c.faults}, err
}

type faultyRows struct {
	driver.Rows
	*faults
	of string
}

func (r *faultyRows) Next(into []driver.Value) error {
	if err := r.step("a row of " + r.of); err != nil {
		return err
	}
	return r.Rows.Next(into)
}

type faultyTx struct {
	driver.Tx
	*faults
}

func (t *faultyTx) Commit() error {
	if err := t.step("commit"); err != nil {
		return errors.Join(err, t.Rollback())
	}
	return t.Tx.Commit()
}

// dumped returns the whole content of a database.
func dumped(t *testing.T, db *sql.DB) string {
	t.Helper()
	var out strings.Builder
	tables, err := collect(db, func(rows *sql.Rows) (name string, err error) { return name, rows.Scan(&name) },
		"SELECT name FROM sqlite_schema WHERE type = 'table'")
	must(t, err)
	for _, name := range tables {
		rows, err := db.Query("SELECT * FROM " + name)
		must(t, err)
		columns, err := rows.Columns()
		must(t, err)
		for rows.Next() {
			values := make([]any, len(columns))
			into := make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			must(t, rows.Scan(into...))
			fmt.Fprintf(&out, "%s %q\n", name, values)
		}
		must(t, errors.Join(rows.Err(), rows.Close()))
	}
	return out.String()
}

// operation is a store method that uses the database.
type operation struct {
	name string
	do   func(s *Store) error
}

// stocked returns a store with a row in every table that its role writes.
func stocked(t *testing.T, role Role) (*Store, protocol.StudyID) {
	t.Helper()
	if role == Party {
		s, id := filled(t)
		must(t, s.PutPeopleSample("north", sampleOf(t, s, "a.csv", "1", "2")))
		must(t, s.PutCosignature(id, protocol.PeerID{7}, "line", 3))
		must(t, s.PutStatus(id, []byte("{}")))
		must(t, s.Note(journal.Entry{At: 5, Event: journal.Restored}))
		return s, id
	}
	s := newStore(t, role)
	id := addStudy(t, s, "study")
	must(t, s.AppendBoard(id, 0, [][]byte{{1}, {2}}, []byte("head")))
	_, err := s.KeepLedgerHead(protocol.PeerID{1}, 1, []byte("head"))
	must(t, err)
	must(t, s.PutChunk(id, protocol.PeerID{1}, 0, 0, []byte("sketch")))
	return s, id
}

// operations returns operations on a store made by stocked. They can run in sequence, and
// repeatedly.
func operations(t *testing.T, role Role, id protocol.StudyID) []operation {
	peer := protocol.PeerID{9}
	both := []operation{
		{"Integrity", func(s *Store) error { return second(s.Integrity()) }},
		{"CheckSchema", func(s *Store) error { return s.CheckSchema() }},
		{"QuickCheck", func(s *Store) error { return second(s.QuickCheck(t.Context())) }},
		{"Note", func(s *Store) error { return s.Note(journal.Entry{At: 6, Event: journal.BackedUp}) }},
		{"LastNoted", func(s *Store) error { return second(s.LastNoted()) }},
		{"Journal", func(s *Store) error { return second(s.Journal()) }},
		{"JournalHeads", func(s *Store) error { return second(s.JournalHeads()) }},
		{"PutStudy", func(s *Store) error { return s.PutStudy(studyID("new"), []byte("new"), 1) }},
		{"Study", func(s *Store) error { return second(s.Study(id)) }},
		{"Studies", func(s *Store) error { return second(s.Studies()) }},
		{"FindStudy", func(s *Store) error { return second(s.FindStudy(id.String()[:6])) }},
		{"Backup", func(s *Store) error { return second(s.Backup(io.Discard)) }},
	}
	if role == Aggregator {
		return append(both, []operation{
			{"AppendBoard", func(s *Store) error { return s.AppendBoard(id, 2, [][]byte{{3}, {4}}, []byte("head")) }},
			{"Noted", func(s *Store) error { _, _, err := s.Noted(0); return err }},
			{"Board", func(s *Store) error { return second(s.Board(id, 0, 9)) }},
			{"BoardCount", func(s *Store) error { return second(s.BoardCount(id)) }},
			{"Head", func(s *Store) error { return second(s.Head(id)) }},
			{"KeepLedgerHead", func(s *Store) error { return second(s.KeepLedgerHead(peer, 1, []byte("head"))) }},
			{"LedgerHead", func(s *Store) error { return second(s.LedgerHead(peer)) }},
			{"LedgerHeads", func(s *Store) error { return s.LedgerHeads(func([]byte, int64, []byte) error { return nil }) }},
			{"PutToken", func(s *Store) error { return s.PutToken("0123abcd", []byte("token")) }},
			{"PutInvitation", func(s *Store) error { return s.PutInvitation("0123abcd", []byte("record")) }},
			{"PutIntroduction", func(s *Store) error { return s.PutIntroduction("0123abcd", []byte("me")) }},
			{"Purge", func(s *Store) error { return second(s.Purge(id, 1)) }},
		}...)
	}
	return append(both, []operation{
		{"PutSigned", func(s *Store) error { return s.PutSigned(id, protocol.KindCommit, 1, []byte("commit")) }},
		{"Own", func(s *Store) error { return second(s.Own(id)) }},
		{"RestoredAt", func(s *Store) error { return second(s.RestoredAt()) }},
		{"Debit", func(s *Store) error { return second(debit(t, s, id, 7)) }},
		{"Ledger", func(s *Store) error { return second(s.Ledger()) }},
		{"PeopleKey", func(s *Store) error { return second(s.PeopleKey()) }},
		{"PutPeopleSample", func(s *Store) error { return s.PutPeopleSample("north", people.Sample{}) }},
		{"PutPeopleSample, new", func(s *Store) error { return s.PutPeopleSample("south", people.Sample{}) }},
		{"People", func(s *Store) error { return second(s.People()) }},
		{"PutDecision", func(s *Store) error { return s.PutDecision(id, Approve, 7) }},
		{"Decision", func(s *Store) error { _, _, err := s.Decision(id); return err }},
		{"Decisions", func(s *Store) error { return second(s.Decisions(id)) }},
		{"PutCosignature", func(s *Store) error { return s.PutCosignature(id, peer, "another", 1) }},
		{"Cosignatures", func(s *Store) error { return second(s.Cosignatures(id)) }},
		{"PutStatus", func(s *Store) error { return s.PutStatus(id, []byte("[]")) }},
		{"Status", func(s *Store) error { return second(s.Status(id)) }},
		{"SaveRelease", func(s *Store) error { return s.SaveRelease(studyID("new"), testRelease("h", "x")) }},
		{"Purge", func(s *Store) error { return second(s.Purge(id, 1)) }},
		{"Purged", func(s *Store) error { return second(s.Purged(id)) }},
		{"retire", func(s *Store) error { return s.retire(peer, 8) }},
		{"Retired", func(s *Store) error { return second(s.Retired()) }},
		{"RetiredAt", func(s *Store) error { return second(s.RetiredAt()) }},
	}...)
}

// eachFault runs an operation once for each of its steps, and makes that step fail. The operation
// must return an error and leave the database unchanged. In the end it must succeed.
func eachFault(t *testing.T, s *Store, f *faults, o operation) {
	t.Helper()
	before := dumped(t, f.from)
	for n := 1; ; n++ {
		f.at, f.did, f.hit = n, 0, ""
		err := o.do(s)
		if f.hit == "" {
			if err != nil || n == 1 {
				t.Errorf("%s, after %d steps: %v", o.name, n-1, err)
			}
			break
		}
		if !errors.Is(err, errFault) || errors.Is(err, ErrNotFound) {
			t.Errorf("%s where this fails: %s: %v", o.name, f.hit, err)
		}
		if after := dumped(t, f.from); after != before {
			t.Errorf("%s where this fails: %s: the database has another content", o.name, f.hit)
			before = after
		}
	}
	f.at = 0
}

// Whichever database step fails, the caller gets an error and nothing is half done.
func TestEveryStepOfTheDatabaseFails(t *testing.T) {
	for _, role := range []Role{Party, Aggregator} {
		s, id := stocked(t, role)
		f := failing(t, s)
		for _, o := range operations(t, role, id) {
			eachFault(t, s, f, o)
		}
		if wrong, err := s.Integrity(); len(wrong) > 0 || err != nil {
			t.Errorf("%s: %v, %v", role, wrong, err)
		}
	}
}

// An inheritance may fail at any step on either side; so may creating and upgrading a database.
func TestEveryStepOfAnInheritanceFails(t *testing.T) {
	from, _ := stocked(t, Party)
	to := newStore(t, Party)
	f := failing(t, to)
	eachFault(t, to, f, operation{"inherit", func(s *Store) error { return s.inherit(from, 5) }})
	eachFault(t, to, f, operation{"inherit again", func(s *Store) error { return s.inherit(from, 5) }})
	eachFault(t, to, f, operation{"the key that was inherited", func(s *Store) error { return second(s.PeopleKey()) }})
	if _, err := debit(t, from, studyID("later"), 0); err != nil {
		t.Fatal(err)
	}
	wantIs(t, to.inherit(from, 6), ErrConflict) // the old ledger has grown meanwhile
	entries, err := to.Journal()
	must(t, err)
	if len(entries) != 1 || entries[0].Event != journal.Inherited || !strings.HasPrefix(entries[0].Note, "1 ledger entries of 12D3") || !strings.Contains(entries[0].Note, ", the last is ledger entry 1 (") {
		t.Errorf("the journal has %+v", entries)
	}
	f = failing(t, from)
	eachFault(t, from, f, operation{"bequeath", func(s *Store) error { return newStore(t, Party).inherit(s, 5) }})
}

func TestEveryStepOfALayoutFails(t *testing.T) {
	s := newStore(t, Party)
	db, err := openDatabase(s.path(databaseFile))
	must(t, err)
	s.db.Close()
	s.db = db
	f := failing(t, s)
	eachFault(t, s, f, operation{"check", func(s *Store) error { return checkDatabase(s.db, Party, s.ledgerID) }})

	empty := filepath.Join(t.TempDir(), databaseFile)
	must(t, writeFile(empty, nil))
	db, err = openDatabase(empty)
	must(t, err)
	made := &Store{db: db}
	f = failing(t, made)
	eachFault(t, made, f, operation{"make", func(s *Store) error { return makeTables(s.db, Party, ledgerID{1}) }})
	_, err = f.from.Exec("DROP TABLE people; PRAGMA user_version = 2")
	must(t, err)
	eachFault(t, made, f, operation{"migrate", func(s *Store) error { return second(migrate(s.db, empty)) }})
	must(t, checkDatabase(made.db, Party, ledgerID{1}))
}
