package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol/day"
)

// maxDepth is more than the depth of any key of a study file.
const maxDepth = 8

// maxKey is more than the length of any key, in bytes.
const maxKey = 64

// place is the position of a value in the file.
type place struct{ line, column int }

// Reader collects errors while a document is read. It remembers the position of each key path, so
// that later checks can name the line.
type Reader struct {
	Errs     Errors
	Failures int    // number of errors, kept or dropped
	Words    bool   // values come from a command line: a list needs no brackets
	Lenient  bool   // keys may be names, a key without a value has an empty mapping, and texts need no quotes
	File     string // the file being read, if forms need it: relative paths are relative to it

	at map[string]place
}

// Survey walks a document, or the part of one below path, so that tables can read it. It reports
// whether there were no errors.
func (r *Reader) Survey(root *yaml.Node, path string) bool {
	if r.at == nil {
		r.at = map[string]place{}
	}
	r.survey(root, path, 0)
	return r.Failures == 0
}

// Fail records an error at a key path, or at its nearest ancestor in the file.
// The caller may set the returned error's Hint.
func (r *Reader) Fail(path, format string, args ...any) *Error {
	e := &Error{Key: path, Message: fmt.Sprintf(format, args...)}
	for p := path; ; {
		if at, ok := r.at[p]; ok {
			e.Line, e.Column = at.line, at.column
			break
		}
		cut := strings.LastIndexAny(p, ".[")
		if cut < 0 {
			e.Line, e.Column = 1, 1
			break
		}
		p = p[:cut]
	}
	return r.Add(e)
}

// FailAt records an error at a given node, such as a key, rather than at the value of its path.
func (r *Reader) FailAt(it Item, format string, args ...any) *Error {
	return r.Add(&Error{Line: it.Node.Line, Column: it.Node.Column, Key: it.Path, Message: fmt.Sprintf(format, args...)})
}

// Add records an error; errors beyond MaxErrors are dropped.
func (r *Reader) Add(e *Error) *Error {
	if r.Failures < MaxErrors {
		r.Errs = append(r.Errs, e)
	}
	r.Failures++
	return e
}

// Given reports whether the file has a value at the key path.
func (r *Reader) Given(path string) bool {
	_, ok := r.at[path]
	return ok
}

// Failure returns the recorded errors, in the file's order, or nil.
func (r *Reader) Failure() error {
	if len(r.Errs) == 0 {
		return nil
	}
	slices.SortStableFunc(r.Errs, func(a, b *Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return r.Errs
}

// Load returns the root of the only document of a text. An empty text is an error.
func Load(source []byte) (*yaml.Node, *Error) {
	root, e := Document(source)
	if e == nil && root == nil {
		e = &Error{Line: 1, Column: 1, Message: "the text holds no value"}
	}
	return root, e
}

// Document runs the YAML parser and returns the root of the only document; nil if the file has
// none.
func Document(source []byte) (*yaml.Node, *Error) {
	loader, err := yaml.NewLoader(bytes.NewReader(source))
	if err != nil {
		return nil, yamlError(err)
	}
	var first, second yaml.Node
	if err := loader.Load(&first); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, yamlError(err)
	}
	if err := loader.Load(&second); err == nil {
		return nil, &Error{Line: second.Line, Column: second.Column, Message: "a second document begins here", Hint: "write all into one"}
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlError(err)
	}
	if first.Kind != yaml.DocumentNode || len(first.Content) != 1 {
		return nil, &Error{Line: 1, Column: 1, Message: "the file holds no YAML document"}
	}
	return first.Content[0], nil
}

func yamlError(err error) *Error {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return &Error{Line: 1, Column: 1, Message: "not YAML: " + err.Error()}
	}
	message := "not YAML: " + le.Message
	if le.ContextMsg != "" {
		message += " " + le.ContextMsg
	}
	return &Error{Line: max(le.Mark.Line, 1), Column: max(le.Mark.Column, 1), Message: message}
}

// survey walks the whole tree once. It records the position of each key path. It refuses every YAML
// feature that makes a file mean something other than it seems to say.
func (r *Reader) survey(n *yaml.Node, path string, depth int) {
	r.at[path] = place{n.Line, n.Column}
	switch {
	case r.Failures >= MaxErrors:
		return
	case depth > maxDepth:
		r.Fail(path, "nested too deeply")
		return
	case n.Kind == yaml.AliasNode:
		r.Fail(path, "alias *%s: aliases are not used", shorten(n.Value)).Hint = "write the value out"
		return
	case n.Anchor != "":
		r.Fail(path, "anchor &%s: anchors are not used", shorten(n.Anchor)).Hint = "remove it"
	case n.Style&yaml.TaggedStyle != 0 || !strings.HasPrefix(n.Tag, "!!"):
		r.Fail(path, "tag %s: tags are not used", shorten(n.Tag)).Hint = "remove it; quotes make a text of any word"
	}
	switch n.Kind {
	case yaml.ScalarNode:
		if why := CheckText(n.Value); why != "" && !r.Lenient {
			r.Fail(path, "%s", why)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			r.survey(item, path+"["+strconv.Itoa(i)+"]", depth+1)
		}
	case yaml.MappingNode:
		lines := make(map[string]int, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			r.surveyPair(i, n.Content[i], n.Content[i+1], path, depth, lines)
		}
	default:
		r.Fail(path, "not a YAML value")
	}
}

