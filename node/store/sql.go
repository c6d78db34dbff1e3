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

// changed reports whether a statement changed a row.
func changed(done sql.Result, err error) (bool, error) {
	var rows int64
	if err == nil {
		rows, err = done.RowsAffected()
	}
	return rows > 0, err
}

// kind returns an error's primary result code.
func kind(e *sqlite.Error) int { return e.Code() & 0xff }

// explain translates the SQLite errors that callers distinguish into this package's.
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

// SQLite's disk errors are translated into those of the operating system, so that a full disk
// always gives the same error: syscall.ENOSPC in a *fs.PathError.

// diskError returns the operating system's equivalent of a SQLite error about the disk, or nil.
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

// ErrDamaged reports a database that differs from what was written: the disk fails, or somebody
// changed it.
var ErrDamaged error = fail.StateDamaged

// scan reads the single row of a query.
func scan(row *sql.Row, into ...any) error {
	if err := row.Err(); err != nil {
		return err
	}
	return scanned(row.Scan(into...))
}

// scanned translates an error of scanning a row: a value of the wrong type means damage, because
// this program never writes one.
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
