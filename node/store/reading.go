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

// openForReading opens an existing database for reading, even while a node runs. In WAL mode,
// SQLite shares an index of the log with other processes in a file beside the database. It creates
// that file if necessary, even to read, and so fails on a disk that is read-only or full. On such a
// disk nobody else can start writing either, so the database can be read without sharing. Later
// writes would not be seen: keep such a store open only briefly.
func openForReading(path string) (*sql.DB, error) {
	db, err := tryReading(path, url.Values{})
	if err == nil || !unshareable(err) {
		return db, err
	}
	db.Close()
	// Either everything is in the database itself, or the log of a node that was killed holds some
	// of it: then SQLite builds a private index of the log in memory.
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

// tryReading opens a database and reads from it once. The caller must close it, even after an
// error.
func tryReading(path string, query url.Values) (*sql.DB, error) {
	query.Set("mode", "ro")
	db, err := openAs(path, query, "query_only(1)")
	if err == nil {
		_, err = layout(db)
	}
	return db, err
}

// unshareable reports whether SQLite could not create the file that readers share.
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
