package store

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A database that was copied without its log has an older ledger with a valid chain. The traces
// beside it show this: opening is refused, even for reading, and so is the next debit of a store
// that was open.
func TestALostLedgerIsNoticed(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, s *Store, before []byte){
		"an older database": func(t *testing.T, s *Store, before []byte) {
			must(t, os.WriteFile(s.path(databaseFile), before, 0o600))
			for _, suffix := range []string{"-wal", "-shm"} {
				if err := os.Remove(s.path(databaseFile + suffix)); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
		},
		"an older database, and nothing written down": func(t *testing.T, s *Store, before []byte) {
			must(t, os.WriteFile(s.path(databaseFile), before, 0o600))
			must(t, os.Remove(s.path(ledgerHeadFile)))
			for _, suffix := range []string{"-wal", "-shm"} {
				if err := os.Remove(s.path(databaseFile + suffix)); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
		},
		"another end": func(t *testing.T, s *Store, before []byte) {
			head, err := os.ReadFile(s.path(ledgerHeadFile))
			must(t, err)
			must(t, os.WriteFile(s.path(ledgerHeadFile), bytes.Replace(head, []byte(" "), []byte(" 0"), 1), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, Party)
			dir, study := s.dir, addStudy(t, s, "study")
			_, err := s.db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
			must(t, err)
			before, err := os.ReadFile(s.path(databaseFile))
			must(t, err)
			if _, err := debit(t, s, study, 0); err != nil {
				t.Fatal(err)
			}
			must(t, s.SaveRelease(study, Release{Header: []byte("h"), Files: map[string]io.Reader{"sketch-0.bin": strings.NewReader("x")}}))
			must(t, s.Close())
			lose(t, s, before)
			for _, options := range []Options{{}, {ReadOnly: true}} {
				again, err := Open(dir, Party, options)
				if err == nil {
					again.Close()
				}
				wantIs(t, err, ErrLedgerMissing)
			}
		})
	}
}

// A release without a debit is found before the next debit, even by a store that was open.
func TestAReleaseWithoutADebitEndsDebits(t *testing.T) {
	s := newStore(t, Party)
	one, two := addStudy(t, s, "one"), addStudy(t, s, "two")
	must(t, s.SaveRelease(one, Release{Header: []byte("h"), Files: map[string]io.Reader{"sketch-0.bin": strings.NewReader("x")}}))
	_, err := debit(t, s, two, 0)
	wantIs(t, err, ErrLedgerMissing)
	if entries, err := s.Ledger(); len(entries) != 0 || err != nil {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// The stored head may be missing, or lag behind the ledger after a kill between the two.
func TestAnOlderHeadIsNoLoss(t *testing.T) {
	s := newStore(t, Party)
	study := addStudy(t, s, "study")
	if _, err := debit(t, s, study, 0); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(s.path(ledgerHeadFile))
	must(t, err)
	if _, err := debit(t, s, study, 1); err != nil {
		t.Fatal(err)
	}
	must(t, os.WriteFile(s.path(ledgerHeadFile), first, 0o600))
	s = reopen(t, s)
	must(t, os.Remove(s.path(ledgerHeadFile)))
	s = reopen(t, s)
	if kept, err := s.LedgerHeadKept(); kept || err != nil {
		t.Errorf("opening it has written it down: %v", err)
	}
	if _, err := debit(t, s, study, 2); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(s.path(ledgerHeadFile)); err != nil || !bytes.HasPrefix(got, []byte("3 ")) {
		t.Errorf("%q, %v", got, err)
	}
	if strays, err := s.Strays(); err != nil || len(strays) != 0 {
		t.Errorf("%v, %v", strays, err)
	}
}

// A node may store more while it is backed up: releases without a debit in the copied ledger are
// left out.
func TestABackupHasNoReleaseBeyondItsLedger(t *testing.T) {
	s, paid := filled(t)
	later := addStudy(t, s, "later")
	must(t, s.SaveRelease(later, Release{Header: []byte("h"), Files: map[string]io.Reader{"sketch-0.bin": strings.NewReader("x")}}))
	file := backup(t, s)
	dir := filepath.Join(t.TempDir(), "restored")
	_, err := Restore(dir, Party, bytes.NewReader(file))
	must(t, err)
	back := open(t, dir, Party, Options{})
	if _, err := back.ReleaseHeader(paid); err != nil {
		t.Error(err)
	}
	_, err = back.ReleaseHeader(later)
	wantIs(t, err, ErrNotFound)
}

// Another process that opens the directory sees debits and their traces consistent at any moment.
func TestReadersBesideDebits(t *testing.T) {
	s := newStore(t, Party)
	ended := make(chan error)
	stop := make(chan struct{})
	go func() {
		ended <- func() error {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return nil
				default:
				}
				study := studyID(fmt.Sprint(i))
				if err := s.PutStudy(study, study[:], 1); err != nil {
					return err
				}
				if _, err := debit(t, s, study, 0); err != nil {
					return err
				}
				if err := s.SaveRelease(study, Release{Header: study[:]}); err != nil {
					return err
				}
			}
		}()
	}()
	for i := range 100 {
		reader, err := Open(s.dir, Party, Options{ReadOnly: true})
		if err != nil {
			t.Errorf("reader %d: %v", i, err)
			break
		}
		must(t, reader.Close())
	}
	close(stop)
	must(t, <-ended)
}
