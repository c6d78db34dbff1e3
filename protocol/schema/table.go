package schema

import (
	"cmp"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Key is a row: one key of a mapping that is read into a T. Rows stand in the order in
// which they are read and encoded, so that a row may look at what those before it have read.
type Key[T any] struct {
	Name    string
	Says    string // what it is for
	Default string // the value that stands for it where it is left out
	Unset   string // in words what leaving it out means, where no value says it
	Must    bool   // it may not be left out
	Form    Form[T]
	Not     func(*T) string // why it does not belong here; "" where it does
	Example string          // a value for drafted files, the default where there is none; of names, one
	Beside  string          // another name for drafted files, under which they show the key, as it excludes others

	Path  string // in the encoding of the meaning; "" where it has none, or its form has its own
	IfSet bool   // it is encoded only where it is not zero: files that never say it have no path of it
}

// Keys is a table: the keys of a mapping that is read into a T.
type Keys[T any] []Key[T]

// Names are those of the keys, in the table's order.
func (ks Keys[T]) Names() []string {
	out := make([]string, len(ks))
	for i, k := range ks {
		out[i] = k.Name
	}
	return out
}

// Read reads a mapping. A nil node is one that is left out: it has the defaults alone.
func (ks Keys[T]) Read(r *Reader, at Item, to *T) {
	if at.Node == nil {
		for _, k := range ks {
			k.absent(r, Join(at.Path, k.Name), to)
		}
		return
	}
	o := r.Object(at.Node, at.Path, ks.Names()...)
	if at.Node.Kind != yaml.MappingNode && !r.empty(at.Node) {
		for _, k := range ks {
			k.absent(r, Join(at.Path, k.Name), to)
		}
		return
	}
	ks.Take(o, to)
}

// Take reads the keys of a mapping that may have others, too.
func (ks Keys[T]) Take(o Object, to *T) {
	r := o.Reader
	for _, k := range ks {
		path := Join(o.Path, k.Name)
		switch value := o.Values[k.Name]; {
		case value != nil && k.Not != nil && k.Not(to) != "":
			r.Fail(path, "does not belong here: %s", k.Not(to)).Hint = "remove the key"
			k.absent(r, path, to)
		case value != nil:
			k.Form.read(r, Item{value, path}, to)
		case k.Must:
			r.Fail(path, "is missing").Hint = k.Says
		default:
			k.absent(r, path, to)
		}
	}
}

// absent reads the default of a key, and those of the keys below it.
func (k Key[T]) absent(r *Reader, path string, to *T) {
	switch {
	case k.Default != "":
		k.Form.read(r, Item{written(k.Default), path}, to)
	case k.Form.absent != nil:
		k.Form.absent(r, path, to)
	}
}

// written is a default as if it stood in a file.
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

// Encode encodes what was read.
func (ks Keys[T]) Encode(e *Encoder, of *T) {
	for _, k := range ks {
		if k.Form.encode != nil && (k.Path != "" || k.Form.paths) && !(k.IfSet && !k.Form.set(of)) {
			k.Form.encode(e, k.Path, of)
		}
	}
}

// Row is what a table says of a key to people.
type Row struct {
	Name, Is, Says, Default, Unset, Example, Beside string

	Must  bool
	Words bool   // its value is one of some words, which Is has
	List  bool   // its value is a list
	Inner []Row  // the keys of the mapping that it has, or of the entries of its list or mapping
	Each  string // with Inner: "" for one mapping; else what stands for the names of many
}

// Rows are a table for people.
func (ks Keys[T]) Rows() []Row {
	out := make([]Row, len(ks))
	for i, k := range ks {
		out[i] = Row{
			Name: k.Name, Is: k.Form.is, Says: k.Says, Default: k.Default, Unset: k.Unset, Example: k.Example, Beside: k.Beside,
			Must: k.Must, Words: k.Form.words, List: k.Form.list, Inner: k.Form.inner, Each: k.Form.each,
		}
	}
	return out
}

// Leaves are the rows of values that stand once in a file, by their paths.
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

// Means is what a key says, with what leaving it out means.
func (row Row) Means() string { return row.means(". ", "Default: ") }

// means joins what a key says with what leaving it out means.
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

// Reference is Markdown of a title and a table of rows, and below it one of every row that
// has keys: each key, how its value is written, and what it says.
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
