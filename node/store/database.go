package store

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"github.com/cosketch/cosketch/node/sqlite"
	"github.com/cosketch/cosketch/protocol/fail"
)

// schema is layout 1, on which migrations build. Triggers guard what must not change, so that a bug
// in this program or a person with a SQL shell meets an error.
const schema = `
CREATE TABLE meta (
	role   TEXT NOT NULL,
	ledger TEXT NOT NULL  -- equals ledger.id
) STRICT;
CREATE TABLE studies (
	id     BLOB PRIMARY KEY,
	source BLOB NOT NULL,
	added  INTEGER NOT NULL,
	status BLOB
) STRICT;
CREATE TABLE decisions (
	seq      INTEGER PRIMARY KEY,
	study    BLOB NOT NULL REFERENCES studies(id),
	decision TEXT NOT NULL,
	at       INTEGER NOT NULL
) STRICT;
CREATE TABLE own (
	seq     INTEGER PRIMARY KEY,
	study   BLOB NOT NULL REFERENCES studies(id),
	kind    TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	raw     BLOB NOT NULL,
	UNIQUE (study, kind, attempt)
) STRICT;
CREATE TABLE board (
	study BLOB NOT NULL REFERENCES studies(id),
	seq   INTEGER NOT NULL, -- 0, 1, 2 …
	raw   BLOB NOT NULL,
	PRIMARY KEY (study, seq)
) STRICT;
CREATE TABLE heads (
	study BLOB PRIMARY KEY REFERENCES studies(id),
	raw   BLOB NOT NULL
) STRICT;
CREATE TABLE ledger (
	seq INTEGER PRIMARY KEY, -- 1, 2, 3 …
	raw BLOB NOT NULL
) STRICT;
CREATE TRIGGER meta_keep   BEFORE UPDATE ON meta   BEGIN SELECT RAISE(ABORT, 'meta is written once'); END;
CREATE TRIGGER meta_stay   BEFORE DELETE ON meta   BEGIN SELECT RAISE(ABORT, 'meta is written once'); END;
CREATE TRIGGER ledger_keep BEFORE UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_stay BEFORE DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_next BEFORE INSERT ON ledger
	WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq), 0) + 1 FROM ledger)
	BEGIN SELECT RAISE(ABORT, 'the ledger has no gaps'); END;
CREATE TRIGGER own_keep    BEFORE UPDATE ON own    BEGIN SELECT RAISE(ABORT, 'own envelopes are append-only'); END;
CREATE TRIGGER own_stay    BEFORE DELETE ON own    BEGIN SELECT RAISE(ABORT, 'own envelopes are append-only'); END;
CREATE TRIGGER board_keep  BEFORE UPDATE ON board  BEGIN SELECT RAISE(ABORT, 'boards are append-only'); END;
CREATE TRIGGER board_stay  BEFORE DELETE ON board  BEGIN SELECT RAISE(ABORT, 'boards are append-only'); END;
`

// openDatabase opens an existing database for writing. Every transaction takes the write lock at
// its start, so that what it read still holds when it writes.
func openDatabase(path string) (*sql.DB, error) {
	return openAs(path, url.Values{"mode": {"rw"}, "_txlock": {"immediate"}}, "journal_mode(WAL)")
}

// connections bounds the connection pool of a database.
const connections = 8

// openAs opens an existing database with SQLite URI parameters and with pragmas in addition to
// those of every connection.
func openAs(path string, query url.Values, pragmas ...string) (*sql.DB, error) {
	query["_pragma"] = append([]string{"busy_timeout(10000)", "foreign_keys(1)", "synchronous(FULL)"}, pragmas...)
	db, err := sqlite.Open(path, query)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections) // each new connection reads the whole schema
	return db, nil
}

// createDatabase creates a database with an empty ledger, in a single file.
func createDatabase(path string, role Role, id ledgerID) error {
	if err := writeFile(path, nil); err != nil { // SQLite gives its other files this file's mode
		return err
	}
	db, err := openDatabase(path)
	if err != nil {
		return err
	}
	err = makeTables(db, role, id)
	if err == nil {
		_, err = db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	}
	return errors.Join(err, db.Close())
}

// makeTables creates the tables in an empty database.
func makeTables(db *sql.DB, role Role, id ledgerID) error {
	return transact(db, func(tx *sql.Tx) error {
		for _, next := range append([]string{schema}, migrations()...) {
			if _, err := tx.Exec(next); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("INSERT INTO meta (role, ledger) VALUES (?, ?)", string(role), id.String()); err != nil {
			return err
		}
		return setLayout(tx)
	})
}

// checkDatabase refuses a database that this program cannot read, that belongs to the other role,
// or whose ledger was not made with the identity.
func checkDatabase(db *sql.DB, role Role, id ledgerID) error {
	version, err := layout(db)
	if err != nil {
		return err
	}
	switch {
	case version == 0:
		return fail.LedgerMissing.Of(fmt.Errorf("%s is empty", databaseFile)).With(ledgerLost(role))
	case version > schemaVersion:
		return fail.OtherLayout.Of(fmt.Errorf("%s has layout %d, this program knows %d", databaseFile, version, schemaVersion)).
			With("a newer one was used here: install that, or restore the backup from before the upgrade into a new directory")
	case version < schemaVersion:
		return fail.OtherLayout.Of(fmt.Errorf("%s has layout %d, this program wants %d", databaseFile, version, schemaVersion)).
			With(fmt.Sprintf("any command that writes, such as %s fsck, upgrades it", role))
	}
	var storedRole, storedID string
	if err := scan(db.QueryRow("SELECT role, ledger FROM meta"), &storedRole, &storedID); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%w: %s names none", ErrLedgerMissing, databaseFile)
		}
		return fmt.Errorf("reading %s: %w", databaseFile, err)
	}
	if storedRole != string(role) {
		return fmt.Errorf("it belongs to a node of role %s, and this program is %s (name the %s's directory with --state)", storedRole, role, role)
	}
	if storedID != id.String() {
		return fail.LedgerMissing.Of(fmt.Errorf("%s was not made with %s", databaseFile, ledgerFile)).
			With("were two nodes' files swapped? put its own back; else " + ledgerLost(role))
	}
	return nil
}
