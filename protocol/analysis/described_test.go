package analysis_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/premise"
)

var rewriteDocuments = flag.Bool("documents", false, "write ../DOCUMENTS.md anew")

// sources reads the comments of the package's types and their fields.
func sources(t *testing.T) (types map[string]string, fields map[string]map[string]string) {
	t.Helper()
	types, fields = map[string]string{}, map[string]map[string]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			general, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range general.Specs {
				spec, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				doc := spec.Doc
				if doc == nil {
					doc = general.Doc
				}
				types[spec.Name.Name] = line(doc)
				body, ok := spec.Type.(*ast.StructType)
				if !ok {
					continue
				}
				fields[spec.Name.Name] = map[string]string{}
				for _, f := range body.Fields.List {
					about := f.Comment
					if about == nil {
						about = f.Doc
					}
					for _, n := range f.Names {
						fields[spec.Name.Name][n.Name] = line(about)
					}
				}
			}
		}
	}
	return types, fields
}

func line(c *ast.CommentGroup) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(c.Text()), " "), "|", "\\|")
}

// describer writes the keys of documents, type by type.
type describer struct {
	t      *testing.T
	types  map[string]string
	fields map[string]map[string]string
	todo   []reflect.Type
	met    map[reflect.Type]bool
	out    strings.Builder
}

func (d *describer) document(of reflect.Type) {
	d.todo = append(d.todo, of)
	for len(d.todo) > 0 {
		next := d.todo[0]
		d.todo = d.todo[1:]
		if !d.met[next] {
			d.met[next] = true
			d.describe(next)
		}
	}
}

func (d *describer) describe(of reflect.Type) {
	fmt.Fprintf(&d.out, "\n### %s\n\n%s\n\n| key | value | absent | what it says |\n|---|---|---|---|\n", of.Name(), d.types[of.Name()])
	d.rows(of)
}

func (d *describer) rows(of reflect.Type) {
	for i := range of.NumField() {
		f := of.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "-" || !f.IsExported() {
			continue
		}
		if f.Anonymous && key == "" {
			fmt.Fprintf(&d.out, "| | the keys of %s | | |\n", f.Type.Name())
			d.todo = append(d.todo, f.Type)
			continue
		}
		about := d.fields[of.Name()][f.Name]
		if about == "" {
			d.t.Errorf("%s.%s says nothing of itself", of.Name(), f.Name)
		}
		absent := ""
		if strings.Contains(options, "omit") { // omitempty, or omitzero
			absent = "may be"
		}
		fmt.Fprintf(&d.out, "| `%s` | %s | %s | %s |\n", key, d.value(f.Type), absent, about)
	}
}

func (d *describer) value(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Pointer:
		if of.Elem().Kind() == reflect.Struct {
			return d.value(of.Elem())
		}
		return d.value(of.Elem()) + " or null"
	case reflect.Slice:
		return "list of " + d.value(of.Elem())
	case reflect.Array:
		return fmt.Sprintf("list of %d %ss", of.Len(), d.value(of.Elem()))
	case reflect.Map:
		return fmt.Sprintf("object of %s by %s", d.value(of.Elem()), d.value(of.Key()))
	case reflect.Struct:
		d.todo = append(d.todo, of)
		return of.Name()
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.Int, reflect.Int64, reflect.Uint32:
		return "whole number"
	}
	d.t.Errorf("a %s in a document", of)
	return ""
}

// DOCUMENTS.md is generated from the comments of the documents' types, key by key.
func TestDocumentsAreDescribed(t *testing.T) {
	types, fields := sources(t)
	d := &describer{t: t, types: types, fields: fields, met: map[reflect.Type]bool{}}
	for _, one := range []struct {
		format string
		of     reflect.Type
	}{
		{analysis.ResultFormat, reflect.TypeFor[analysis.Result]()},
		{analysis.LabelsFormat, reflect.TypeFor[analysis.Labels]()},
		{analysis.QueryFormat, reflect.TypeFor[analysis.QueryAnswer]()},
	} {
		fmt.Fprintf(&d.out, "\n## `%s`\n", one.format)
		d.document(one.of)
	}
	fmt.Fprint(&d.out, "\n## Codes of `assumes`\n\nWhere `assumes` is absent and `assumption` is not, `estimator` E1 means `any-overlap`, E2 `random-overlap-of-pairs`,\nand the kind `k-means` means `normal-noise`.\n\n| code | alone it is worded |\n|---|---|\n")
	for _, code := range premise.All() {
		fmt.Fprintf(&d.out, "| `%s` | %s |\n", code, premise.List{code})
	}
	const path = "../DOCUMENTS.md"
	const made = "<!-- What follows is made by go test ./protocol/analysis -run Described -documents from the types. -->\n"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, have, found := strings.Cut(string(raw), made)
	if *rewriteDocuments {
		if err := os.WriteFile(path, []byte(head+made+d.out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !found || have != d.out.String() {
		t.Error("DOCUMENTS.md is not what the types say: go test ./protocol/analysis -run Described -documents")
	}
}
