package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Decisions depend on types and codes. A message of this project is never parsed: whatever code
// needs from it is beside it as a code. So every function that parses text is listed, with the text
// that it parses.

// takes are the functions of strings and bytes that parse text.
var takes = []string{
	"Contains", "Cut", "CutPrefix", "CutSuffix", "Fields", "FieldsFunc", "FieldsSeq", "HasPrefix", "HasSuffix",
	"Index", "IndexAny", "IndexByte", "IndexRune", "LastIndex", "LastIndexAny", "LastIndexByte",
	"Split", "SplitAfter", "SplitN", "SplitSeq", "TrimPrefix", "TrimSuffix",
}

// takesApart reports whether a function of a package path parses text.
func takesApart(pkg, name string) bool {
	switch pkg {
	case "strings", "bytes":
		return slices.Contains(takes, name)
	case "fmt":
		return strings.HasPrefix(name, "Sscan")
	}
	return pkg == "regexp" && ast.IsExported(name)
}

// readers returns the declarations of a file that parse text: functions, methods as Type.Method,
// and variables.
func readers(t *testing.T, f file) []string {
	packages := map[string]string{} // by the name in this file
	for i, name := range f.imports(t) {
		as := name
		if given := f.ast.Imports[i].Name; given != nil {
			as = given.Name
		}
		packages[as] = name
	}
	found := map[string]bool{}
	look := func(place string, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if id, ok := call.X.(*ast.Ident); ok && takesApart(packages[id.Name], call.Sel.Name) && !types(packages[id.Name], call.Sel.Name) {
				found[place] = true
			}
			return true
		})
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			look(placeOf(d), d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR {
					look(v.Names[0].Name, v)
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// types reports whether a name of package regexp is a type, which parses nothing.
func types(pkg, name string) bool { return pkg == "regexp" && name == "Regexp" }

func placeOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	of := d.Recv.List[0].Type
	for {
		switch inner := of.(type) {
		case *ast.StarExpr:
			of = inner.X
		case *ast.IndexExpr:
			of = inner.X
		case *ast.IndexListExpr:
			of = inner.X
		case *ast.Ident:
			return inner.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

// Every function that parses text is listed, and none parses a message of this project, except
// those listed as owed.
func TestTextIsTakenApartInKnownPlaces(t *testing.T) {
	listed := map[string]string{}
	for _, list := range []map[string]map[string]string{takenApart, owed} {
		for file, places := range list {
			for place, what := range places {
				if listed[file+": "+place] != "" || what == "" {
					t.Errorf("%s: %s is listed twice, or without a reason", file, place)
				}
				listed[file+": "+place] = what
			}
		}
	}
	for _, f := range parseAll(t) {
		if f.test || f.top() == "research" || f.pkg == "protocol/wire/wirepb" {
			continue
		}
		for _, place := range readers(t, f) {
			key := f.path + ": " + place
			if listed[key] == "" {
				t.Errorf("%s parses text. If the text is a message of this project, use a code instead; otherwise add it to takenApart, with what the text is:\n\t%q: {%q: \"…\"},", key, f.path, place)
			}
			delete(listed, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(listed)) {
		t.Errorf("%s does not parse text any more: remove it from the list", key)
	}
}

// The test finds calls under any package name, in methods and variables, and functions passed as
// values, and nothing else.
func TestReadersAreFound(t *testing.T) {
	const source = `package p
import (
	"regexp"
	s "strings"
	"fmt"
)
var form, other = regexp.MustCompile("x"), 1
type list[T any] struct{}
func (l *list[T]) cut(text string) { s.Cut(text, ":") }
func handed() any { return s.HasPrefix }
func no(r *regexp.Regexp) string { return fmt.Sprint(s.ToUpper("a"), s.Join(nil, "")) }
func scans() { fmt.Sscanf("1", "%d") }
`
	tree, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := file{path: "p.go", pkg: "p", ast: tree}
	if got := fmt.Sprint(readers(t, f)); got != "[form handed list.cut scans]" {
		t.Errorf("found %s", got)
	}
}
