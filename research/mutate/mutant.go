package mutate

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cosketch/cosketch/protocol/protocoltest/overlaytest"
)

// mutant is one change of a package.
type mutant struct {
	subject subject
	in      string // package path and function
	line    int
	change  overlaytest.Change
	above   string // the line above
	old     string // the first line that changes, before
	new     string // after; empty: removed
}

// operators lists the replacements of each operator.
var operators = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.QUO},
	token.SHL: {token.SHR}, token.SHR: {token.SHL}, token.AND: {token.OR}, token.OR: {token.AND},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.MUL_ASSIGN: {token.QUO_ASSIGN}, token.QUO_ASSIGN: {token.MUL_ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
}

// mutants returns all changes of a package that the syntax tree allows, in file order. Some do not
// compile.
func mutants(s subject, p *packages.Package, source func(string) ([]byte, error)) ([]mutant, error) {
	var out []mutant
	for _, file := range p.Syntax {
		name := p.Fset.Position(file.FileStart).Filename
		text, err := source(name)
		if err != nil {
			return nil, fmt.Errorf("reading what is changed: %w", err)
		}
		if ast.IsGenerated(file) {
			continue
		}
		for _, d := range file.Decls {
			f := finder{subject: s, set: p.Fset, info: p.TypesInfo, file: name, text: text}
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body == nil {
					continue
				}
				f.in = s.path + "." + overlaytest.Name(d)
				f.results = p.TypesInfo.Defs[d.Name].Type().(*types.Signature).Results()
				f.walk(d.Body)
			case *ast.GenDecl:
				f.in = s.path
				f.walk(d)
			}
			out = append(out, f.found...)
		}
	}
	return out, nil
}

// finder finds the changes of one declaration.
type finder struct {
	subject subject
	set     *token.FileSet
	info    *types.Info
	file    string
	text    []byte
	in      string
	results *types.Tuple // of the enclosing function
	found   []mutant
}

// walk finds the changes in a node and everything below it.
func (f *finder) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			inner := *f
			inner.found, inner.results = nil, f.info.TypeOf(n).(*types.Signature).Results()
			inner.walk(n.Body)
			f.found = append(f.found, inner.found...)
			return false
		case *ast.CallExpr:
			if f.calls(n, "make") && len(n.Args) == 3 {
				f.walk(n.Args[1])
				return false // a capacity does not matter, since append grows
			}
			if of, ok := n.Fun.(*ast.SelectorExpr); ok && of.Sel.Name == "Inf" {
				return false // math.Inf(-1): only the sign of the argument matters
			}
			return !f.words(n)
		case *ast.UnaryExpr:
			if one, ok := n.X.(*ast.BasicLit); ok && n.Op == token.SUB && one.Value == "1" {
				f.replace(one, "0") // -1 means nowhere; -2 would mean the same
				return false
			}
		case *ast.ImportSpec, *ast.ArrayType: // the compiler checks lengths of arrays
			return false
		case *ast.BinaryExpr:
			f.operator(n.Op, n.OpPos, n.X)
		case *ast.AssignStmt:
			f.operator(n.Tok, n.TokPos, n.Lhs[0])
		case *ast.IncDecStmt:
			f.operator(n.Tok, n.TokPos, n.X)
		case *ast.BasicLit:
			f.number(n)
		case *ast.IfStmt:
			f.replace(n.Cond, "!("+f.source(n.Cond)+")")
			f.replace(n.Cond, "false && ("+f.source(n.Cond)+")")
		case *ast.ReturnStmt:
			f.result(n)
			return !f.fails(n)
		case *ast.BlockStmt:
			f.statements(n.List)
		case *ast.CaseClause:
			f.statements(n.Body)
		case *ast.CommClause:
			f.statements(n.Body)
		}
		return true
	})
}

// words reports whether a call formats a text or panics. Texts are not mutated.
func (f *finder) words(call *ast.CallExpr) bool {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return f.calls(call, "panic")
	case *ast.SelectorExpr:
		of, ok := f.info.Uses[fun.Sel].(*types.Func)
		if !ok || of.Pkg() == nil {
			return false
		}
		return of.FullName() == "fmt.Errorf" || of.FullName() == "fmt.Sprintf" || of.FullName() == "errors.New"
	}
	return false
}

