// Package sqlite opens SQLite databases by their paths.
package sqlite

import (
	"database/sql"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Open opens a database with the parameters of a SQLite location, https://sqlite.org/uri.html, of which _pragma and
// _txlock are the driver's.
func Open(path string, parameters url.Values) (*sql.DB, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return sql.Open("sqlite", location(filepath.ToSlash(absolute), parameters))
}

// location is an absolute path with slashes as a URI. A path of Windows begins with its drive, which would stand where
// a host does.
func location(path string, parameters url.Values) string {
	if path[0] != '/' {
		path = "/" + path
	}
	l := url.URL{Scheme: "file", Path: path, RawQuery: parameters.Encode()}
	return l.String()
}
