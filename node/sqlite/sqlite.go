// Package sqlite opens SQLite databases by their paths.
package sqlite

import (
	"database/sql"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// Open opens a database with the parameters of an SQLite URI, https://sqlite.org/uri.html. _pragma
// and _txlock are the driver's own.
func Open(path string, parameters url.Values) (*sql.DB, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return sql.Open("sqlite", location(filepath.ToSlash(absolute), parameters))
}

// location returns an absolute path as a URI with slashes. A Windows path gets a leading slash, or
// its drive would be taken for a host.
func location(path string, parameters url.Values) string {
	if path[0] != '/' {
		path = "/" + path
	}
	l := url.URL{Scheme: "file", Path: path, RawQuery: parameters.Encode()}
	return l.String()
}
