package store

import (
	"errors"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// MayWrite returns nil if this process may write into the state directory, as far as can be told
// without writing. The disk may be read-only, or the directory another user's.
func (s *Store) MayWrite() error { return mayWrite(s.dir) }

// littleLeft is a number of bytes below what an open database needs.
const littleLeft = 1 << 17

// unwritable explains why a database could not be opened by what is wrong with its directory,
// because SQLite writes beside a database even to read it.
func (s *Store) unwritable(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch kind(e) {
	case sqlite3.SQLITE_IOERR: // a file beside the database could not be created
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
