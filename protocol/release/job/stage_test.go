package job

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each stage is made in only one place; from there on the compiler enforces the order.
func TestStagesAreMadeInOnePlace(t *testing.T) {
	makers := map[string]string{"paid": "pay", "noised": "draw", "Sealed": "seal"}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	found := map[string]int{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				stage := made(n)
				want, is := makers[stage]
				if !is || discards(fn.Body, n) {
					return true
				}
				if found[stage]++; fn.Name.Name != want {
					t.Errorf("%s makes a %s, which is for %s", fn.Name.Name, stage, want)
				}
				return true
			})
		}
	}
	for stage, n := range found {
		if n != 1 {
			t.Errorf("%s is made %d times", stage, n)
		}
	}
	if len(found) != len(makers) {
		t.Errorf("found only %v", found)
	}
}

// made returns the type of which a node makes a value: by a literal, new or a declaration.
func made(n ast.Node) string {
	var of ast.Expr
	switch n := n.(type) {
	case *ast.CompositeLit:
		of = n.Type
	case *ast.ValueSpec:
		of = n.Type
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "new" {
			of = n.Args[0]
		}
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// discards reports whether a value is an empty one that is returned beside an error.
func discards(body *ast.BlockStmt, value ast.Node) bool {
	out := false
	ast.Inspect(body, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		if ok && len(r.Results) == 2 && slices.Contains(r.Results, ast.Expr(asExpr(value))) {
			id, failed := r.Results[1].(*ast.Ident)
			lit, literal := value.(*ast.CompositeLit)
			out = out || failed && id.Name == "err" && literal && len(lit.Elts) == 0
		}
		return true
	})
	return out
}

func asExpr(n ast.Node) ast.Expr {
	e, _ := n.(ast.Expr)
	return e
}
