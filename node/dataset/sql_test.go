package dataset

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

// sqliteDatabase creates a database by running statements.
func sqliteDatabase(t testing.TB, statements string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
	return path
}

func sqlSchema(t testing.TB) Schema {
	return Schema{
		ID: []string{"id"}, Bits: testBits, MaxRecords: 100, Missing: study.MissingCentre,
		Fields: []Field{
			{Name: "x", Kind: study.Numeric, Scale: bounds(t, 0, 256)},
			{Name: "flag", Kind: study.Binary, Scale: bounds(t, 0, 1)},
			{Name: "ward", Kind: study.Categorical, Values: []string{"a", "7"}},
		},
	}
}

func TestSQLite(t *testing.T) {
	path := sqliteDatabase(t, `
		CREATE TABLE visits (ward, unused BLOB, flag BOOLEAN, id, x);
		INSERT INTO visits VALUES ('a', x'00', 1, 'P1', 1), (7, NULL, 0, 2, 2.0), (NULL, 1, NULL, 'P3', NULL), ('', 1, TRUE, 'P4', '3.0'), ('a ', 1, 0, 'P5', '1970-01-05');`)
	source := Source{SQL: &SQL{Driver: SQLite, Database: path, Query: "SELECT * FROM visits ORDER BY rowid"}}
	got, summary, err := readSource(source, sqlSchema(t), Options{})
	want := table{
		IDs:    []string{"P1", "2", "P3", "P4", "P5"},
		Values: []int64{1, 256, 256, 0, 2, 0, 0, 256, 128, 128, 0, 0, 3, 256, 0, 0, 4, 0, 256, 0},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %v\nwant %v", err, got, want)
	}
	wantSummary := Summary{
		Records: 5, Limit: 100, Complete: true, Origins: []Origin{{Name: path, Format: "SQL query"}},
		Fields: []FieldSummary{{Name: "x", Missing: 1}, {Name: "flag", Missing: 1}, {Name: "ward", Missing: 2}},
	}
	if !reflect.DeepEqual(summary, wantSummary) {
		t.Errorf("got  %+v\nwant %+v", summary, wantSummary)
	}

	// The order of columns does not matter, and one column can be used twice.
	source.SQL.Query = "SELECT x, flag, id, ward, ward AS again FROM visits ORDER BY rowid"
	if got, _, err := readSource(source, sqlSchema(t), Options{BatchRecords: 1}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, got %v", err, got)
	}
	twice := Schema{ID: []string{"id"}, Bits: testBits, MaxRecords: 9, Missing: study.MissingSkip, Fields: []Field{{Name: "id", Kind: study.Numeric, Scale: bounds(t, 0, 256)}}}
	source.SQL.Query = "SELECT 3 AS id UNION SELECT 4"
	if got, _, err := readSource(source, twice, Options{}); err != nil || !reflect.DeepEqual(got, table{[]string{"3", "4"}, []int64{3, 4}}) {
		t.Errorf("%v, got %v", err, got)
	}
}

