package store

import (
	"errors"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

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
	switch kind(e) {
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
