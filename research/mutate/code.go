package mutate

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"os"

	"golang.org/x/tools/go/packages"
)

// code holds the type-checked packages to mutate.
type code struct {
	packages map[string]*packages.Package // by path of the subject
	files    map[string][]byte            // by name
}

// load loads the packages of some subjects.
func load(ctx context.Context, root string, of []subject) (*code, error) {
	c := &code{map[string]*packages.Package{}, map[string][]byte{}}
	for _, s := range of {
		config := packages.Config{Context: ctx, Dir: root, Mode: packages.LoadSyntax}
		loaded, err := packages.Load(&config, "./"+s.path)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", s.path, err)
		}
		if len(loaded) != 1 || len(loaded[0].Syntax) == 0 || len(loaded[0].Errors) > 0 {
			return nil, fmt.Errorf("reading %s: %d packages, want one that compiles: %v", s.path, len(loaded), loaded[0].Errors)
		}
		c.packages[s.path] = loaded[0]
	}
	return c, nil
}

// source returns the text of a file, cached.
func (c *code) source(name string) ([]byte, error) {
	if text, ok := c.files[name]; ok {
		return text, nil
	}
	text, err := os.ReadFile(name)
	c.files[name] = text
	return text, err
}

// imports is an importer of a package's loaded imports.
type imports map[string]*packages.Package

func (i imports) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	p, ok := i[path]
	if !ok {
		return nil, fmt.Errorf("no package %q is loaded", path)
	}
	return p.Types, nil
}

// compiles reports whether the package type-checks with the mutant.
func (c *code) compiles(m mutant) (bool, error) {
	p := c.packages[m.subject.path]
	text, err := c.source(m.change.File)
	if err != nil {
		return false, err
	}
	var files []*ast.File
	for _, file := range p.Syntax {
		if p.Fset.Position(file.FileStart).Filename == m.change.File {
			if file, err = parser.ParseFile(p.Fset, m.change.File, m.change.Apply(text), parser.SkipObjectResolution); err != nil {
				return false, nil
			}
		}
		files = append(files, file)
	}
	config := types.Config{Importer: imports(p.Imports), Sizes: p.TypesSizes, Error: nil}
	_, err = config.Check(p.PkgPath, p.Fset, files, nil)
	return err == nil, nil
}
