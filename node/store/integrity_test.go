package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cosketch/cosketch/protocol/ledger"
)

func TestSchemaIsChecked(t *testing.T) {
	s := newStore(t, Party)
	must(t, s.CheckSchema())
	for _, c := range []struct{ do, want string }{
		{"DROP TRIGGER ledger_stay", "trigger ledger_stay is gone"},
		{"CREATE TRIGGER ledger_stay BEFORE DELETE ON ledger BEGIN SELECT 1; END", "trigger ledger_stay is not as this program makes it"},
		{"DROP TRIGGER ledger_stay; CREATE TRIGGER ledger_stay BEFORE DELETE  ON ledger -- spaces\n BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END; CREATE TABLE x (y)", `"table x" is not of this program`},
		{"DROP TABLE x", ""},
	} {
		_, err := s.db.Exec(c.do)
		must(t, err)
		switch err := s.CheckSchema(); {
		case c.want == "":
			must(t, err)
		case !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", c.do, err, c.want)
		}
	}
}

// Damaged pages that opening a store does not read are found before a node serves.
func TestQuickCheck(t *testing.T) {
	s := newStore(t, Party)
	if whole, err := s.QuickCheck(t.Context()); err != nil || !whole {
		t.Fatalf("whole: %v, %v", whole, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if whole, err := s.QuickCheck(ended); err != nil || whole {
		t.Errorf("no time: whole is %v, %v", whole, err)
	}
	id := studyID("study")
	must(t, s.PutStudy(id, []byte(strings.Repeat("x", 100_000)), 1)) // more than one page
	must(t, s.Close())
	path := filepath.Join(s.dir, databaseFile)
	raw, err := os.ReadFile(path)
	must(t, err)
	text := []byte(strings.Repeat("x", 1000))
	at := strings.Index(string(raw), string(text))
	if at < 0 {
		t.Fatal("the study is not in the database")
	}
	page := at / 4096 * 4096
	clear(raw[page : page+4096]) // breaks the chain of pages
	must(t, os.WriteFile(path, raw, 0o600))
	s = open(t, s.dir, Party, Options{})
	if _, err := s.QuickCheck(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("a page of zeros: %v", err)
	}
	if wrong, err := s.Integrity(); len(wrong) == 0 || err != nil {
		t.Errorf("a page of zeros: %q, %v", wrong, err)
	}
}

// A value of the wrong type for its column is damage, not a bug of the program.
func TestValuesOfAnotherKindAreDamage(t *testing.T) {
	s := newStore(t, Party)
	id := addStudy(t, s, "study")
	must(t, s.PutDecision(id, Approve, 1))
	for _, c := range []struct {
		make string
		read func() error
	}{
		{"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(replace(sql, ' STRICT', ''), 'NOT NULL', '') WHERE type = 'table'; PRAGMA writable_schema = RESET", nil},
		{"UPDATE studies SET added = 'then'", func() error { _, err := s.Studies(); return err }},
		{"UPDATE decisions SET at = 'then'", func() error { _, _, err := s.Decision(id); return err }},
	} {
		db, err := openDatabase(filepath.Join(s.dir, databaseFile))
		must(t, err)
		db.SetMaxOpenConns(1)
		_, err = db.Exec(c.make)
		must(t, errors.Join(err, db.Close()))
		if c.read == nil {
			s = reopen(t, s)
			continue
		}
		if err := c.read(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", c.make, err)
		}
	}
}

// Whatever fails in a debit is reported once, in the operating system's words.
func TestDebitSaysOnceWhatFailed(t *testing.T) {
	s := newStore(t, Party)
	decided := errors.New("it is not decided")
	_, err := s.Debit(t.Context(), func([]ledger.Entry) ([]ledger.Entry, error) { return nil, decided })
	if !errors.Is(err, decided) || strings.Count(err.Error(), "debiting the ledger") != 1 {
		t.Errorf("error %v", err)
	}
	must(t, s.Close())
	s = open(t, s.dir, Party, Options{ReadOnly: true})
	_, err = s.Debit(t.Context(), nil)
	if !errors.Is(err, ErrReadOnly) || strings.Count(err.Error(), "debiting the ledger") != 1 {
		t.Errorf("error %v", err)
	}

	s = newStore(t, Party)
	s.db.SetMaxOpenConns(1)
	_, err = s.db.Exec("PRAGMA max_page_count = 1") // the database's present size
	must(t, err)
	for n := 1; err == nil && n < 1000; n++ {
		_, err = s.Debit(t.Context(), func([]ledger.Entry) ([]ledger.Entry, error) {
			return []ledger.Entry{entry(studyID(fmt.Sprint("study ", n)), 0)}, nil
		})
	}
	if !errors.Is(err, syscall.ENOSPC) || strings.Count(err.Error(), "debiting the ledger") != 1 {
		t.Errorf("a full disk: %v", err)
	}
}
