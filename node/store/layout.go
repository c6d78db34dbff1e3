package store

import (
	"database/sql"
	"fmt"
	"os"
	"strings"

	"github.com/cosketch/cosketch/node/durable"
)

// schemaVersion is the database layout that this program writes.
const schemaVersion = 3

// migrations lead from layout i+1 to layout i+2, each in one transaction with the new
// number. A new database begins at layout 1 and takes all of them: there is one way to
// every layout. Once released, a migration is never changed.
func migrations() []string { return []string{layout2, layout3} }

// layout2 adds the audit log, cosignatures, what was purged and retired, and the table of ledger heads, which
// layout 1 made where it was first needed.
const layout2 = `
CREATE TABLE journal (
	seq INTEGER PRIMARY KEY, -- 1, 2, 3 …
	raw BLOB NOT NULL
) STRICT;
CREATE TRIGGER journal_keep BEFORE UPDATE ON journal BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER journal_stay BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TABLE cosignatures (
	study BLOB NOT NULL REFERENCES studies(id),
	line  TEXT NOT NULL,
	UNIQUE (study, line)
) STRICT;
CREATE TABLE retired (
	only      INTEGER PRIMARY KEY CHECK (only = 1),
	successor BLOB NOT NULL,
	at        INTEGER NOT NULL
) STRICT;
CREATE TABLE purged (
	study BLOB PRIMARY KEY REFERENCES studies(id),
	at    INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS ledger_heads (
	party BLOB PRIMARY KEY,
	count INTEGER NOT NULL,
	raw   BLOB NOT NULL
) STRICT;
`

// layout3 adds what is remembered of the people whom datasets are about.
const layout3 = `
CREATE TABLE people (
	dataset TEXT PRIMARY KEY,
	raw     BLOB NOT NULL
) STRICT;
`

// migrate brings a database of an older layout to this program's. What it was is kept
// beside it, in one file: a state that a newer program has touched is refused by older
// ones, and this is the way back.
func migrate(db *sql.DB, path string) (older bool, err error) {
	version, err := layout(db)
	if err != nil {
		return false, err
	}
	if version < 1 || version >= schemaVersion {
		return false, nil // checkDatabase says what is wrong, if anything is
	}
	if err := keepLayout(db, fmt.Sprintf("%s.layout%d", path, version)); err != nil {
		return true, fmt.Errorf("keeping a copy of layout %d: %w", version, err)
	}
	return true, transact(db, func(tx *sql.Tx) error {
		version, err := layout(tx) // again: another process may have been here
		if err != nil {
			return err
		}
		for from := version; from < schemaVersion; from++ {
			if _, err := tx.Exec(migrations()[from-1]); err != nil {
				return fmt.Errorf("from layout %d: %w", from, err)
			}
		}
		return setLayout(tx)
	})
}

// setLayout says that a database has this program's layout.
func setLayout(tx *sql.Tx) error {
	_, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", schemaVersion))
	return err
}

func layout(from interface{ QueryRow(string, ...any) *sql.Row }) (int, error) {
	var version int
	if err := scan(from.QueryRow("PRAGMA user_version"), &version); err != nil {
		return 0, fmt.Errorf("reading %s: %w", databaseFile, err)
	}
	return version, nil
}

// keepLayout copies a database as it is into a file, whole or not at all.
func keepLayout(db *sql.DB, path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil // of an upgrade that was killed after it
	}
	if err := snapshotDatabase(db, path+".tmp"); err != nil {
		return err
	}
	return durable.Rename(path+".tmp", path)
}

// snapshotDatabase writes a consistent copy of a database that others may be writing to,
// of mode 0600 and durable.
func snapshotDatabase(db *sql.DB, path string) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600) // SQLite keeps an empty file's mode
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := db.Exec("VACUUM INTO '" + strings.ReplaceAll(path, "'", "''") + "'"); err != nil {
		return err
	}
	return f.Sync()
}
