package study

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
)

// maxDepth is deeper than any key of a study file.
const maxDepth = 8

// place is where a value stands in the file.
type place struct{ line, column int }

// reader collects errors while a document is read and remembers where each key
// path stands, so that checks on the finished Study can name its line.
type reader struct {
	errs     Errors
	failures int // how many errors there were, kept or not
	at       map[string]place
	words    bool // values come as words of a command line: a list may stand without brackets
}

// fail records an error at a key path, or at its nearest ancestor in the file.
// The caller may set the returned error's Hint.
func (r *reader) fail(path, format string, args ...any) *Error {
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
	return r.add(e)
}

// add records an error; beyond maxErrors it is dropped.
func (r *reader) add(e *Error) *Error {
	if r.failures < maxErrors {
		r.errs = append(r.errs, e)
	}
	r.failures++
	return e
}

// given reports whether the file has a value at the key path.
func (r *reader) given(path string) bool {
	_, ok := r.at[path]
	return ok
}

// failure returns what was recorded, in the file's order, or nil.
func (r *reader) failure() error {
	if len(r.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(r.errs, func(a, b *Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return r.errs
}

// load runs the YAML parser and returns the root of the only document.
func load(source []byte) (*yaml.Node, *Error) {
	loader, err := yaml.NewLoader(bytes.NewReader(source))
	if err != nil {
		return nil, yamlError(err)
	}
	var first, second yaml.Node
	if err := loader.Load(&first); errors.Is(err, io.EOF) {
		return nil, &Error{Line: 1, Column: 1, Message: "the file is empty", Hint: "a study file begins with cosketch: study/2"}
	} else if err != nil {
		return nil, yamlError(err)
	}
	if err := loader.Load(&second); err == nil {
		return nil, &Error{Line: second.Line, Column: second.Column, Message: "a second document begins here", Hint: "one file holds one study"}
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

// survey walks the whole tree once. It refuses every YAML feature that study files
// do not use and records where each key path stands.
func (r *reader) survey(n *yaml.Node, path string, depth int) {
	r.at[path] = place{n.Line, n.Column}
	switch {
	case r.failures >= maxErrors:
		return
	case depth > maxDepth:
		r.fail(path, "nested too deeply")
		return
	case n.Kind == yaml.AliasNode:
		r.fail(path, "alias *%s: aliases are not used in study files", shorten(n.Value)).Hint = "write the value out"
		return
	case n.Anchor != "":
		r.fail(path, "anchor &%s: anchors are not used in study files", shorten(n.Anchor)).Hint = "remove it"
	case n.Style&yaml.TaggedStyle != 0 || !strings.HasPrefix(n.Tag, "!!"):
		r.fail(path, "tag %s: tags are not used in study files", shorten(n.Tag)).Hint = "remove it; quotes make a text of any word"
	}
	switch n.Kind {
	case yaml.ScalarNode:
		if why := checkText(n.Value); why != "" {
			r.fail(path, "%s", why)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			r.survey(item, path+"["+strconv.Itoa(i)+"]", depth+1)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			r.surveyPair(n.Content[i], n.Content[i+1], path, depth)
		}
	default:
		r.fail(path, "not a YAML value")
	}
}

func (r *reader) surveyPair(key, value *yaml.Node, path string, depth int) {
	keyError := func(format string, args ...any) *Error {
		return r.add(&Error{Line: key.Line, Column: key.Column, Key: path, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case key.Kind == yaml.ScalarNode && key.Tag == "!!merge":
		keyError("merge key <<: merge keys are not used in study files").Hint = "write the keys out"
		return
	case key.Kind != yaml.ScalarNode || key.Tag != "!!str" || key.Anchor != "" || key.Style != 0:
		keyError("a key is a plain word without quotes, tag or anchor")
		return
	case checkText(key.Value) != "":
		keyError("key: %s", checkText(key.Value))
		return
	case len(key.Value) > maxName:
		keyError("unknown key %s", excerpt(key.Value))
		return
	}
	child := join(path, key.Value)
	if first, ok := r.at[child]; ok {
		keyError("key %q appears twice", key.Value).Hint = fmt.Sprintf("first on line %d", first.line)
		return
	}
	r.survey(value, child, depth+1)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// object is one mapping of the file, after survey.
type object struct {
	r      *reader
	path   string
	values map[string]*yaml.Node
}

// object reads a mapping and refuses keys that are not among the known ones.
func (r *reader) object(n *yaml.Node, path string, known ...string) object {
	o := object{r: r, path: path, values: map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		r.fail(path, "want keys and values, have %s", describe(n)).Hint = "keys here: " + strings.Join(known, ", ")
		return o
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !slices.Contains(known, key.Value) {
			e := r.add(&Error{Line: key.Line, Column: key.Column, Key: join(path, key.Value), Message: "unknown key"})
			e.Hint = "keys here: " + strings.Join(known, ", ") + "; if a newer program wrote the file, update this one"
			if near := nearest(key.Value, known); near != "" {
				e.Hint = fmt.Sprintf("did you mean %q?", near)
			}
			continue
		}
		o.values[key.Value] = n.Content[i+1]
	}
	return o
}

// require records each of the keys that is absent.
func (o object) require(keys ...string) {
	for _, key := range keys {
		if !o.has(key) {
			o.r.fail(join(o.path, key), "is missing")
		}
	}
}

func (o object) has(key string) bool { return o.values[key] != nil }

// fail records an error at one of the object's keys.
func (o object) fail(key, format string, args ...any) *Error {
	return o.r.fail(join(o.path, key), format, args...)
}

// item is one element of a list.
type item struct {
	node *yaml.Node
	path string
}

// items reads a list of at most `most` elements; nil when the key is absent.
func (o object) items(key string, most int) []item {
	n := o.values[key]
	if n == nil {
		return nil
	}
	path := join(o.path, key)
	if o.r.words && n.Kind == yaml.ScalarNode {
		n = o.r.commaList(n, path)
	}
	if n.Kind != yaml.SequenceNode {
		o.r.fail(path, "want a list, have %s", describe(n)).Hint = "write [a, b] or one - per line"
		return nil
	}
	if len(n.Content) > most {
		o.r.fail(path, "has %d entries, at most %d", len(n.Content), most)
		return nil
	}
	out := make([]item, len(n.Content))
	for i, c := range n.Content {
		out[i] = item{node: c, path: path + "[" + strconv.Itoa(i) + "]"}
	}
	return out
}

// commaList reads a scalar of a command line as the list that its commas make.
func (r *reader) commaList(n *yaml.Node, path string) *yaml.Node {
	list, e := load([]byte("[" + n.Value + "]"))
	if e != nil || list.Kind != yaml.SequenceNode {
		return n
	}
	r.survey(list, path, 0)
	return list
}

// maxWord is longer than every word that is not a key of the aggregator, in bytes.
const maxWord = 100

// word reads a scalar whose own grammar leaves nothing to guess (a time, an id, a
// word of a closed list), quoted or not; "" when the key is absent or no word.
func (o object) word(key string, most int) string {
	n := o.values[key]
	if n == nil {
		return ""
	}
	return o.r.word(item{n, join(o.path, key)}, most)
}

func (r *reader) word(it item, most int) string {
	if it.node.Kind != yaml.ScalarNode || it.node.Value == "" || len(it.node.Value) > most {
		r.fail(it.path, "want a word, have %s", describe(it.node))
		return ""
	}
	return it.node.Value
}

// text reads free text.
func (o object) text(key string) string {
	n := o.values[key]
	if n == nil {
		return ""
	}
	return o.r.text(item{n, join(o.path, key)})
}

// text reads free text. A bare word that some reader of YAML would take for a
// number, a boolean or nothing must be quoted.
func (r *reader) text(it item) string {
	n := it.node
	switch {
	case n.Kind != yaml.ScalarNode:
		r.fail(it.path, "want a text, have %s", describe(n))
		return ""
	case plain(n) && (n.Tag != "!!str" || typedWord.MatchString(n.Value)):
		r.fail(it.path, "%s where a text belongs", describe(n)).Hint = "write it in quotes: " + excerpt(n.Value)
		return ""
	}
	return n.Value
}

// typedWord matches bare words that one YAML reader or another does not take for a text.
var typedWord = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|null|~|[-+]?\.?[0-9][0-9_,.:]*([e][-+]?[0-9]+)?|[-+]?0[xob][0-9a-f_]+|[-+]?\.?(inf|nan))$`)

var (
	numberForm  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE]-?[0-9]+)?$`)
	dateForm    = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	integerForm = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
)

// number reads a decimal number; 0 when the key is absent.
func (o object) number(key string) float64 {
	n := o.values[key]
	if n == nil {
		return 0
	}
	return o.r.number(item{n, join(o.path, key)})
}

func (r *reader) number(it item) float64 {
	n := it.node
	if n.Kind != yaml.ScalarNode || !plain(n) || !numberForm.MatchString(n.Value) {
		e := r.fail(it.path, "want a number, have %s", describe(n))
		e.Hint = "write it like 12, -0.5 or 1e-6, without quotes"
		if dateForm.MatchString(n.Value) {
			e.Hint = "a date is a number of days since 1970-01-01: 1940-01-01 is -10958, 2000-01-01 is 10957"
		}
		return 0
	}
	x, err := strconv.ParseFloat(n.Value, 64)
	if err != nil {
		r.fail(it.path, "number %s is out of range", shorten(n.Value))
		return 0
	}
	if x == 0 {
		return 0 // -0 and 0 are one number
	}
	return x
}

// integer reads a whole number; 0 when the key is absent.
func (o object) integer(key string) int {
	n := o.values[key]
	if n == nil {
		return 0
	}
	if n.Kind != yaml.ScalarNode || !plain(n) || !integerForm.MatchString(n.Value) {
		o.fail(key, "want a whole number, have %s", describe(n)).Hint = "write it like 128, without quotes"
		return 0
	}
	i, err := strconv.ParseInt(n.Value, 10, 32)
	if err != nil {
		o.fail(key, "number %s is out of range", shorten(n.Value))
		return 0
	}
	return int(i)
}

// integerOr reads a whole number; fallback when the key is absent.
func (o object) integerOr(key string, fallback int) int {
	if !o.has(key) {
		return fallback
	}
	return o.integer(key)
}

// within records a number that is out of its range.
func (r *reader) within(path string, n, least, most int) {
	if n < least || n > most {
		r.fail(path, "%d is not between %d and %d", n, least, most)
	}
}

// flag reads true or false; false when the key is absent.
func (o object) flag(key string) bool {
	n := o.values[key]
	if n == nil {
		return false
	}
	if n.Kind != yaml.ScalarNode || !plain(n) || n.Value != "true" && n.Value != "false" {
		o.fail(key, "want true or false, have %s", describe(n))
		return false
	}
	return n.Value == "true"
}

// choice reads one word of a vocabulary; fallback when the key is absent.
func choice[T ~string](o object, key string, v vocabulary, fallback T) T {
	if !o.has(key) {
		return fallback
	}
	word := o.word(key, maxWord)
	if word == "" {
		return fallback
	}
	if e := v.check(word); e != nil {
		o.fail(key, "%s", e.Message).Hint = e.Hint
		return fallback
	}
	return T(word)
}

func plain(n *yaml.Node) bool {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Style&quoted == 0
}

// describe names what stands in the file in place of what was wanted.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "keys and values"
	case plain(n) && n.Value == "":
		return "nothing"
	case plain(n):
		return "the bare word " + excerpt(n.Value)
	}
	return "the text " + excerpt(n.Value)
}

// excerpt quotes the beginning of a value.
func excerpt(s string) string { return strconv.Quote(shorten(s)) }

// shorten keeps the beginning of a long text.
func shorten(s string) string {
	if runes := []rune(s); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return s
}