// calls reports whether a call is to the named builtin function.
func (f *finder) calls(call *ast.CallExpr, builtin string) bool {
	fun, ok := call.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	_, of := f.info.Uses[fun].(*types.Builtin)
	return of && fun.Name == builtin
}

// fails reports whether a return statement ends with a newly made error; callers then ignore the
// other results.
func (f *finder) fails(n *ast.ReturnStmt) bool {
	if len(n.Results) == 0 {
		return false
	}
	call, ok := n.Results[len(n.Results)-1].(*ast.CallExpr)
	return ok && f.words(call) && isError(f.info.TypeOf(call))
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

func (f *finder) operator(op token.Token, at token.Pos, operand ast.Expr) {
	if of := f.info.TypeOf(operand); op == token.ADD || op == token.ADD_ASSIGN {
		if basic, ok := of.Underlying().(*types.Basic); ok && basic.Info()&types.IsString != 0 {
			return
		}
	}
	for _, other := range operators[op] {
		f.add(at, at+token.Pos(len(op.String())), other.String())
	}
}

// number adds one, and subtracts one unless the result is negative. Octal numbers are file modes
// and are left alone.
func (f *finder) number(n *ast.BasicLit) {
	if n.Kind != token.INT || strings.HasPrefix(n.Value, "0o") {
		return
	}
	value := constant.MakeFromLiteral(n.Value, token.INT, 0)
	one := constant.MakeInt64(1)
	f.replace(n, constant.BinaryOp(value, token.ADD, one).ExactString())
	if constant.Sign(value) > 0 {
		f.replace(n, constant.BinaryOp(value, token.SUB, one).ExactString())
	}
}

// result replaces a returned error by nil, or negates a returned Boolean constant.
func (f *finder) result(n *ast.ReturnStmt) {
	if f.results == nil || len(n.Results) != f.results.Len() {
		return
	}
	for i, x := range n.Results {
		of, constantly := f.results.At(i).Type(), f.info.Types[x].Value
		switch {
		case isError(of) && !f.info.Types[x].IsNil():
			f.replace(x, "nil")
		case f.fails(n):
		case constantly != nil && constantly.Kind() == constant.Bool:
			f.replace(x, fmt.Sprint(!constant.BoolVal(constantly)))
		}
	}
}

// statements removes statements one by one.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && f.words(call) { // a panic, which ends a function
				continue
			}
			f.replace(s, "")
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				f.replace(s, "")
			}
		case *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.BranchStmt, *ast.GoStmt:
			f.replace(s, "")
		}
	}
}

func (f *finder) source(n ast.Node) string {
	return string(f.text[f.set.Position(n.Pos()).Offset:f.set.Position(n.End()).Offset])
}

func (f *finder) replace(n ast.Node, by string) { f.add(n.Pos(), n.End(), by) }

func (f *finder) add(from, to token.Pos, by string) {
	at := f.set.Position(from)
	change := overlaytest.Change{File: f.file, From: at.Offset, To: f.set.Position(to).Offset, New: by}
	begin := bytes.LastIndexByte(f.text[:change.From], '\n') + 1
	old, _, _ := strings.Cut(string(f.text[begin:]), "\n")
	above := f.text[:max(0, begin-1)]
	above = above[bytes.LastIndexByte(above, '\n')+1:]
	changed, _, _ := strings.Cut(string(f.text[begin:change.From])+by+string(f.text[change.To:]), "\n")
	f.found = append(f.found, mutant{
		subject: f.subject, in: f.in, line: at.Line, change: change,
		above: strings.TrimSpace(string(above)), old: strings.TrimSpace(old), new: strings.TrimSpace(changed),
	})
}

// place returns the position of the change, for messages.
func (m mutant) place() string {
	return fmt.Sprintf("%s/%s:%d", m.subject.path, filepath.Base(m.change.File), m.line)
}
