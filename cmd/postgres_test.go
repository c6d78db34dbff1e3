//go:build unix

package cmd_test

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cosketch/cosketch/node/dataset/postgrestest"
)

// TestPostgres reads a party's data from a PostgreSQL server: $DSN has a table of visits.
func TestPostgres(t *testing.T) {
	if os.Getenv("COSKETCH_FULL") != "1" {
		t.Skip("starts a PostgreSQL server: COSKETCH_FULL=1")
	}
	dsn := postgrestest.Start(t)
	db, err := pgconn.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	if _, err := db.Exec(t.Context(), `CREATE TABLE visits AS
		SELECT 'p' || n AS patient, 20 + n % 70 AS age, (95 + n % 60)::numeric(6,1) AS pressure FROM generate_series(1, 300) AS n`).ReadAll(); err != nil {
		t.Fatal(err)
	}
	p := scripts("testdata/postgres/postgres.txtar")
	p.Setup = func(env *testscript.Env) error {
		env.Setenv("DSN", dsn)
		env.Setenv("PASSWORD", postgrestest.Password)
		return homes(env)
	}
	testscript.Run(t, p)
}
