package figures

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// module is the prefix of the code's import paths.
const module = "github.com/cosketch/cosketch"

// A pkg is a package without its tests, identified by its folder.
type pkg struct {
	*packages.Package
	dir string
}

// load type-checks all packages of the module and, if it exists, of the research module.
func load(ctx context.Context, root string) (out []pkg, err error) {
	for _, dir := range []string{root, filepath.Join(root, "research")} {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); errors.Is(err, os.ErrNotExist) {
			continue
		}
		found, err := packages.Load(&packages.Config{Context: ctx, Dir: dir, Mode: packages.LoadSyntax}, "./...")
		if err != nil {
			return nil, fmt.Errorf("loading the packages of %s: %w", dir, err)
		}
		for _, p := range found {
			if len(p.Errors) > 0 {
				return nil, fmt.Errorf("loading %s: %w", p.PkgPath, p.Errors[0])
			}
			out = append(out, pkg{p, strings.TrimPrefix(strings.TrimPrefix(p.PkgPath, module), "/")})
		}
	}
	return out, nil
}

func (p pkg) top() string {
	top, _, _ := strings.Cut(p.dir, "/")
	return top
}

// file returns the name of the file that contains a position.
func (p pkg) file(pos token.Pos) string { return filepath.Base(p.Fset.Position(pos).Filename) }

// generated returns the generated files.
func (p pkg) generated() map[string]bool {
	out := map[string]bool{}
	for _, f := range p.Syntax {
		out[p.file(f.Package)] = ast.IsGenerated(f)
	}
	return out
}

// exported counts the exported types, functions, constants and variables of each package.
func exported(all []pkg) Section {
	out := Section{"exported names (aim: 60 in node, 90 elsewhere)", false, map[string]int{}}
	for _, p := range all {
		generated := p.generated()
		scope := p.Types.Scope()
		for _, name := range scope.Names() {
			if token.IsExported(name) && !generated[p.file(scope.Lookup(name).Pos())] {
				out.Counts[p.dir]++
			}
		}
	}
	return out
}

// pairs counts the pairs of files in a package that use each other's declarations.
func pairs(all []pkg) Section {
	out := Section{"pairs of files that use each other (aim: 10)", false, map[string]int{}}
	for _, p := range all {
		uses := map[[2]string]bool{}
		for id, used := range p.TypesInfo.Uses {
			if used.Pkg() == p.Types && used.Pos().IsValid() {
				uses[[2]string{p.file(id.Pos()), p.file(used.Pos())}] = true
			}
		}
		for use := range uses {
			if use[0] < use[1] && uses[[2]string{use[1], use[0]}] {
				out.Counts[p.dir]++
			}
		}
	}
	return out
}

// The methods and functions that privacy depends on, as in docs/layout_test.go: those that debit a
// ledger, and those that draw noise into data.
var (
	debits = []string{"Debit"}
	draws  = []string{"Draw", "DrawSeen", "Randomise", "AddParallel"}
)

// callers counts the calls of these names in each file of protocol, node and cmd.
func callers(all []pkg, title string, names []string) Section {
	out := Section{title, true, map[string]int{}}
	for _, p := range all {
		if !slices.Contains([]string{"protocol", "node", "cmd"}, p.top()) {
			continue
		}
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && p.callsOneOf(call, names) {
					out.Counts[p.dir+"/"+p.file(call.Pos())]++
				}
				return true
			})
		}
	}
	return out
}

// callsOneOf reports whether a call is of a function or method of this code with one of these
// names.
func (p pkg) callsOneOf(call *ast.CallExpr, names []string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	used, ok := p.TypesInfo.Uses[sel.Sel].(*types.Func)
	return ok && slices.Contains(names, used.Name()) && used.Pkg() != nil && strings.HasPrefix(used.Pkg().Path(), module)
}
