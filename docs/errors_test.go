package docs_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/console"
)

func readErrors(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("errors.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestErrorsHaveEveryExitCode(t *testing.T) {
	text := readErrors(t)
	for _, code := range console.Codes() {
		if row := fmt.Sprintf("\n| %d | %s | ", code, code.Meaning()); !strings.Contains(text, row) {
			t.Errorf("errors.md has no row %q", strings.TrimSpace(row))
		}
	}
}

// wrappers say nothing of their own: what they wrap has its row.
var wrappers = []string{"study.Error", "study.Errors", "node.SiteError", "node.FailedError", "protocol.Fault", "protocol.Disagreement", "p2p.Refusal", "context.Canceled", "context.DeadlineExceeded"}

// Whatever the exit codes tell apart is in the index, by its own words.
func TestErrorsAreIndexed(t *testing.T) {
	files := parseAll(t)
	said, quoted := messages(files), quotedErrors(t)
	found := 0
	for _, name := range decidedOn(t, files) {
		if slices.Contains(wrappers, name) {
			continue
		}
		found++
		indexed := slices.ContainsFunc(said[name], func(text string) bool {
			return slices.ContainsFunc(quoted, func(piece string) bool { return strings.Contains(text, piece) })
		})
		if !indexed {
			t.Errorf("errors.md has nothing of %s, which says one of %q", name, said[name])
		}
	}
	if found < 40 {
		t.Errorf("%d errors found that exit codes tell apart", found)
	}
}

// quotedErrors are the messages that errors.md quotes, in pieces.
func quotedErrors(t *testing.T) (out []string) {
	t.Helper()
	for line := range strings.SplitSeq(readErrors(t), "\n") {
		rest, quoted := strings.CutPrefix(line, "| `")
		if !quoted {
			continue
		}
		message, _, _ := strings.Cut(rest, "` ")
		for piece := range strings.SplitSeq(message, "…") {
			if piece = strings.TrimSpace(piece); len(piece) > 6 {
				out = append(out, piece)
			}
		}
	}
	if len(out) < 50 {
		t.Fatalf("only %d messages found", len(out))
	}
	return out
}

// decidedOn are the errors that console.CodeOf and what it calls name, as package.Name.
func decidedOn(t *testing.T, files []file) (out []string) {
	t.Helper()
	for _, f := range files {
		if f.path != "node/console/exit.go" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IndexExpr: // isAny[*node.WaitError]
				at := n.Index
				if star, ok := at.(*ast.StarExpr); ok {
					at = star.X
				}
				if sel, ok := at.(*ast.SelectorExpr); ok {
					out = append(out, sel.X.(*ast.Ident).Name+"."+sel.Sel.Name)
				}
			case *ast.CallExpr: // isOneOf(err, node.ErrNotApproved)
				for _, argument := range n.Args {
					sel, ok := argument.(*ast.SelectorExpr)
					if ok && (strings.HasPrefix(sel.Sel.Name, "Err") || sel.X.(*ast.Ident).Name == "context") {
						out = append(out, sel.X.(*ast.Ident).Name+"."+sel.Sel.Name)
					}
				}
			}
			return true
		})
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// messages are what errors say, by package.Name: the texts of errors.New and, of types,
// the literals in their Error method.
func messages(files []file) map[string][]string {
	out := map[string][]string{}
	add := func(name, text string) { out[name] = append(out[name], text) }
	for _, f := range files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) && strings.HasPrefix(name.Name, "Err") {
						for _, text := range literals(n.Values[i]) {
							add(f.ast.Name.Name+"."+name.Name, text)
						}
					}
				}
			case *ast.FuncDecl:
				if n.Name.Name != "Error" || n.Recv == nil {
					return true
				}
				at := n.Recv.List[0].Type
				if star, ok := at.(*ast.StarExpr); ok {
					at = star.X
				}
				for _, text := range literals(n.Body) {
					add(f.ast.Name.Name+"."+at.(*ast.Ident).Name, text)
				}
			}
			return true
		})
	}
	return out
}

func literals(n ast.Node) (out []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

// What the index quotes is what the code says.
func TestIndexedErrorsExist(t *testing.T) {
	var all strings.Builder
	for _, f := range parseAll(t) {
		if !f.test {
			for _, text := range literals(f.ast) {
				all.WriteString(text + "\n")
			}
		}
	}
	all.WriteString("peer id mismatch") // what the libp2p libraries say
	for _, piece := range quotedErrors(t) {
		if !strings.Contains(all.String(), piece) {
			t.Errorf("nothing in the code says %q", piece)
		}
	}
}
