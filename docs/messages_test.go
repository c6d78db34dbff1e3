package docs_test

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// message is what the code says of one thing that is wrong.
type message struct {
	file string // from the module's root
	key  string // of a study file, … for what differs; empty elsewhere
	text string // … for what differs
	hint string // what the code says to do, if it says it beside
}

// consts are the texts that a package's names stand for, … where it is one of several.
func consts(files []file, pkg string) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		if f.pkg != pkg || f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			if decl, ok := d.(*ast.GenDecl); ok {
				maps.Copy(out, assigned(decl, nil))
			}
		}
	}
	return out
}

// assigned are the texts that are given to names within a node, beside those that are known.
func assigned(within ast.Node, known map[string]string) map[string]string {
	out := map[string]string{}
	ast.Inspect(within, func(n ast.Node) bool {
		var names, values []ast.Expr
		switch n := n.(type) {
		case *ast.ValueSpec:
			for _, name := range n.Names {
				names = append(names, name)
			}
			values = n.Values
		case *ast.AssignStmt:
			names, values = n.Lhs, n.Rhs
		}
		for i, name := range names {
			id, ok := name.(*ast.Ident)
			if !ok || len(names) != len(values) {
				continue
			}
			text := said(values[i], known)
			if before, twice := out[id.Name]; twice && before != text {
				text = "…"
			}
			out[id.Name] = text
		}
		return true
	})
	for name, text := range known {
		if _, own := out[name]; !own {
			out[name] = text
		}
	}
	return out
}

var placeholder = regexp.MustCompile(`%(\[\d\])?[-+# 0]*[0-9]*(\.[0-9]+)?[a-zA-Z]`)

// said is the text of an expression, with … for what is not written in it.
func said(e ast.Expr, known map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			if err == nil {
				return strings.ReplaceAll(placeholder.ReplaceAllString(text, "…"), "%%", "%")
			}
		}
	case *ast.Ident:
		if text, found := known[e.Name]; found {
			return text
		}
	case *ast.BinaryExpr:
		return strings.ReplaceAll(said(e.X, known)+said(e.Y, known), "……", "…")
	case *ast.CallExpr:
		if name := called(e); name == "Sprintf" && len(e.Args) > 0 {
			return said(e.Args[0], known)
		}
	}
	return "…"
}

// called is the last name of what is called.
func called(call *ast.CallExpr) string {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		return fn.Name
	case *ast.SelectorExpr:
		return fn.Sel.Name
	}
	return ""
}

// studyMistakes are what the parser and the validation of study files say, in the order
// of the code.
func studyMistakes(files []file) (out []message) {
	for _, pkg := range []string{"protocol/schema", "protocol/study/file"} {
		out = append(out, mistakesIn(files, pkg)...)
	}
	return out
}

// mistakesIn are those of one package.
func mistakesIn(files []file, pkg string) (out []message) {
	known := consts(files, pkg)
	for _, f := range files {
		if f.pkg != pkg || f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				out = append(out, mistakesOf(f.path, fn, known)...)
			}
		}
	}
	return out
}

// mistakesOf are those of one function.
func mistakesOf(path string, fn *ast.FuncDecl, known map[string]string) (out []message) {
	own := assigned(fn.Body, known)
	hints, made := map[*ast.CallExpr]string{}, map[string]*ast.CallExpr{}
	ast.Inspect(fn.Body, func(n ast.Node) bool { // r.fail(…).Hint = …, or e := r.fail(…) and e.Hint = … further down
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
			return true
		}
		switch left := assign.Lhs[0].(type) {
		case *ast.Ident:
			if call, ok := assign.Rhs[0].(*ast.CallExpr); ok && called(call) == "Fail" {
				made[left.Name] = call
			}
		case *ast.SelectorExpr:
			call, _ := left.X.(*ast.CallExpr)
			if id, ok := left.X.(*ast.Ident); ok {
				call = made[id.Name]
			}
			if hint := said(assign.Rhs[0], own); left.Sel.Name == "Hint" && call != nil && hint != "…" {
				if hints[call] != "" {
					hint = hints[call] + "; or " + hint
				}
				hints[call] = hint
			}
		}
		return true
	})
	add := func(key, text, hint string) {
		if strings.Trim(text, "…: ") != "" { // else another part of the code says it
			out = append(out, message{file: path, key: strings.TrimLeft(key, "….[]"), text: text, hint: hint})
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch name := called(n); {
			case name == "Fail" && len(n.Args) > 1:
				add(said(n.Args[0], own), said(n.Args[1], own), hints[n])
			case name == "sourceError" && len(n.Args) == 4:
				add("", said(n.Args[2], own), strings.TrimPrefix(said(n.Args[3], own), "…"))
			}
		case *ast.KeyValueExpr: // &Error{Message: …}
			if id, ok := n.Key.(*ast.Ident); ok && id.Name == "Message" {
				add("", said(n.Value, own), "")
			}
		case *ast.ReturnStmt: // why a name or a text is refused
			if strings.HasPrefix(strings.ToLower(fn.Name.Name), "check") && len(n.Results) == 1 {
				add("", said(n.Results[0], own), "")
			}
		}
		return true
	})
	return out
}
