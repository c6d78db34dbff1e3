package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/cosketch/cosketch/protocol/fail"
)

// What SQLite says of a disk is turned into what the operating system says of one, so that
// a full disk is one error wherever it is met: syscall.ENOSPC in a *fs.PathError.

// diskError is the operating system's error for one of SQLite's about the disk, or nil.
func diskError(e *sqlite.Error) error {
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return &fs.PathError{Op: "write", Path: databaseFile, Err: syscall.ENOSPC}
	case sqlite3.SQLITE_IOERR:
		return &fs.PathError{Op: "use", Path: databaseFile, Err: syscall.EIO}
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return ErrDamaged
	}
	return nil
}

// ErrDamaged reports a database that is not what was written: a disk fails, or somebody changed it.
var ErrDamaged error = fail.StateDamaged

// scan reads the one row that a query finds.
func scan(row *sql.Row, into ...any) error {
	if err := row.Err(); err != nil {
		return err
	}
	return scanned(row.Scan(into...))
}

// scanned is the error of taking the values out of a row that was found: what is no value of
// its column's kind was never written by this program.
func scanned(err error) error {
	var ofSQLite *sqlite.Error
	if err == nil || errors.As(err, &ofSQLite) || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// MayWrite is nil when this process may write into the state directory, as far as can be
// told without writing: a disk can be read-only, or the directory another user's.
func (s *Store) MayWrite() error { return mayWrite(s.dir) }

// littleLeft is less than an open database takes, in bytes.
const littleLeft = 1 << 17

// unwritable explains a database that could not be opened by what is wrong with its
// directory: SQLite writes beside a database even to read it.
func (s *Store) unwritable(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_IOERR: // what it keeps beside a database could not be made
		if free, failed := s.Free(); failed == nil && free < littleLeft {
			return &fs.PathError{Op: "write", Path: s.dir, Err: syscall.ENOSPC}
		}
		return explain(err)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
	default:
		return explain(err)
	}
	for _, path := range []string{s.dir, s.path(databaseFile)} {
		if denied := mayWrite(path); denied != nil {
			return denied
		}
	}
	return err
}