func (r *Reader) surveyPair(i int, key, value *yaml.Node, path string, depth int, lines map[string]int) {
	keyError := func(format string, args ...any) *Error {
		return r.Add(&Error{Line: key.Line, Column: key.Column, Key: path, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case key.Kind == yaml.ScalarNode && key.Tag == "!!merge":
		keyError("merge key <<: merge keys are not used").Hint = "write the keys out"
		return
	case key.Kind != yaml.ScalarNode || key.Anchor != "" || key.Style&yaml.TaggedStyle != 0 || key.Value == "":
		keyError("a key is a plain word without quotes, tag or anchor")
		return
	case r.Lenient:
	case key.Tag != "!!str" && value.Kind == yaml.ScalarNode && value.Value == "" && i > 0:
		keyError("%s is not a key", Excerpt(key.Value)).Hint = "a number with a decimal comma is written with a point: 1.5"
		return
	case key.Tag != "!!str" || key.Style != 0:
		keyError("a key is a plain word without quotes, tag or anchor")
		return
	case CheckText(key.Value) != "":
		keyError("key: %s", CheckText(key.Value))
		return
	case len(key.Value) > maxKey:
		keyError("unknown key %s", Excerpt(key.Value))
		return
	}
	if first, ok := lines[key.Value]; ok {
		keyError("key %q appears twice", key.Value).Hint = fmt.Sprintf("first on line %d", first)
		return
	}
	lines[key.Value] = key.Line
	child := Join(path, key.Value)
	r.survey(value, child, depth+1)
}

// plainKey matches keys that need no quotes in a path.
var plainKey = regexp.MustCompile(`^[\pL\pN_-]+$`)

// Join returns the path of a key in a mapping.
func Join(path, key string) string {
	if !plainKey.MatchString(key) {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// empty reports whether a node is an empty mapping written without braces.
func (r *Reader) empty(n *yaml.Node) bool {
	return r.Lenient && n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// Object is one mapping of the file, after the survey.
type Object struct {
	*Reader
	Path   string
	Values map[string]*yaml.Node
}

// Object reads a mapping, and records an error for each unknown key.
func (r *Reader) Object(n *yaml.Node, path string, known ...string) Object {
	o := Object{Reader: r, Path: path, Values: map[string]*yaml.Node{}}
	if r.empty(n) {
		return o
	}
	if n.Kind != yaml.MappingNode {
		r.Fail(path, "want keys and values, have %s", Describe(n)).Hint = "keys here: " + strings.Join(known, ", ")
		return o
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !slices.Contains(known, key.Value) {
			e := r.Add(&Error{Line: key.Line, Column: key.Column, Key: Join(path, key.Value), Message: "unknown key"})
			e.Hint = "keys here: " + strings.Join(known, ", ") + "; if a newer program wrote the file, update this one"
			if near := Closest(key.Value, known); near != "" {
				e.Hint = fmt.Sprintf("did you mean %q?", near)
			}
			continue
		}
		o.Values[key.Value] = n.Content[i+1]
	}
	return o
}

func (o Object) Has(key string) bool { return o.Values[key] != nil }

// Fail records an error at one of the object's keys.
func (o Object) Fail(key, format string, args ...any) *Error {
	return o.Reader.Fail(Join(o.Path, key), format, args...)
}

// Item is a value with its path, such as one element of a list.
type Item struct {
	Node *yaml.Node
	Path string
}

// Items reads a list of at most `most` elements.
func (r *Reader) Items(it Item, most int) []Item {
	n, path := it.Node, it.Path
	if r.Words && n.Kind == yaml.ScalarNode {
		n = r.commaList(n, path)
	}
	if n.Kind != yaml.SequenceNode {
		r.Fail(path, "want a list, have %s", Describe(n)).Hint = "write [a, b] or one - per line"
		return nil
	}
	if len(n.Content) > most {
		r.Fail(path, "has %d entries, at most %d", len(n.Content), most)
		return nil
	}
	out := make([]Item, len(n.Content))
	for i, c := range n.Content {
		out[i] = Item{Node: c, Path: path + "[" + strconv.Itoa(i) + "]"}
	}
	return out
}

// commaList parses a comma-separated scalar of a command line as a list.
func (r *Reader) commaList(n *yaml.Node, path string) *yaml.Node {
	list, e := Load([]byte("[" + n.Value + "]"))
	if e != nil || list.Kind != yaml.SequenceNode {
		return n
	}
	r.survey(list, path, 0)
	return list
}

// MaxWord is more than the length, in bytes, of any word except keys of the aggregator.
const MaxWord = 100

func (r *Reader) Word(it Item, most int) string {
	if it.Node.Kind != yaml.ScalarNode || it.Node.Value == "" || len(it.Node.Value) > most {
		r.Fail(it.Path, "want a word, have %s", Describe(it.Node))
		return ""
	}
	return it.Node.Value
}

// Text reads free text. A bare word must be quoted if some YAML reader would take it for a number,
// a boolean or null.
func (r *Reader) Text(it Item) string {
	n := it.Node
	switch {
	case n.Kind != yaml.ScalarNode:
		r.Fail(it.Path, "want a text, have %s", Describe(n))
		return ""
	case r.Lenient && (n.Value == "" || n.Tag == "!!null"):
		r.Fail(it.Path, "want a text, have %s", Describe(n))
		return ""
	case r.Lenient:
	case plain(n) && (n.Tag != "!!str" || typedWord.MatchString(n.Value)):
		r.Fail(it.Path, "%s where a text belongs", Describe(n)).Hint = "write it in quotes: " + Excerpt(n.Value)
		return ""
	}
	return n.Value
}

// typedWord matches bare words that some YAML reader does not take for a text.
var typedWord = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|null|~|[-+]?\.?[0-9][0-9_,.:]*([e][-+]?[0-9]+)?|[-+]?0[xob][0-9a-f_]+|[-+]?\.?(inf|nan))$`)

// Typed reports whether some YAML reader does not take a bare word for a text.
func Typed(word string) bool { return typedWord.MatchString(word) }

// Decimal reports whether a text is a number in the form of files.
func Decimal(text string) bool { return numberForm.MatchString(text) }

var (
	numberForm  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE]-?[0-9]+)?$`)
	integerForm = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
)

func (r *Reader) Number(it Item) float64 {
	n := it.Node
	if n.Kind != yaml.ScalarNode || !plain(n) || !numberForm.MatchString(n.Value) {
		e := r.Fail(it.Path, "want a number, have %s", Describe(n))
		e.Hint = "write it like 12, -0.5 or 1e-6, without quotes"
		if day.Written(n.Value) {
			e.Hint = "a date is a number of days since 1970-01-01: 1940-01-01 is -10958, 2000-01-01 is 10957"
		}
		return 0
	}
	x, err := strconv.ParseFloat(n.Value, 64)
	if err != nil {
		r.Fail(it.Path, "number %s is out of range", shorten(n.Value))
		return 0
	}
	if x == 0 {
		return 0 // -0 and 0 are the same number
	}
	return x
}

// Amount is a number, or a date as the number of days since 1970-01-01.
type Amount struct {
	X    float64
	Date bool
}

// Amount reads a number or a date.
func (r *Reader) Amount(it Item) Amount {
	if n := it.Node; n.Kind == yaml.ScalarNode && day.Written(n.Value) {
		days, ok := day.Parse(n.Value)
		switch {
		case !plain(n):
			r.Fail(it.Path, "want a date without quotes, have %s", Describe(n))
		case !ok:
			r.Fail(it.Path, "there is no date %s", n.Value)
		}
		return Amount{float64(days), true}
	}
	return Amount{X: r.Number(it)}
}

// Whole reads an integer.
func (r *Reader) Whole(it Item) int {
	n := it.Node
	if n.Kind != yaml.ScalarNode || !plain(n) || !integerForm.MatchString(n.Value) {
		r.Fail(it.Path, "want a whole number, have %s", Describe(n)).Hint = "write it like 128, without quotes"
		return 0
	}
	i, err := strconv.ParseInt(n.Value, 10, 32)
	if err != nil {
		r.Fail(it.Path, "number %s is out of range", shorten(n.Value))
		return 0
	}
	return int(i)
}

// Flag reads true or false.
func (r *Reader) Flag(it Item) bool {
	n := it.Node
	if n.Kind != yaml.ScalarNode || !plain(n) || n.Value != "true" && n.Value != "false" {
		r.Fail(it.Path, "want true or false, have %s", Describe(n))
		return false
	}
	return n.Value == "true"
}

func plain(n *yaml.Node) bool {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Style&quoted == 0
}

// Describe names what the file has instead of what was expected.
func Describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "keys and values"
	case plain(n) && n.Value == "":
		return "nothing"
	case plain(n):
		return "the bare word " + Excerpt(n.Value)
	}
	return "the text " + Excerpt(n.Value)
}

// Excerpt quotes the beginning of a value.
func Excerpt(s string) string { return strconv.Quote(shorten(s)) }

// shorten keeps the beginning of a long text.
func shorten(s string) string {
	if runes := []rune(s); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return s
}
