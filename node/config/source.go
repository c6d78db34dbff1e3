package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node/sniff"
)

// source is the file that is being read, for error messages.
type source struct {
	what string // "site file"
	path string // absolute

	variables map[*yaml.Node]string // the environment variable that a value is of, where it is of one
}

// parser reads one node into a place that it knows.
type parser func(*yaml.Node) error

// fields are the known keys of a mapping.
type fields map[string]parser

// maxBytes bounds a file that somebody names by mistake.
const maxBytes = 1 << 20

// load reads the file at path, or at fallback if path is empty, and returns its
// root: a mapping, or nil for a file that is empty or may be absent and is.
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
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil, fmt.Errorf("reading %s: %w (is --config right? init writes one, and config init)", what, err)
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

// document parses the one YAML document of a file.
func (s source) document(data []byte) (*yaml.Node, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil, s.syntax(err)
	}
	var first, second yaml.Node
	switch err := loader.Load(&first); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, s.syntax(err)
	}
	switch err := loader.Load(&second); {
	case err == nil:
		return nil, s.errorf(&second, "a second document begins: write all into one")
	case !errors.Is(err, io.EOF):
		return nil, s.syntax(err)
	}
	root := first.Content[0]
	return root, s.plain(root)
}

func (s source) syntax(err error) error {
	var e *yaml.LoadError
	if errors.As(err, &e) && e.Mark.Line > 0 {
		return fmt.Errorf("reading %s %s:%d: %s", s.what, s.path, e.Mark.Line, e.Message)
	}
	return fmt.Errorf("reading %s %s: %w", s.what, s.path, err)
}

// plain refuses what makes a YAML file mean something else than it seems to say.
func (s source) plain(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return s.errorf(n, "anchors and aliases are not allowed: write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		return s.errorf(n, "tag %q is not allowed", n.Tag)
	case n.Tag == "!!merge":
		return s.errorf(n, "merge keys are not allowed: write the fields out")
	}
	for _, child := range n.Content {
		if err := s.plain(child); err != nil {
			return err
		}
	}
	return nil
}

func (s source) errorf(n *yaml.Node, format string, args ...any) error {
	where := fmt.Sprintf("%s %s:%d", s.what, s.path, n.Line)
	name, ok := s.variables[n]
	switch {
	case ok:
		where = "environment variable " + name
	case n.Line == 0: // a mapping that is there for a variable's sake
		where = s.what + " " + s.path
	}
	return &placed{where, fmt.Errorf(format, args...)}
}

// placed is an error that says in which file, and where in it.
type placed struct {
	where string
	err   error
}

func (p *placed) Error() string { return fmt.Sprintf("reading %s: %v", p.where, p.err) }

// Unwrap returns what is wrong there.
func (p *placed) Unwrap() error { return p.err }

// entries calls each for every pair of a mapping, in the file's order. A nil node
// and a key without a value are an empty mapping.
func (s source) entries(n *yaml.Node, each func(key, value *yaml.Node) error) error {
	if n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return s.errorf(n, "want a mapping (key: value)")
	}
	lines := make(map[string]int)
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Value == "" {
			return s.errorf(key, "want a name as the key")
		}
		if line, twice := lines[key.Value]; twice {
			return s.errorf(key, "key %q is already on line %d", key.Value, line)
		}
		lines[key.Value] = key.Line
		if err := each(key, value); err != nil {
			return err
		}
	}
	return nil
}

// fields reads a mapping with known keys.
func (s source) fields(n *yaml.Node, known fields) error {
	return s.entries(n, func(key, value *yaml.Node) error {
		parse, ok := known[key.Value]
		if !ok {
			names := sortedKeys(known)
			return s.errorf(key, "unknown key %q%s; known are %s", key.Value,
				suggestion(key.Value, names), strings.Join(names, ", "))
		}
		return parse(value)
	})
}

func (s source) text(to *string) parser {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Value == "" || n.Tag == "!!null" {
			return s.errorf(n, "want a text")
		}
		*to = n.Value
		return nil
	}
}

func (s source) texts(to *[]string) parser {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
			return s.errorf(n, "want a list with at least one entry, like [a, b]")
		}
		*to = make([]string, len(n.Content))
		for i, entry := range n.Content {
			if err := s.text(&(*to)[i])(entry); err != nil {
				return err
			}
		}
		return nil
	}
}

// oneOrMore reads a text, or a list of them.
func (s source) oneOrMore(to *[]string) parser {
	return func(n *yaml.Node) error {
		if n.Kind == yaml.SequenceNode {
			return s.texts(to)(n)
		}
		*to = make([]string, 1)
		return s.text(&(*to)[0])(n)
	}
}

// decimal is the one spelling of numbers, as in study files.
var decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE]-?[0-9]+)?$`)

func (s source) number(to *float64) parser {
	return func(n *yaml.Node) error {
		plain := n.Kind == yaml.ScalarNode && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
		if !plain || !decimal.MatchString(n.Value) {
			return s.errorf(n, "want a number like 0.5 or 1e-6, not %q", n.Value)
		}
		var err error
		if *to, err = strconv.ParseFloat(n.Value, 64); err != nil {
			return s.errorf(n, "number %q is out of range", n.Value)
		}
		return nil
	}
}

func (s source) boolean(to *bool) parser {
	return func(n *yaml.Node) error {
		word, err := s.choice(n, "false", "true")
		*to = word == "true"
		return err
	}
}

func (s source) choice(n *yaml.Node, words ...string) (string, error) {
	if n.Kind != yaml.ScalarNode || !slices.Contains(words, n.Value) {
		return "", s.errorf(n, "want one of %s, not %q", strings.Join(words, ", "), n.Value)
	}
	return n.Value, nil
}

// oneOf reads one of some words into a place of its own type.
func oneOf[T ~string](s source, to *T, words []T) parser {
	return func(n *yaml.Node) error {
		texts := make([]string, len(words))
		for i, w := range words {
			texts[i] = string(w)
		}
		word, err := s.choice(n, texts...)
		*to = T(word)
		return err
	}
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
