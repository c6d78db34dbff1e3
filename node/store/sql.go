package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/cosketch/cosketch/protocol/fail"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// transact runs f in one transaction, which is durable when transact returns nil.
func transact(db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

// changed tells whether a statement changed a row.
func changed(done sql.Result, err error) (bool, error) {
	var rows int64
	if err == nil {
		rows, err = done.RowsAffected()
	}
	return rows > 0, err
}

// kind is an error's code without what extends it.
func kind(e *sqlite.Error) int { return e.Code() & 0xff }

// explain turns SQLite's errors on which callers decide into ours.
func explain(err error) error {
	var e *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case !errors.As(err, &e):
		return err
	case e.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fmt.Errorf("its study is %w", ErrNotFound)
	case kind(e) == sqlite3.SQLITE_READONLY:
		return ErrReadOnly
	}
	if disk := diskError(e); disk != nil {
		return disk
	}
	return err
}

// What SQLite says of a disk is turned into what the operating system says of one, so that
// a full disk is one error wherever it is met: syscall.ENOSPC in a *fs.PathError.

// diskError is the operating system's error for one of SQLite's about the disk, or nil.
func diskError(e *sqlite.Error) error {
	switch kind(e) {
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

// collect runs a query and scans every row.
func collect[T any](db *sql.DB, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, scanned(err)
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
