package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node/sniff"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/schema"
)

// source describes the file being read, for error messages.
type source struct {
	what string // "site file"
	path string // absolute

	variables map[string]string // the environment variables that gave values, by their keys' paths
}

// maxBytes bounds the size of a file, in case of a wrong path.
const maxBytes = 1 << 20

// most bounds the entries of lists: a file has no more bytes than that.
const most = maxBytes

// load reads the file at path, or at fallback if path is empty. It returns the root mapping, or nil
// if the file is empty or is an absent fallback.
func load(what string, kind sniff.Kind, path, fallback string) (source, *yaml.Node, error) {
	s := source{what: what, path: path}
	if path == "" {
		s.path = fallback
	}
	absolute, err := filepath.Abs(s.path)
	if err != nil {
		return s, nil, fmt.Errorf("reading %s %s: %w", what, s.path, err)
	}
	s.path = absolute
	data, err := readFile(s.path)
	if errors.Is(err, fs.ErrNotExist) && s.path == fallback {
		return s, nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) && (kind == sniff.Party || kind == sniff.Aggregator) {
		return s, nil, fmt.Errorf("reading %s: %w (is --config right? init writes one, and advanced config init)", what, err)
	}
	if err != nil {
		return s, nil, fmt.Errorf("reading %s: %w", what, err)
	}
	if err := s.expect(data, kind); err != nil {
		return s, nil, err
	}
	root, err := s.document(data)
	return s, root, err
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("%s: more than %d bytes (is it a data file?)", path, maxBytes)
	}
	return data, err
}

// document parses a file, which must be a single YAML document.
func (s source) document(data []byte) (*yaml.Node, error) {
	root, e := schema.Document(data)
	if e != nil {
		return nil, s.error(e)
	}
	return root, nil
}

// error returns an error with its place in the file.
func (s source) error(e *schema.Error) error {
	where := fmt.Sprintf("%s %s:%d", s.what, s.path, e.Line)
	name := s.variable(e.Key)
	switch {
	case name != "":
		where = "environment variable " + name
	case e.Line == 0: // a mapping that exists only because of a variable
		where = s.what + " " + s.path
	}
	said := *e
	said.Line, said.ID = 0, fail.ConfigFile // where has the line
	return fmt.Errorf("reading %s: %w", where, &said)
}

// variable is the environment variable that gave the value of a key, or of its list; or "".
func (s source) variable(key string) string {
	key, _, _ = strings.Cut(key, "[")
	return s.variables[key]
}

// read reads a document by a table of keys. It returns the first error.
func read[T any](s source, root *yaml.Node, keys schema.Keys[T], to *T) error {
	r := &schema.Reader{Lenient: true, File: s.path}
	if root == nil || r.Survey(root, "") {
		keys.Read(r, schema.Item{Node: root}, to)
	}
	if r.Failure() == nil {
		return nil
	}
	return s.error(r.Errs[0])
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