func TestBadSQL(t *testing.T) {
	path := sqliteDatabase(t, `
		CREATE TABLE bad (id, x, ward, day TIMESTAMP);
		INSERT INTO bad VALUES ('a', 1, 'a', NULL), ('b', '`+secret+`', '`+secret+`', '2024-01-01 10:00:00');`)
	const good = "SELECT 'P1' AS id, 1 AS x, 1 AS flag, 'a' AS ward"
	const number = "not a decimal number (select a number, or cast it to one; null where a value is missing)"
	for name, c := range map[string]struct{ query, want string }{
		"absent column":   {"SELECT id, x, x AS flg, ward FROM bad", `: no column "flag" (did you mean "flg"? the query has "id", "x", "flg", "ward")`},
		"column twice":    {"SELECT id, x, x, 1 AS flag, ward FROM bad", `: column "x": the query gives this name to two columns (name one of them otherwise, with AS)`},
		"word":            {"SELECT id, x, 1 AS flag, 'a' AS ward FROM bad", `: row 2: column "x": ` + number},
		"category":        {"SELECT id, 1 AS x, 1 AS flag, ward FROM bad", `: row 2: column "ward": not one of the column's values (the study lists the values; store null where one is missing)`},
		"binary":          {"SELECT id, 1 AS x, rowid AS flag, 'a' AS ward FROM bad", `: row 2: column "flag": neither 0 nor 1 (a binary column holds 0 and 1, or false and true; store null where a value is missing)`},
		"float id":        {"SELECT 1.5 AS id, 1 AS x, 1 AS flag, 'a' AS ward", `: row 1: column "id": holds floating-point numbers, not text or integers (it identifies a record)`},
		"null id":         {"SELECT NULL AS id, 1 AS x, 1 AS flag, 'a' AS ward", `: row 1: column "id": record id is empty (every row needs an id that is not empty after normalisation)`},
		"time":            {"SELECT id, day AS x, 1 AS flag, 'a' AS ward FROM bad WHERE id = 'b'", `: row 1: column "x": holds times of day, not numbers (the study says numeric)`},
		"repeated":        {good + " UNION ALL " + good, `: row 2: record id repeated: rows 1 and 2 (a record may appear once: remove or merge the repeated rows)`},
		"nothing":         {good + " WHERE 1 = 0", `: no records`},
		"infinite number": {"SELECT 'P1' AS id, 9e999 AS x, 1 AS flag, 'a' AS ward", `: row 1: column "x": not a finite number (store null where a value is missing)`},
	} {
		t.Run(name, func(t *testing.T) {
			source := Source{SQL: &SQL{Driver: SQLite, Database: path, Query: c.query}}
			_, _, err := readSource(source, sqlSchema(t), Options{})
			if want := "reading " + path + c.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
	for query, want := range map[string]string{
		"SELECT FROM":           "the query fails: SQL logic error",
		"SELECT * FROM nowhere": "no such table: nowhere",
		"DELETE FROM bad":       "readonly",
		" ":                     "no SQL query is given",
		"INSERT INTO bad (id) VALUES (1) RETURNING id, 1 AS x, 1 AS flag, 'a' AS ward": "readonly",
	} {
		_, _, err := readSource(Source{SQL: &SQL{Driver: SQLite, Database: path, Query: query}}, sqlSchema(t), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", query, err, want)
		}
	}
	if _, _, err := readSource(Source{SQL: &SQL{Driver: SQLite, Database: path + "x", Query: good}}, sqlSchema(t), Options{}); err == nil || !strings.HasSuffix(err.Error(), ": no such file") {
		t.Errorf("got %v", err)
	}
	limited := sqlSchema(t)
	limited.MaxRecords = 1
	_, _, err := readSource(Source{SQL: &SQL{Driver: SQLite, Database: path, Query: "SELECT id, 1 AS x, 1 AS flag, 'a' AS ward FROM bad"}}, limited, Options{})
	if err == nil || !strings.HasSuffix(err.Error(), ": row 2: more than 1 records, the limit (party study explain tells how many the study can take)") {
		t.Errorf("got %v", err)
	}
}

// A result of many runs of records arrives in order. Closing a Reader in the middle ends the query.
func TestLongQuery(t *testing.T) {
	path := sqliteDatabase(t, "CREATE TABLE one (x)")
	source := Source{SQL: &SQL{Driver: SQLite, Database: path, Query: "WITH RECURSIVE n(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM n WHERE id < 39999) SELECT id, id % 256 AS x FROM n"}}
	schema := Schema{ID: []string{"id"}, Bits: testBits, MaxRecords: 40000, Fields: []Field{{Name: "x", Kind: study.Numeric, Scale: bounds(t, 0, 256)}}}
	got, _, err := readSource(source, schema, Options{HeldIDs: 9999, SpillDir: t.TempDir()})
	if err != nil || len(got.IDs) != 40000 || got.IDs[39999] != "39999" || got.Values[39999] != 39999%256 {
		t.Errorf("%d records, %v", len(got.IDs), err)
	}
	r, err := Open(context.Background(), source, schema, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(context.Background()); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(path, []byte(" hidden\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("COSKETCH_TEST_DSN", "hidden")
	for _, s := range []Secret{{File: path}, {Env: "COSKETCH_TEST_DSN"}} {
		if value, err := s.value(); err != nil || value != "hidden" || strings.Contains(s.String(), value) {
			t.Errorf("%s: %q, %v", s, value, err)
		}
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]Secret{
		"the file is open to other users": {File: path},
		"no such file":                    {File: path + "x"},
		"environment variable COSKETCH_UNSET: the variable is not set": {Env: "COSKETCH_UNSET"},
	} {
		if _, err := s.value(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	t.Setenv("COSKETCH_TEST_DSN", "postgres://user:hidden@localhost:99999999/db?sslmode=maybe")
	_, _, err := readSource(Source{SQL: &SQL{Driver: PostgreSQL, DSN: Secret{Env: "COSKETCH_TEST_DSN"}, Query: "SELECT 1"}}, sqlSchema(t), Options{})
	if err == nil || strings.Contains(err.Error(), "hidden") || !strings.Contains(err.Error(), "PostgreSQL (environment variable COSKETCH_TEST_DSN): not a data source name") {
		t.Errorf("got %v", err)
	}
}
