package figures

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/cover"
)

// study is the test that plays one study, in package node.
const study = "TestStudyOverTheNetwork"

// ranInStudy counts the functions of each package that ran in one study, from its coverage.
// protocol/wire is left out because most of it is generated.
func ranInStudy(ctx context.Context, root string, all []pkg) (Section, error) {
	out := Section{"functions that one study runs (aim: 760 together)", true, map[string]int{}}
	dir, err := os.MkdirTemp("", "cosketch-figures-")
	if err != nil {
		return out, fmt.Errorf("making a directory for the coverage: %w", err)
	}
	defer os.RemoveAll(dir)
	profile := filepath.Join(dir, "profile")
	if err := command(ctx, root, "go", "test", "-count=1", "-run", "^"+study+"$", "-coverpkg=./node/...,./protocol/...", "-coverprofile="+profile, "./node"); err != nil {
		return out, err
	}
	profiles, err := cover.ParseProfiles(profile)
	if err != nil {
		return out, fmt.Errorf("reading the coverage of %s: %w", study, err)
	}
	covered := map[string]*cover.Profile{}
	for _, p := range profiles {
		covered[p.FileName] = p
	}
	for _, p := range all {
		if top := p.top(); top != "node" && top != "protocol" || strings.HasPrefix(p.dir, "protocol/wire") {
			continue
		}
		for _, f := range p.Syntax {
			profile := covered[p.PkgPath+"/"+p.file(f.Package)]
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && profile != nil && p.ran(fn, profile) {
					out.Counts[p.dir]++
				}
			}
		}
	}
	if len(out.Counts) == 0 {
		return out, fmt.Errorf("running %s in %s/node: it ran no function: is there such a test?", study, root)
	}
	return out, nil
}

// ran reports whether a block of a function ran.
func (p pkg) ran(fn *ast.FuncDecl, profile *cover.Profile) bool {
	from, to := p.Fset.Position(fn.Body.Lbrace), p.Fset.Position(fn.Body.Rbrace)
	return slices.ContainsFunc(profile.Blocks, func(b cover.ProfileBlock) bool {
		begins := cmp.Or(cmp.Compare(b.StartLine, from.Line), cmp.Compare(b.StartCol, from.Column))
		ends := cmp.Or(cmp.Compare(b.StartLine, to.Line), cmp.Compare(b.StartCol, to.Column))
		return b.Count > 0 && begins >= 0 && ends <= 0
	})
}

// command runs a program in a folder. An error includes its output. When ctx ends, the program is
// interrupted before it is killed, so that it can clean up.
func command(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 10*time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %s %s: %w\n%s", name, args[0], err, strings.TrimSpace(said.String()))
	}
	return nil
}
