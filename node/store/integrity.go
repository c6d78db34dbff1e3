package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/private"
)

// Integrity runs SQLite's checks of pages, indexes and references, and looks for gaps in numbered
// tables. It returns the problems; none if all is well.
func (s *Store) Integrity() ([]string, error) {
	var wrong []string
	lines, err := collect(s.db, func(rows *sql.Rows) (line string, err error) { return line, rows.Scan(&line) }, "PRAGMA integrity_check(20)")
	if err != nil {
		return nil, fmt.Errorf("checking %s: %w", databaseFile, explain(err))
	}
	for _, line := range lines {
		if line != "ok" {
			wrong = append(wrong, line)
		}
	}
	strays, err := collect(s.db, func(rows *sql.Rows) (line string, err error) {
		var table, parent string
		var row, key any
		err = rows.Scan(&table, &row, &parent, &key)
		return fmt.Sprintf("table %s refers to what table %s lacks", table, parent), err
	}, "PRAGMA foreign_key_check")
	if err != nil {
		return nil, fmt.Errorf("checking %s: %w", databaseFile, explain(err))
	}
	gaps, err := collect(s.db, func(rows *sql.Rows) (line string, err error) {
		var list string
		err = rows.Scan(&list)
		return fmt.Sprintf("%s has a gap", list), err
	}, numbering)
	if err != nil {
		return nil, fmt.Errorf("checking %s: %w", databaseFile, explain(err))
	}
	return slices.Concat(wrong, strays, gaps), nil
}

// CheckSchema compares the database's tables and triggers with those that this program creates:
// without the triggers, append-only data could be changed.
func (s *Store) CheckSchema() error {
	want, err := madeSchema()
	if err == nil {
		var have map[string]string
		if have, err = schemaOf(s.db); err == nil {
			err = compareSchema(have, want)
		}
	}
	if err != nil {
		return fmt.Errorf("checking the schema of %s: %w", databaseFile, explain(err))
	}
	return nil
}

func compareSchema(have, want map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		text, there := have[name]
		switch {
		case !there:
			return fmt.Errorf("%w: %s is gone", ErrDamaged, name)
		case text != want[name]:
			return fmt.Errorf("%w: %s is not as this program makes it", ErrDamaged, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, made := want[name]; !made {
			return fmt.Errorf("%w: %.60q is not of this program", ErrDamaged, name)
		}
	}
	return nil
}

// madeSchema returns the schema of a new database.
func madeSchema() (map[string]string, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have its own memory database
	for _, made := range append([]string{schema}, migrations()...) {
		if _, err := db.Exec(made); err != nil {
			return nil, err
		}
	}
	return schemaOf(db)
}

// schemaOf returns the objects of a database, such as "trigger ledger_keep", with their SQL
// normalised: comments removed, white space collapsed.
func schemaOf(db *sql.DB) (map[string]string, error) {
	type object struct{ name, made string }
	all, err := collect(db, func(rows *sql.Rows) (o object, err error) {
		return o, rows.Scan(&o.name, &o.made)
	}, "SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
	out := map[string]string{}
	for _, o := range all {
		out[o.name] = strings.Join(strings.Fields(sqlComment.ReplaceAllString(o.made, " ")), " ")
	}
	return out, err
}

var sqlComment = regexp.MustCompile(`--[^\n]*`)

// QuickCheck looks for damaged pages until ctx ends, and reports whether it finished. It returns
// ErrDamaged if there are any.
func (s *Store) QuickCheck(ctx context.Context) (whole bool, err error) {
	var said string
	err = explain(scan(s.db.QueryRowContext(ctx, "PRAGMA quick_check(1)"), &said))
	switch {
	case ctx.Err() != nil && !errors.Is(err, ErrDamaged):
		return false, nil
	case err == nil && said != "ok":
		err = fmt.Errorf("%w: %s", ErrDamaged, said)
	}
	if err != nil {
		return false, fmt.Errorf("checking %s: %w", databaseFile, err)
	}
	return true, nil
}

// numbering finds tables not numbered 1, 2, 3 …, and boards not numbered 0, 1, 2 …
const numbering = `
	SELECT 'table decisions' FROM decisions GROUP BY NULL HAVING MAX(seq) != COUNT(*) OR MIN(seq) != 1
	UNION ALL SELECT 'table own' FROM own GROUP BY NULL HAVING MAX(seq) != COUNT(*) OR MIN(seq) != 1
	UNION ALL SELECT 'the journal' FROM journal GROUP BY NULL HAVING MAX(seq) != COUNT(*) OR MIN(seq) != 1
	UNION ALL SELECT 'the ledger' FROM ledger GROUP BY NULL HAVING MAX(seq) != COUNT(*) OR MIN(seq) != 1
	UNION ALL SELECT 'the board of study ' || lower(substr(hex(study), 1, 8)) FROM board GROUP BY study HAVING MAX(seq) != COUNT(*) - 1 OR MIN(seq) != 0`

// Stray is a file in the state directory that should not be there, or not with this mode.
type Stray struct {
	Path string // below the state directory
	Why  string
	Open bool // others can read it
}

// Strays looks in the state directory for files that are not this program's, that a crash left
// incomplete, or that others can read.
func (s *Store) Strays() ([]Stray, error) {
	var out []Stray
	err := fs.WalkDir(os.DirFS(s.dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if err := private.Check(s.path(name), info); err != nil {
			out = append(out, Stray{name, err.Error(), true})
		}
		top, below, nested := strings.Cut(name, "/")
		if top == heldDir && nested && !strings.Contains(below, "/") && d.IsDir() {
			if lost, err := s.unlisted(name); err != nil || lost {
				out = append(out, Stray{Path: name, Why: "held data without a manifest: a process is writing the first manifest, or was killed before it wrote it; otherwise the manifest is lost, and with it the list of withdrawn records"})
			}
		}
		switch {
		case strings.HasSuffix(name, ".tmp"):
			out = append(out, Stray{Path: name, Why: "half written by a process that was killed: it can be removed while no node runs"})
			if d.IsDir() {
				return fs.SkipDir
			}
		case !nested && !s.knows(top):
			out = append(out, Stray{Path: name, Why: "not a file of this program"})
			if d.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking through %q: %w", s.dir, err)
	}
	return out, nil
}

// unlisted reports whether a held sketch has files but no manifest.
func (s *Store) unlisted(dir string) (bool, error) {
	files, err := os.ReadDir(s.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it was destroyed meanwhile
	}
	isManifest := func(f fs.DirEntry) bool { return f.Name() == heldManifestFile }
	return len(files) > 0 && !slices.ContainsFunc(files, isManifest), err
}

// knows reports whether the program uses this name at the top of the state directory.
func (s *Store) knows(name string) bool {
	known := []string{identityFile, hpkeFile, ledgerFile, ledgerHeadFile, databaseFile, databaseFile + "-wal", databaseFile + "-shm",
		secretsDir, heldDir, releasesDir, uploadsDir, sealedDir, resultsDir, locksDir, InboxDir, tokensDir, invitationsDir, WebhooksDir}
	return slices.Contains(known, name) || strings.HasPrefix(name, databaseFile+".layout")
}
