package store

import (
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// openForReading opens an existing database for looking, also beside a running node. In
// WAL mode SQLite shares an index of the log with other processes, in a file beside the
// database that it makes where there is none: also to read, and so not on a disk that is
// read-only or full. There nobody else can begin to write either, for as long as it is, and
// the database can be read without sharing: what is written later is not seen, so such a
// store is opened for a moment.
func openForReading(path string) (*sql.DB, error) {
	db, err := tryReading(path, url.Values{})
	if err == nil || !unshareable(err) {
		return db, err
	}
	db.Close()
	// Everything is in the database itself, or some of it still in the log of a node that
	// was killed: then an index of an own is made of that, in memory.
	without := url.Values{"immutable": {"1"}}
	if log, failed := os.Stat(path + "-wal"); failed == nil && log.Size() > 0 {
		without = url.Values{"readonly_shm": {"1"}}
	} else if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
		return nil, err
	}
	db, again := tryReading(path, without)
	if again != nil {
		return db, err
	}
	return db, nil
}

// tryReading opens a database and reads from it once. The caller closes it, also with an error.
func tryReading(path string, query url.Values) (*sql.DB, error) {
	query.Set("mode", "ro")
	db, err := openAs(path, query, "query_only(1)")
	if err == nil {
		_, err = layout(db)
	}
	return db, err
}

// unshareable reports that what readers share beside a database could not be made.
func unshareable(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch kind(e) {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL:
		return true
	}
	return false
}
