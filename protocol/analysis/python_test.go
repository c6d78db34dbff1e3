package analysis_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// pythonKeywords are keys that are reserved words in Python.
var pythonKeywords = map[string]bool{"in": true, "is": true, "from": true, "class": true}

// dataclasses writes the document's types as dataclasses of clients/python. The tags from which
// tables are made (analysis.Table) become metadata.
type dataclasses struct {
	*describer
	classes []string
}

func (d *dataclasses) all() string {
	for len(d.todo) > 0 {
		next := d.todo[0]
		d.todo = d.todo[1:]
		if !d.met[next] {
			d.met[next] = true
			d.classes = append(d.classes, d.class(next))
		}
	}
	return strings.Join(d.classes, "")
}

func (d *dataclasses) class(of reflect.Type) string {
	// Quotes would end the docstring.
	about := strings.ReplaceAll(strings.ReplaceAll(d.types[of.Name()], `\|`, "|"), `"`, "'")
	return fmt.Sprintf("\n\n@dataclass(frozen=True, kw_only=True)\nclass %s(Object):\n    \"\"\"%s\"\"\"\n\n%s", of.Name(), folded(about, "    "), d.attributes(of))
}

func (d *dataclasses) attributes(of reflect.Type) string {
	var out strings.Builder
	for i := range of.NumField() {
		f := of.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "-" || !f.IsExported() {
			continue
		}
		if f.Anonymous && key == "" {
			out.WriteString(d.attributes(f.Type))
			continue
		}
		name := key
		if pythonKeywords[name] {
			name += "_"
		}
		arguments := []string{fmt.Sprintf("%q", key)}
		for _, tag := range []string{"by", "of"} {
			if words := f.Tag.Get(tag); words != "" {
				arguments = append(arguments, fmt.Sprintf("%s=%q", tag, words))
			}
		}
		if strings.Contains(options, "omit") { // omitempty, or omitzero
			arguments = append(arguments, "absent=True")
		}
		if f.Type.Kind() == reflect.Pointer {
			arguments = append(arguments, "null=True")
		}
		for _, comment := range strings.Split(folded(d.fields[of.Name()][f.Name], ""), "\n") {
			fmt.Fprintf(&out, "    # %s\n", strings.ReplaceAll(comment, `\|`, "|"))
		}
		fmt.Fprintf(&out, "    %s: %s = key(%s)\n", name, d.hint(f.Type), strings.Join(arguments, ", "))
	}
	return out.String()
}

// hint returns the Python type. A number that may be null is NaN there.
func (d *dataclasses) hint(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Pointer:
		if of.Elem().Kind() == reflect.Float64 {
			return "float"
		}
		return d.hint(of.Elem()) + " | None"
	case reflect.Slice:
		return "tuple[" + d.hint(of.Elem()) + ", ...]"
	case reflect.Array:
		return "tuple[" + strings.TrimSuffix(strings.Repeat(d.hint(of.Elem())+", ", of.Len()), ", ") + "]"
	case reflect.Struct:
		d.todo = append(d.todo, of)
		return of.Name()
	case reflect.String:
		return "str"
	case reflect.Bool:
		return "bool"
	case reflect.Float64:
		return "float"
	case reflect.Int, reflect.Int64, reflect.Uint32:
		return "int"
	}
	d.t.Errorf("a %s in a document", of)
	return ""
}

// folded breaks lines at 96 characters.
func folded(text, indent string) string {
	var out strings.Builder
	width := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case width+1+utf8.RuneCountInString(word) > 96-len(indent):
			out.WriteString("\n" + indent)
			width = 0
		default:
			out.WriteString(" ")
			width++
		}
		out.WriteString(word)
		width += utf8.RuneCountInString(word)
	}
	return out.String()
}

// The classes of clients/python are generated from the document's types.
func TestPythonClassesAreThoseOfDocuments(t *testing.T) {
	types, fields := sources(t)
	d := &dataclasses{describer: &describer{t: t, types: types, fields: fields, met: map[reflect.Type]bool{}, todo: []reflect.Type{reflect.TypeFor[analysis.Result]()}}}
	const path = "../../clients/python/src/cosketch/document.py"
	const made = "# What follows is made by go test ./protocol/analysis -run Python -documents from the program's types.\n"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, have, found := strings.Cut(string(raw), made)
	want := d.all()
	if *rewriteDocuments {
		if err := os.WriteFile(path, []byte(head+made+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !found || have != want {
		t.Errorf("%s is not what the types say: go test ./protocol/analysis -run Python -documents", path)
	}
}
