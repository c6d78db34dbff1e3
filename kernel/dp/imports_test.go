package dp

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestImports checks that noise comes only from the entropy that is passed in: not from a shared
// seed, math/rand, or the system's randomness read directly. The same holds for the loop that its
// workers share.
func TestImports(t *testing.T) {
	allowed := map[string]bool{
		"encoding/binary": true, "errors": true, "fmt": true, "io": true, "math": true, "math/big": true,
		"math/bits": true, "sync": true, "sync/atomic": true, "golang.org/x/crypto/chacha20": true,
		"context": true, "runtime": true, "runtime/debug": true, "github.com/cosketch/cosketch/kernel/parallel": true,
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	shared, err := filepath.Glob("../parallel/*.go")
	if err != nil || len(shared) == 0 {
		t.Fatalf("the loops that workers share: %v, %v", shared, err)
	}
	files = append(files, shared...)
	parsed := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		parsed++
		for _, spec := range file.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err != nil || !allowed[path] {
				t.Errorf("%s imports %s", name, spec.Path.Value)
			}
		}
	}
	if parsed < 5 {
		t.Errorf("only %d files were looked at", parsed)
	}
}
