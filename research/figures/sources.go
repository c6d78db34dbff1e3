package figures

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"

	"github.com/cosketch/cosketch/testnet/tree"
)

// sources counts packages and lines in each top-level folder, with the files of all platforms but
// without generated ones.
func sources(root string) ([]Section, error) {
	packages := Section{"packages", true, map[string]int{}}
	lines := Section{"lines without tests and generated code", true, map[string]int{}}
	tests := Section{"test lines", true, map[string]int{}}
	seen := map[string]bool{}
	err := tree.Files(root, func(name string, text []byte) error {
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		top, _, _ := strings.Cut(dir, "/")
		counted := lines.Counts
		switch {
		case strings.HasSuffix(name, "_test.go"):
			counted = tests.Counts
		case !seen[dir]:
			seen[dir] = true
			packages.Counts[top]++
		}
		if !ast.IsGenerated(parsed) {
			counted[top] += bytes.Count(text, []byte("\n"))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	return []Section{packages, lines, tests}, nil
}
