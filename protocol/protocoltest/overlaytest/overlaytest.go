// Package overlaytest runs tests on changed code. The compiler reads the change instead of the
// file, which stays unchanged.
package overlaytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Change replaces a piece of a file.
type Change struct {
	File     string // absolute
	From, To int    // offsets
	New      string
}

// Apply returns the changed file.
func (c Change) Apply(source []byte) []byte {
	return slices.Concat(source[:c.From], []byte(c.New), source[c.To:])
}

// Verdict is the outcome of tests of a change.
type Verdict string

// Passed means that no test has noticed the change.
const (
	Passed  Verdict = "passed"
	Failed  Verdict = "failed"
	Hung    Verdict = "hung" // a test did not end in time
	Unbuilt Verdict = "not built"
)

// Test runs `go test` with args in dir, which must be in the file's module. It sets COSKETCH_FULL=0
// and disables rapid's fail files. It returns the verdict and the output. An error means that there
// is no verdict. The test binary is stopped at the limit, and go itself five minutes later.
func (c Change) Test(ctx context.Context, dir string, limit time.Duration, args ...string) (Verdict, string, error) {
	source, err := os.ReadFile(c.File)
	if err != nil {
		return "", "", fmt.Errorf("reading what is changed: %w", err)
	}
	work, err := os.MkdirTemp("", "overlay-*")
	if err != nil {
		return "", "", fmt.Errorf("making a folder for the change: %w", err)
	}
	defer os.RemoveAll(work)
	changed, overlay := filepath.Join(work, "changed.go"), filepath.Join(work, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {c.File: changed}})
	if err != nil {
		return "", "", fmt.Errorf("encoding the overlay: %w", err)
	}
	err = errors.Join(os.WriteFile(changed, c.Apply(source), 0o600), os.WriteFile(overlay, text, 0o600))
	if err != nil {
		return "", "", fmt.Errorf("writing the change: %w", err)
	}
	return Run(ctx, dir, limit, append([]string{"-overlay", overlay}, args...)...)
}

// Run is Test without a change.
func Run(ctx context.Context, dir string, limit time.Duration, args ...string) (Verdict, string, error) {
	within, cancel := context.WithTimeout(ctx, limit+building)
	defer cancel()
	flags := []string{"test", "-vet=off", "-failfast", "-timeout", limit.String()}
	if bounded, err := exec.LookPath("prlimit"); err == nil {
		flags = append(flags, "-exec", fmt.Sprintf("%s --as=%d", bounded, memory))
	}
	cmd := exec.CommandContext(within, "go", append(flags, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), "COSKETCH_FULL=0", "RAPID_NOFAILFILE=true"), time.Minute
	out, err := cmd.CombinedOutput()
	said := string(out)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Passed, said, nil
	case ctx.Err() != nil:
		return "", said, fmt.Errorf("running the tests: %w", ctx.Err())
	case within.Err() != nil || strings.Contains(said, "panic: test timed out"):
		return Hung, said, nil
	case !errors.As(err, &exit):
		return "", said, fmt.Errorf("running go test: %w", err)
	case strings.Contains(said, "[build failed]") || strings.Contains(said, "[setup failed]"):
		return Unbuilt, said, nil
	}
	return Failed, said, nil
}

// building is the time limit for compiler and linker.
const building = 5 * time.Minute

// memory limits the address space of the tests, if prlimit is available: changed loops may not end.
const memory = 6 << 30

// Name returns a function's name, preceded by its receiver's type.
func Name(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return ""
}
