package sqlite

import (
	"net/url"
	"path/filepath"
	"testing"
)

func TestLocationsOfEverySystem(t *testing.T) {
	for path, want := range map[string]string{
		"/var/lib/a b/c?.db":      "file:///var/lib/a%20b/c%3F.db?mode=ro",
		"C:/Users/Jörg/state.db":  "file:///C:/Users/J%C3%B6rg/state.db?mode=ro",
		"//server/share/state.db": "file:////server/share/state.db?mode=ro",
	} {
		if got := location(path, url.Values{"mode": {"ro"}}); got != want {
			t.Errorf("the location of %q is %q, want %q", path, got, want)
		}
	}
}

// Open opens a database whose path has characters that a URI must escape, and creates a file only
// if allowed.
func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "50% of #1?.db")
	open := func(mode string) error {
		db, err := Open(path, url.Values{"mode": {mode}})
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.Exec("CREATE TABLE IF NOT EXISTS t (x)")
		return err
	}
	if err := open("rw"); err == nil {
		t.Error("a database that does not exist was opened")
	}
	if err := open("rwc"); err != nil {
		t.Error(err)
	}
	if matches, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "50*")); len(matches) != 1 || matches[0] != path {
		t.Errorf("the database lies at %q", matches)
	}
}
