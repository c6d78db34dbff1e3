package config

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// entry is an entry to insert into a mapping.
type entry struct {
	name  string
	value string   // on the name's line; or else lines
	lines []string // fields of its own, one per line
}

// flow returns the entry in flow style, with braces.
func (e entry) flow() string {
	if e.value != "" {
		return e.name + ": " + e.value
	}
	return e.name + ": {" + strings.Join(e.lines, ", ") + "}"
}

// block returns the entry as indented lines.
func (e entry) block(indent int) []string {
	margin := strings.Repeat(" ", indent)
	if e.value != "" {
		return []string{margin + e.name + ": " + e.value}
	}
	out := []string{margin + e.name + ":"}
	for _, line := range e.lines {
		out = append(out, margin+"  "+line)
	}
	return out
}

// lookup returns the key with this name in a mapping and its value, or nil.
func lookup(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// insertTop inserts an entry into the mapping under a top-level key, which it appends to the file
// if it is missing.
func insertTop(text string, root *yaml.Node, name string, e entry) (string, error) {
	if key, value := lookup(root, name); key != nil {
		return insert(text, key, value, e)
	}
	indent := 0
	if root != nil && root.Kind == yaml.MappingNode {
		if root.Style&yaml.FlowStyle != 0 {
			return insertFlow(text, root, name+": {"+e.flow()+"}")
		}
		indent = root.Column - 1
	}
	section := append([]string{strings.Repeat(" ", indent) + name + ":"}, e.block(indent+2)...)
	at := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += lineEnd(text)
		at++
	}
	return insertLines(text, at, section)
}

// insert inserts an entry into the mapping under a key: right below the key, before existing
// entries, so that every comment stays with its entry.
func insert(text string, key, value *yaml.Node, e entry) (string, error) {
	switch {
	case value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle != 0:
		return insertFlow(text, value, e.flow())
	case value.Kind == yaml.MappingNode:
		return insertLines(text, key.Line, e.block(value.Column-1))
	case value.Kind == yaml.ScalarNode && value.Value == "":
		return insertLines(text, key.Line, e.block(key.Column+1))
	}
	return "", errEdit
}

// insertFlow inserts an entry after the opening brace of a mapping.
func insertFlow(text string, mapping *yaml.Node, e string) (string, error) {
	at, ok := offset(text, mapping.Line, mapping.Column)
	if !ok || text[at] != '{' {
		return "", errEdit
	}
	if len(mapping.Content) > 0 {
		e += ", "
	}
	return text[:at+1] + e + text[at+1:], nil
}

// insertLines inserts lines after the first so many lines of the text.
func insertLines(text string, after int, lines []string) (string, error) {
	at := 0
	for range after {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			text += lineEnd(text) // the last line has no newline
			end = len(text) - at - 1
		}
		at += end + 1
	}
	added := strings.Join(lines, lineEnd(text)) + lineEnd(text)
	return text[:at] + added + text[at:], nil
}

// lineEnd is the text's line ending.
func lineEnd(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// offset is the byte offset of a line and column, both from 1; columns are characters.
func offset(text string, line, column int) (int, bool) {
	at := 0
	for range line - 1 {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			return 0, false
		}
		at += end + 1
	}
	for range column - 1 {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at, at < len(text)
}

// replaceBudget replaces a budget, number by number.
func replaceBudget(text string, there *yaml.Node, b Budget) (string, error) {
	epsilonKey, epsilon := lookup(there, "epsilon")
	if epsilon == nil {
		return "", errEdit
	}
	text, err := replaceScalar(text, epsilon, decimalText(float64(b.Epsilon)))
	if err != nil {
		return "", err
	}
	_, delta := lookup(there, "delta")
	switch {
	case delta == nil && b.Delta == 0:
		return text, nil
	case delta == nil && there.Style&yaml.FlowStyle != 0:
		return insertFlow(text, there, "delta: "+decimalText(float64(b.Delta)))
	case delta == nil:
		return insertLines(text, epsilonKey.Line, entry{name: "delta", value: decimalText(float64(b.Delta))}.block(there.Column-1))
	}
	if delta.Line == epsilon.Line && delta.Column > epsilon.Column { // its position has changed
		delta.Column += len(decimalText(float64(b.Epsilon))) - len(epsilon.Value)
	}
	return replaceScalar(text, delta, decimalText(float64(b.Delta)))
}

// replaceScalar replaces a plain scalar by a value.
func replaceScalar(text string, there *yaml.Node, value string) (string, error) {
	at, ok := offset(text, there.Line, there.Column)
	if !ok || there.Kind != yaml.ScalarNode || there.Value == "" || !strings.HasPrefix(text[at:], there.Value) {
		return "", errEdit
	}
	return text[:at] + value + text[at+len(there.Value):], nil
}
