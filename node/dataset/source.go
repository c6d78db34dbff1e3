package dataset

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Source says where a dataset's records are: in files, in a database, in a program's output, in a
// stream, or elsewhere. Exactly one of Files, SQL, Command, Stream and Elsewhere is set.
type Source struct {
	// Files are paths, or patterns of package path/filepath; an existing path is never taken for a
	// pattern. Files that end in .parquet are Parquet, .xlsx or .xlsm Excel, all others CSV,
	// compressed or not. Each has its own header, so the order of columns may differ between files.
	Files []string
	// CSV holds what is given about the CSV files; the rest is detected for each file separately.
	CSV Dialect
	// Sheet names the sheet to read from workbooks. Default: the first.
	Sheet string
	// Words apply to every kind of source.
	Words Replacements
	// SQL is a database query.
	SQL *SQL
	// Command is a program that writes the records as CSV.
	Command *Command
	// Stream is a stream of records, read once.
	Stream *Stream
	// Elsewhere describes to people where the records are, if this machine does not read them: see
	// package part.
	Elsewhere string
}

// Stream is a stream of records, read once: CSV, compressed or not, or Arrow record batches.
// Arrow's file format is read only from a file.
type Stream struct {
	Name  string      // for people, like "standard input"
	From  io.Reader   // required
	Arrow OpenBatches // required: that of package dataset/arrow
}

// IsQuery reports whether the records come from a database or a program: then there is no file to
// look at, and nothing tells which records are new.
func (s Source) IsQuery() bool { return s.SQL != nil || s.Command != nil }

// Question returns the full query or command.
func (s Source) Question() string {
	if s.SQL != nil {
		return s.SQL.Query
	}
	return strings.Join(s.Command.Args, "\n")
}

// Files returns the source of the files at these paths.
func Files(paths ...string) Source { return Source{Files: paths} }

// Of returns a source of other files, read with the settings of s.
func (s Source) Of(paths ...string) Source {
	return Source{Files: paths, CSV: s.CSV, Sheet: s.Sheet, Words: s.Words}
}

// String names the source for people: its files, or its database without secrets.
func (s Source) String() string {
	switch {
	case s.SQL != nil:
		return s.SQL.String()
	case s.Command != nil:
		return s.Command.String()
	case s.Stream != nil:
		return s.Stream.Name
	case s.Elsewhere != "":
		return s.Elsewhere
	}
	return strings.Join(s.Files, ", ")
}

// path is one file of a source and its state when the reading began.
type path struct {
	name string
	info fs.FileInfo
}

func (p path) parquet() bool { return strings.EqualFold(filepath.Ext(p.name), ".parquet") }

// workbook reports whether the file is an Excel workbook.
func (p path) workbook() bool {
	ext := filepath.Ext(p.name)
	return strings.EqualFold(ext, ".xlsx") || strings.EqualFold(ext, ".xlsm")
}

// lines reports whether records are lines of text.
func (p path) lines() bool { return !p.parquet() && !p.workbook() }

// unchanged returns an error if the file changed since the reading began.
func (p path) unchanged() error {
	info, err := os.Stat(p.name)
	if err != nil {
		return fileError(p.name, cannotRead, err)
	}
	if info.Size() != p.info.Size() || !info.ModTime().Equal(p.info.ModTime()) {
		return &Error{File: p.name, Message: "the file changed while it was read", Hint: "try again when its writer has finished"}
	}
	return nil
}

// files resolves the patterns; matches of one pattern are sorted by name.
func (s Source) files() ([]path, error) {
	if len(s.Files) == 0 {
		return nil, fmt.Errorf("opening data: no file is named")
	}
	var out []path
	for _, pattern := range s.Files {
		names, err := match(pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if slices.ContainsFunc(out, func(p path) bool { return p.name == name }) {
				return nil, &Error{File: name, Message: "the file is named twice", Hint: "the source's paths and patterns overlap"}
			}
			info, err := statFile(name)
			if err != nil {
				return nil, err
			}
			out = append(out, path{name, info})
		}
	}
	if len(out) > maxFiles {
		return nil, fmt.Errorf("opening data: %d files, at most %d", len(out), maxFiles)
	}
	return out, nil
}

// ErrorAt returns an error about a record of a source that is one file or query. line is its entry
// in Batch.Lines.
func (s Source) ErrorAt(line int64, message, hint string) *Error {
	e := &Error{File: s.String(), Message: message, Hint: hint}
	if s.SQL != nil || s.Command == nil && !(path{name: e.File}).lines() {
		e.Row = line
	} else {
		e.Line = line
	}
	return e
}

// Paths resolves the patterns to the files of the source, in the order in which Open reads them.
func (s Source) Paths() ([]string, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	out := make([]string, len(files))
	for i, p := range files {
		out[i] = p.name
	}
	return out, nil
}

// match returns the paths that match a pattern.
func match(pattern string) ([]string, error) {
	if _, err := os.Lstat(pattern); err == nil || !strings.ContainsAny(pattern, "*?[") {
		return []string{pattern}, nil
	}
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, &Error{File: pattern, Message: "not a valid pattern", Hint: "* and ? stand for what differs, [ab] for one of several characters", Err: err}
	}
	if len(names) == 0 {
		return nil, &Error{File: pattern, Message: "no file matches the pattern", Err: fs.ErrNotExist}
	}
	return names, nil
}

// NotHere returns the error of reading data that are elsewhere.
func (s Source) NotHere() error { return fail.DataElsewhere.New(s.Elsewhere) }
