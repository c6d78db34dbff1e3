//go:build unix

package dataset

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cosketch/cosketch/node/dataset/postgrestest"
)

func TestPostgres(t *testing.T) {
	dsn := postgrestest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	db, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(ctx)
	answer := func(query string) string {
		t.Helper()
		results, err := db.Exec(ctx, query).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if last := results[len(results)-1]; len(last.Rows) == 1 {
			return string(last.Rows[0][0])
		}
		return ""
	}
	answer(`
		CREATE TABLE visits (x NUMERIC(8,2), ward VARCHAR(3), flag BOOLEAN, id UUID, unused BYTEA, small SMALLINT, real4 REAL, day DATE, word TEXT, at TIMESTAMPTZ);
		INSERT INTO visits VALUES
			(1.25, 'a', TRUE, '00000000-0000-0000-0000-00000000000A', 'x', 1, 0.5, '1970-01-03', '` + secret + `', now()),
			(NULL, NULL, NULL, '00000000-0000-0000-0000-00000000000B', NULL, 2, 1.5, '1970-01-04', '1', NULL),
			(256, '7', FALSE, '00000000-0000-0000-0000-00000000000C', NULL, 3, 2.5, '1970-01-05', '2', NULL)`)
	t.Setenv("COSKETCH_TEST_DSN", dsn)
	ask := func(query string) (table, Summary, error) {
		return readSource(Source{SQL: &SQL{Driver: PostgreSQL, DSN: Secret{Env: "COSKETCH_TEST_DSN"}, Query: query}}, sqlSchema(t), Options{})
	}
	ids := []string{"00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b", "00000000-0000-0000-0000-00000000000c"}
	for query, values := range map[string][]int64{
		"SELECT * FROM visits ORDER BY id":                            {1, 256, 256, 0, 128, 128, 0, 0, 256, 0, 0, 256},
		"SELECT id, ward, flag, x FROM visits ORDER BY id":            {1, 256, 256, 0, 128, 128, 0, 0, 256, 0, 0, 256},
		"SELECT id, small AS x, 1 AS flag, 'a' AS ward FROM visits":   {1, 256, 256, 0, 2, 256, 256, 0, 3, 256, 256, 0},
		"SELECT id, real4*2 AS x, 0 AS flag, 7 AS ward FROM visits":   {1, 0, 0, 256, 3, 0, 0, 256, 5, 0, 0, 256},
		"SELECT id, day AS x, flag, 'a'::char(3) AS ward FROM visits": {2, 256, 256, 0, 3, 128, 256, 0, 4, 0, 256, 0},
	} {
		got, summary, err := ask(query)
		if err != nil || !reflect.DeepEqual(got, table{ids, values}) || !summary.Complete {
			t.Errorf("%s: %v\ngot  %v\nwant %v", query, err, got, values)
		}
	}
	for query, want := range map[string]string{
		"SELECT id, x, flag FROM visits":                                                      `: no column "ward" (the query has "id", "x", "flag")`,
		"SELECT id, word AS x, flag, ward FROM visits":                                        `: row 1: column "x": not a decimal number (`,
		"SELECT id, at AS x, flag, ward FROM visits":                                          `: row 1: column "x": holds times of day, not numbers (the study says numeric)`,
		"SELECT id, word::int AS x, flag, ward FROM visits":                                   `: the query fails with SQLSTATE 22P02 (the server's log has the message, which may quote a value)`,
		"SELECT id, x, flag, ward FROM nowhere":                                               `: the query fails: relation "nowhere" does not exist (SQLSTATE 42P01)`,
		"DELETE FROM visits RETURNING id, x, flag, ward":                                      `: the query fails`,
		"SELECT id, x, flag, ward FROM visits UNION ALL SELECT id, x, flag, ward FROM visits": `: record id repeated: rows `,
	} {
		_, _, err := ask(query)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s:\ngot  %v\nwant %s", query, err, want)
		}
	}
	if left := answer("SELECT count(*) FROM visits"); left != "3" {
		t.Errorf("%s rows are left", left)
	}

	// Every type is read as stored, whatever output format the server's settings ask for.
	answer("ALTER ROLE steward SET DateStyle = 'German'; ALTER ROLE steward SET extra_float_digits = -15; ALTER ROLE steward SET bytea_output = 'escape'")
	for value, want := range map[string]int64{
		"17::int8": 17, "17::int4": 17, "17::int2": 17, "17::oid": 17, "17::numeric(9,3)": 17, "'17'": 17, "'17'::varchar": 17,
		"-3::int8": 0, "-3::int4": 0, "-3::int2": 0, "2.5::float4*4": 10, "85.0::float8/5": 17, "17::bool::int": 1, "true": 1,
		"'1970-01-18'::date": 17, "'1970-01-18'::timestamp": 17, "'1970-01-18'::date::timestamptz": 17, "'1969-12-31'::date": 0, "'17'::bytea": 17, "'17'::json": 17, "'2000-09-08'::date - 11000": 208,
	} {
		got, _, err := ask("SELECT 'a' AS id, 1 AS flag, 'a' AS ward, " + value + " AS x")
		if err != nil || got.Values[0] != want {
			t.Errorf("%s: %v, %v", value, got.Values, err)
		}
	}
	for value, says := range map[string]string{
		"'infinity'::date": "not a finite number", "'-infinity'::timestamp": "not a finite number", "'1970-01-18 10:00'::timestamp": "holds times of day",
		"'NaN'::float8": "not a finite number", "'\\xff'::bytea": "not a decimal number", "array[1]": "not a decimal number",
	} {
		if _, _, err := ask("SELECT 'a' AS id, 1 AS flag, 'a' AS ward, " + value + " AS x"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", value, err)
		}
	}
	// Other mistakes in a query.
	for query, says := range map[string]string{
		"SELECT 1; SELECT 2": "the query fails: ", "SET search_path TO public": `no column "id"`, "": "no SQL query is given", "SELECT $1 AS id": "the query fails",
		"SELECT n AS id, 1 AS flag, 'a' AS ward, 10/(500-n) AS x FROM generate_series(1, 900) AS n": "the query fails after 499 rows with SQLSTATE 22012",
	} {
		if _, _, err := ask(query); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", query, err)
		}
	}

	// A result of several batches, and one that is abandoned.
	long := "SELECT n AS id, n % 256 AS x, 1 AS flag, 'a' AS ward FROM (SELECT generate_series(1, 100) AS n) AS series"
	if got, _, err := ask(long); err != nil || len(got.IDs) != 100 {
		t.Errorf("%d records, %v", len(got.IDs), err)
	}
	endless, stop := context.WithCancel(ctx)
	schema := sqlSchema(t)
	schema.MaxRecords = 1 << 40
	r, err := Open(endless, Source{SQL: &SQL{Driver: PostgreSQL, DSN: Secret{Env: "COSKETCH_TEST_DSN"},
		Query: strings.Replace(long, "100)", "1000000000000)", 1)}}, schema, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(ctx); err != nil {
		t.Error(err)
	}
	stop()
	for err == nil {
		_, err = r.Next(ctx)
	}
	if !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("got %v", err)
	}
	r.Close()
	if left := answer("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%generate_series(1, 1000%' AND state = 'active' AND pid <> pg_backend_pid()"); left != "0" {
		t.Errorf("%s queries that were given up still run", left)
	}

	// Errors about a wrong password or an absent server show no secret.
	for _, wrong := range []string{strings.Replace(dsn, "pw@", "PW@", 1), strings.Replace(dsn, "127.0.0.1", "127.0.0.2", 1)} {
		t.Setenv("COSKETCH_TEST_DSN", wrong)
		if _, _, err := ask(long); err == nil || strings.Contains(strings.ToLower(err.Error()), postgrestest.Password) || !strings.Contains(err.Error(), ": cannot be opened") {
			t.Errorf("got %v", err)
		} else {
			t.Log(err)
		}
	}
}
