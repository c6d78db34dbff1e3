package store

import (
	"database/sql"
	"fmt"
	"os"
	"strings"

	"github.com/cosketch/cosketch/node/durable"
)

// schemaVersion is the number of the database layout that this program writes.
const schemaVersion = 3

// migrations[i] leads from layout i+1 to layout i+2; the new number is set in the same transaction.
// A new database starts at layout 1 and takes all of them, so there is one way to every layout.
// Once released, a migration must never change.
func migrations() []string { return []string{layout2, layout3} }

// layout2 adds the journal, cosignatures, purged studies, the retirement, and the table of ledger
// heads, which layout 1 created on first use.
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

// layout3 adds the samples of the people whom datasets are about.
const layout3 = `
CREATE TABLE people (
	dataset TEXT PRIMARY KEY,
	raw     BLOB NOT NULL
) STRICT;
`

// migrate upgrades a database to this program's layout and reports whether it was older. It keeps a
// copy of the old one in a file beside it. Older programs refuse an upgraded state; the copy is the
// way back.
func migrate(db *sql.DB, path string) (older bool, err error) {
	version, err := layout(db)
	if err != nil {
		return false, err
	}
	if version < 1 || version >= schemaVersion {
		return false, nil // checkDatabase reports what is wrong, if anything
	}
	if err := keepLayout(db, fmt.Sprintf("%s.layout%d", path, version)); err != nil {
		return true, fmt.Errorf("keeping a copy of layout %d: %w", version, err)
	}
	return true, transact(db, func(tx *sql.Tx) error {
		version, err := layout(tx) // again, since another process may have migrated
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

// setLayout sets the layout number to this program's.
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

// keepLayout copies a database into a file, atomically.
func keepLayout(db *sql.DB, path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil // by an upgrade that was killed afterwards
	}
	if err := snapshotDatabase(db, path+".tmp"); err != nil {
		return err
	}
	return durable.Rename(path+".tmp", path)
}

// snapshotDatabase writes a consistent and durable copy, of mode 0600, of a database that others
// may be writing to.
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
