package config

import (
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node/dataset"
)

// parseDialect reads what is fixed about a dataset's CSV files.
func parseDialect(s source, d *dataset.Dialect) parser {
	return func(n *yaml.Node) error {
		return s.fields(n, fields{
			"delimiter": oneOf(s, &d.Delimiter, dataset.Delimiters()),
			"decimal":   oneOf(s, &d.Decimal, dataset.Decimals()),
			"encoding":  oneOf(s, &d.Encoding, dataset.Encodings()),
			"date":      oneOf(s, &d.Date, dataset.DateForms()),
		})
	}
}

// variableName is what the name of an environment variable looks like, where there is one.
var variableName = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)?$`)

// parseSQL reads a query. The data source name of a server holds a password, so the
// file says only where it is.
func parseSQL(s source, to *dataset.Source) parser {
	return func(n *yaml.Node) error {
		q := &dataset.SQL{}
		err := s.fields(n, fields{
			"driver":   oneOf(s, &q.Driver, dataset.Drivers()),
			"database": s.text(&q.Database),
			"dsn_env":  s.text(&q.DSN.Env),
			"dsn_file": s.text(&q.DSN.File),
			"query":    s.text(&q.Query),
		})
		if err != nil {
			return err
		}
		servers := q.DSN != (dataset.Secret{})
		switch {
		case q.Driver == "":
			return s.errorf(n, "sql needs a driver (add: driver: %s, or %s)", dataset.SQLite, dataset.PostgreSQL)
		case strings.TrimSpace(q.Query) == "":
			return s.errorf(n, "sql needs a query (add: query: SELECT …)")
		case q.Driver == dataset.SQLite && (q.Database == "" || servers):
			return s.errorf(n, "driver %s wants database: PATH, and neither dsn_env nor dsn_file", q.Driver)
		case q.Driver != dataset.SQLite && (q.Database != "" || (q.DSN.Env == "") == (q.DSN.File == "")):
			return s.errorf(n, "driver %s wants dsn_env: NAME or dsn_file: PATH, one of the two: the data source name itself is a secret and not for this file", q.Driver)
		}
		if !variableName.MatchString(q.DSN.Env) {
			return s.errorf(n, "dsn_env is the name of an environment variable, like REGISTER_DSN: the data source name itself is a secret and not for this file")
		}
		if strings.Contains(q.DSN.File, "://") || strings.Contains(q.DSN.File, "=") {
			return s.errorf(n, "dsn_file is the path of a file: the data source name itself is a secret and not for this file")
		}
		q.Database, q.DSN.File = s.absolute(q.Database), s.absolute(q.DSN.File)
		to.SQL = q
		return nil
	}
}

// flowSQL is a query as a site file has it, on one line.
func flowSQL(q *dataset.SQL) string {
	fields := []string{"driver: " + scalar(string(q.Driver))}
	for _, f := range [][2]string{{"database", q.Database}, {"dsn_env", q.DSN.Env}, {"dsn_file", q.DSN.File}, {"query", q.Query}} {
		if f[1] != "" {
			fields = append(fields, f[0]+": "+scalar(f[1]))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// checkSource refuses a dataset that is nowhere, or in two places, and makes its
// paths absolute.
func (d *Dataset) checkSource(s source, key *yaml.Node) error {
	files := d.Source.Files
	switch {
	case len(files) == 0 && d.Source.SQL == nil:
		return s.errorf(key, "dataset %q has no source (add: source: PATH.csv)", d.Name)
	case len(files) > 0 && d.Source.SQL != nil:
		return s.errorf(key, "dataset %q has both source and sql: it can have one", d.Name)
	case len(files) == 0 && d.Source.CSV != (dataset.Dialect{}):
		return s.errorf(key, "dataset %q has csv, which is about files, beside sql", d.Name)
	}
	for i, file := range files {
		if strings.Contains(file, "://") {
			return s.errorf(key, "source %q of dataset %q: only paths of files can be read (a database is named under sql)", hideSecret(file), d.Name)
		}
		files[i] = s.absolute(file)
	}
	return nil
}

// hideSecret cuts off what stands before an @ in a URL, where a password may be.
func hideSecret(location string) string {
	scheme, rest, _ := strings.Cut(location, "://")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = "…" + rest[i:]
	}
	return scheme + "://" + rest
}

// absolute resolves a path as relative to the site file; an empty one stays empty.
func (s source) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(s.path), path)
}
