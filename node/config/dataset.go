package config

import (
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/schema"
)

// variableName matches the name of an environment variable, or nothing.
var variableName = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)?$`)

// checkSQL checks a query and makes its paths absolute. The data source name of a server holds a
// password, so the file only says where to find it.
func checkSQL(r *schema.Reader, at schema.Item, q *dataset.SQL) *dataset.SQL {
	servers := q.DSN != (dataset.Secret{})
	switch {
	case q.Driver == "":
		r.Fail(at.Path, "sql needs a driver (add: driver: %s, or %s)", dataset.SQLite, dataset.PostgreSQL)
	case strings.TrimSpace(q.Query) == "":
		r.Fail(at.Path, "sql needs a query (add: query: SELECT …)")
	case q.Driver == dataset.SQLite && (q.Database == "" || servers):
		r.Fail(at.Path, "driver %s wants database: PATH, and neither dsn_env nor dsn_file", q.Driver)
	case q.Driver != dataset.SQLite && (q.Database != "" || (q.DSN.Env == "") == (q.DSN.File == "")):
		r.Fail(at.Path, "driver %s wants dsn_env: NAME or dsn_file: PATH, one of the two: the data source name itself is a secret and not for this file", q.Driver)
	case !variableName.MatchString(q.DSN.Env):
		r.Fail(at.Path, "dsn_env is the name of an environment variable, like REGISTER_DSN: the data source name itself is a secret and not for this file")
	case strings.Contains(q.DSN.File, "://") || strings.Contains(q.DSN.File, "="):
		r.Fail(at.Path, "dsn_file is the path of a file: the data source name itself is a secret and not for this file")
	}
	q.Database, q.DSN.File = absolute(r, q.Database), absolute(r, q.DSN.File)
	return q
}

// flowSQL writes a query on one line, as in a site file.
func flowSQL(q *dataset.SQL) string {
	fields := []string{"driver: " + scalar(string(q.Driver))}
	for _, f := range [][2]string{{"database", q.Database}, {"dsn_env", q.DSN.Env}, {"dsn_file", q.DSN.File}, {"query", q.Query}} {
		if f[1] != "" {
			fields = append(fields, f[0]+": "+scalar(f[1]))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// checkSource refuses a dataset without a source or with two, and makes its paths absolute.
func (d *Dataset) checkSource(r *schema.Reader, name schema.Item) {
	files := d.Source.Files
	if d.Source.Command != nil {
		d.Source.Command.Dir = filepath.Dir(r.File)
	}
	switch {
	case d.Source.Elsewhere != "" && (len(files) > 0 || d.Source.IsQuery()):
		r.FailAt(name, "dataset %q has elsewhere beside source, sql or command: it can have one", d.Name)
	case d.Source.Command != nil && (len(files) > 0 || d.Source.SQL != nil):
		r.FailAt(name, "dataset %q has command beside source or sql: it can have one", d.Name)
	case len(files) == 0 && !d.Source.IsQuery() && d.Source.Elsewhere == "":
		r.FailAt(name, "dataset %q has no source (add: source: PATH.csv)", d.Name)
	case len(files) > 0 && d.Source.SQL != nil:
		r.FailAt(name, "dataset %q has both source and sql: it can have one", d.Name)
	case d.Source.SQL != nil && d.Source.CSV != (dataset.Dialect{}):
		r.FailAt(name, "dataset %q has csv, which is about files, beside sql", d.Name)
	}
	for i, file := range files {
		if strings.Contains(file, "://") {
			r.FailAt(name, "source %q of dataset %q: only paths of files can be read (a database is named under sql)", hideSecret(file), d.Name)
		}
		files[i] = absolute(r, file)
	}
}

// replacementForm reads the replacement of a value.
func replacementForm() schema.Form[string] {
	return schema.Custom("value, or nothing", func(r *schema.Reader, at schema.Item, to *string) {
		switch {
		case at.Node.Kind != yaml.ScalarNode:
			r.Fail(at.Path, "want a value, have %s", schema.Describe(at.Node))
		case at.Node.Tag != "!!null":
			*to = at.Node.Value
		}
	})
}

func putInstead(_ *schema.Reader, value, _ schema.Item, of *map[string]string, read *string) {
	if *of == nil {
		*of = map[string]string{}
	}
	(*of)[value.Node.Value] = *read
}

func putValues(_ *schema.Reader, column, _ schema.Item, d *Dataset, of *map[string]string) {
	if len(*of) == 0 {
		return
	}
	if d.Source.Words.Values == nil {
		d.Source.Words.Values = map[string]map[string]string{}
	}
	d.Source.Words.Values[column.Node.Value] = *of
}

// command returns where the words of a dataset's command are stored.
func (d *Dataset) command() *[]string {
	if d.Source.Command == nil {
		d.Source.Command = &dataset.Command{}
	}
	return &d.Source.Command.Args
}

// hideSecret removes what precedes an @ in a URL, where a password may be.
func hideSecret(location string) string {
	scheme, rest, _ := strings.Cut(location, "://")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = "…" + rest[i:]
	}
	return scheme + "://" + rest
}

// absolute resolves a path relative to the site file; an empty one stays empty.
func absolute(r *schema.Reader, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(r.File), path)
}
