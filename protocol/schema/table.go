package schema

import (
	"cmp"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Key is a row: one key of a mapping that is read into a T. Rows are read and encoded in order, so
// a row may use what earlier rows have read.
type Key[T any] struct {
	Name          string
	Doc           string // purpose of the key
	Default       string // value if the key is left out
	Unset         string // meaning of leaving it out, in words, if no value expresses it
	Required      bool   // required
	Form          Form[T]
	Forbidden     func(*T) string // why it does not belong here; "" if it does
	Hint          string          // what to do about a missing or wrong value, if the error does not say it
	Example       string          // value for drafted files; by default Default; for names, one of them
	AlternativeTo string          // another name, under which drafted files show the key because it excludes others

	Path  string // in the encoding of the meaning; "" if it has none, or its form has its own
	IfSet bool   // encode only if not zero: files that do not set it have no such path
}

// Keys is a table: the keys of a mapping that is read into a T.
type Keys[T any] []Key[T]

// Names returns the names of the keys, in the table's order.
func (ks Keys[T]) Names() []string { return ks.table().names() }

// Read reads a mapping. A nil node stands for a mapping that is left out: only defaults apply.
func (ks Keys[T]) Read(r *Reader, at Item, to *T) { ks.table().read(r, at, to) }

// Take reads the keys of a mapping that may also have other keys.
func (ks Keys[T]) Take(o Object, to *T) { ks.table().take(o, to) }

// Encode encodes what was read.
func (ks Keys[T]) Encode(e *Encoder, of *T) { ks.table().encode(e, of) }

// Rows returns the table for people.
func (ks Keys[T]) Rows() []Row { return ks.table().rows() }

// table returns the keys without their type. The forms have it already.
func (ks Keys[T]) table() table {
	out := make(table, len(ks))
	for i, k := range ks {
		out[i] = key{
			row:   Row{Name: k.Name, Says: k.Doc, Default: k.Default, Unset: k.Unset, Example: k.Example, Beside: k.AlternativeTo, Must: k.Required},
			form:  k.Form.form,
			hint:  k.Hint,
			path:  k.Path,
			ifSet: k.IfSet,
		}
		if k.Forbidden != nil {
			out[i].forbidden = func(to any) string { return k.Forbidden(to.(*T)) }
		}
	}
	return out
}

// key is a Key without its type, as form is a Form.
type key struct {
	row        Row // without what the form adds
	form       *form
	hint, path string
	ifSet      bool
	forbidden  func(any) string
}

type table []key

func (t table) names() []string {
	out := make([]string, len(t))
	for i, k := range t {
		out[i] = k.row.Name
	}
	return out
}

func (t table) read(r *Reader, at Item, to any) {
	if at.Node == nil {
		t.absent(r, at.Path, to)
		return
	}
	o := r.Object(at.Node, at.Path, t.names()...)
	if at.Node.Kind != yaml.MappingNode && !r.empty(at.Node) {
		t.absent(r, at.Path, to)
		return
	}
	t.take(o, to)
}

func (t table) take(o Object, to any) {
	r := o.Reader
	for _, k := range t {
		path := Join(o.Path, k.row.Name)
		switch value := o.Values[k.row.Name]; {
		case value != nil && k.forbidden != nil && k.forbidden(to) != "":
			r.Fail(path, "does not belong here: %s", k.forbidden(to)).Hint = "remove the key"
			k.absent(r, path, to)
		case value != nil:
			before := len(r.Errs)
			k.form.read(r, Item{value, path}, to)
			for _, e := range r.Errs[before:] {
				if e.Key == path && e.Hint == "" {
					e.Hint = k.hint
				}
			}
		case k.row.Must:
			r.Fail(path, "is missing").Hint = k.hint
		default:
			k.absent(r, path, to)
		}
	}
}

// absent reads the defaults of all keys of a mapping that is left out.
func (t table) absent(r *Reader, path string, to any) {
	for _, k := range t {
		k.absent(r, Join(path, k.row.Name), to)
	}
}

// absent reads the default of a key, and those of the keys below it.
func (k key) absent(r *Reader, path string, to any) {
	switch {
	case k.row.Default != "":
		k.form.read(r, Item{written(k.row.Default), path}, to)
	case k.form.absent != nil:
		k.form.absent(r, path, to)
	}
}

func (t table) encode(e *Encoder, of any) {
	for _, k := range t {
		if k.form.encode != nil && (k.path != "" || k.form.paths) && !(k.ifSet && !k.form.set(of)) {
			k.form.encode(e, k.path, of)
		}
	}
}

func (t table) rows() []Row {
	out := make([]Row, len(t))
	for i, k := range t {
		f := k.form
		out[i] = k.row
		out[i].Is, out[i].Words, out[i].List, out[i].Inner, out[i].Each = f.is, f.words, f.list, f.inner, f.each
	}
	return out
}

// written returns a default as a node, as if it were in a file.
func written(value string) *yaml.Node {
	if !strings.HasPrefix(value, "[") {
		return scalar(value)
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for word := range strings.SplitSeq(strings.Trim(value, "[]"), ",") {
		list.Content = append(list.Content, scalar(strings.TrimSpace(word)))
	}
	return list
}

func scalar(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// Row is a key of a table for people.
type Row struct {
	Name, Is, Says, Default, Unset, Example, Beside string

	Must  bool
	Words bool   // its value is one of the words in Is
	List  bool   // its value is a list
	Inner []Row  // keys of its mapping, or of the entries of its list or mapping
	Each  string // with Inner: "" for a single mapping; otherwise a placeholder for the names of many
}

// Leaves returns the rows of values that occur once in a file, named by their paths.
func Leaves(rows []Row) (out []Row) {
	for _, row := range rows {
		switch {
		case row.Inner == nil:
			out = append(out, row)
		case row.Each == "":
			for _, leaf := range Leaves(row.Inner) {
				leaf.Name = row.Name + "." + leaf.Name
				out = append(out, leaf)
			}
		}
	}
	return out
}

// Means returns what a key says, and what leaving it out means.
func (row Row) Means() string { return row.means(". ", "Default: ") }

// means is Means with other words between the two.
func (row Row) means(between, unset string) string {
	text, left := strings.TrimSuffix(row.Says, "."), cmp.Or(row.Unset, row.Default)
	switch {
	case left == "":
		return row.Says
	case text == "":
		return unset + left
	}
	return text + between + unset + left
}

// Reference returns Markdown: a title and a table of rows, followed by a table for every row that
// has keys. A table lists each key, how its value is written, and what it says.
func Reference(title string, rows []Row) string { return reference(title, "", rows) }

func reference(title, path string, rows []Row) string {
	var b, below strings.Builder
	fmt.Fprintf(&b, "### %s\n\n| key | value | what it says |\n|---|---|---|\n", title)
	for _, row := range rows {
		star := ""
		if row.Must {
			star = " *"
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", row.Name, star, row.Is, row.Means())
		if row.Inner != nil {
			inner := Join(path, row.Name)
			title := inner
			if row.Each != "" {
				title = "Entries of " + inner
			}
			below.WriteString("\n" + reference(title, inner, row.Inner))
		}
	}
	return b.String() + below.String()
}
