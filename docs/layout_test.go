package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/cosketch/cosketch/testnet/tree"
)

// The tests of this file check what architecture.md says about the layout. They parse every Go file
// of the module themselves, so that no tool's cache can hide a change.

const module = "github.com/cosketch/cosketch"

// layers are the top-level folders, from the lowest. A package may import from its own folder and
// lower ones. seed and kernel are siblings.
var layers = map[string]int{"kernel": 0, "seed": 0, "protocol": 1, "node": 2, "cmd": 3, "testnet": 4, "research": 5, "docs": 6}

type file struct {
	path string // slash-separated, from the module's root
	pkg  string // folder
	test bool
	ast  *ast.File
}

// forTests reports whether only tests use a package.
func forTests(pkg string) bool {
	return slices.Contains([]string{"kernel/full", "node/dataset/postgrestest", "node/store/storetest", "protocol/protocoltest/overlaytest", "protocol/release/releasetest"}, pkg)
}

func (f file) top() string { return strings.SplitN(f.pkg, "/", 2)[0] }

// imports returns what the file imports.
func (f file) imports(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, spec := range f.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", f.path, err)
		}
		out = append(out, name)
	}
	return out
}

func parseAll(t *testing.T) []file {
	t.Helper()
	out, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 100 {
		t.Fatalf("only %d Go files found", len(out))
	}
	return out
}

// parsed parses every file once for all tests, which must not change them.
var parsed = sync.OnceValues(func() (out []file, err error) {
	set := token.NewFileSet()
	err = tree.Files("..", func(name string, text []byte) error {
		parsed, err := parser.ParseFile(set, name, text, parser.ParseComments)
		out = append(out, file{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), parsed})
		return err
	})
	return out, err
})

func TestImportArrowsRunDown(t *testing.T) {
	for _, f := range parseAll(t) {
		own, known := layers[f.top()]
		if !known {
			t.Errorf("%s: no such folder in the layout", f.path)
			continue
		}
		for _, name := range f.imports(t) {
			inner, ours := strings.CutPrefix(name, module+"/")
			if !ours {
				continue
			}
			top := strings.SplitN(inner, "/", 2)[0]
			laboratory := slices.Contains([]string{"testnet", "research"}, f.top())
			if (inner == "protocol/protocoltest" || forTests(inner)) && !laboratory && !f.test && !forTests(f.pkg) {
				t.Errorf("%s imports %s, which is for tests and demonstrations", f.path, inner)
			}
			if layers[top] > own || layers[top] == own && top != f.top() {
				t.Errorf("%s imports %s: arrows only run down", f.path, inner)
			}
		}
	}
}

// rooms are the packages of the drivers, from the lowest. Each may import lower ones, and none of
// its own level. Commands call those of the last level, through console and pages.
var rooms = [][]string{{"event"}, {"."}, {"filename"}, {"calls"}, {"stored"}, {"api", "source"}, {"carry"}, {"aggregator/inbox", "aggregator/upload"}, {"aggregator", "audit", "local", "party", "views"}}

func TestDriversImportDownward(t *testing.T) {
	level := map[string]int{}
	for i, names := range rooms {
		for _, name := range names {
			level[path.Join("node", name)] = i + 1
		}
	}
	above := []string{"node/console", "node/monitor", "node/pages", "node/pages/browser"}
	for _, f := range parseAll(t) {
		if f.top() != "node" || f.test || slices.Contains(above, f.pkg) {
			continue
		}
		for _, name := range f.imports(t) {
			inner := strings.TrimPrefix(name, module+"/")
			if level[inner] == 0 || inner == f.pkg {
				continue
			}
			if level[f.pkg] == 0 {
				t.Errorf("%s imports the driver %s, which stands on it", f.path, inner)
			} else if level[inner] >= level[f.pkg] {
				t.Errorf("%s imports %s: drivers import those below them alone", f.path, inner)
			}
		}
	}
}

// pure are the folders without I/O, clock or own randomness.
var pure = []string{"kernel", "seed", "protocol"}

func TestPureCodeStaysPure(t *testing.T) {
	forbidden := []string{"net", "os", "time", "log", "math/rand", "crypto/rand", "syscall", "database/sql"}
	for _, f := range parseAll(t) {
		if f.test || forTests(f.pkg) || !slices.Contains(pure, f.top()) || f.pkg == "protocol/wire/wirepb" {
			continue
		}
		for _, name := range f.imports(t) {
			for _, bad := range forbidden {
				seeded := name == "math/rand/v2"                   // allowed: it takes an explicit source, see below
				if f.pkg == "protocol/fail" && name == "syscall" { // uses only its error constants
					continue
				}
				if name == bad || strings.HasPrefix(name, bad+"/") && !seeded {
					t.Errorf("%s imports %s", f.path, name)
				}
			}
		}
		for _, call := range []string{"N", "IntN", "Int", "Float64", "NormFloat64", "ExpFloat64", "Perm", "Shuffle", "Uint64", "Uint32"} {
			if calls(f.ast, "rand", call) {
				t.Errorf("%s calls rand.%s, which draws from the runtime's own source", f.path, call)
			}
		}
	}
}

// Below node, and in node/dataset, only kernel/parallel starts goroutines: it passes their panics
// to the waiting goroutine.
func TestGoroutinesStartInOnePlace(t *testing.T) {
	for _, f := range parseAll(t) {
		if f.test || f.pkg == "kernel/parallel" || !slices.Contains(pure, f.top()) && f.pkg != "node/dataset" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine (package kernel/parallel does that)", f.path)
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok && id.Name == "sync" && n.Sel.Name == "WaitGroup" {
					t.Errorf("%s waits for goroutines of its own (package kernel/parallel does that)", f.path)
				}
			}
			return true
		})
	}
}

// calls reports whether a file calls pkg.name.
func calls(f *ast.File, pkg, name string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != name {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == pkg {
			found = true
		}
		return true
	})
	return found
}

func TestOneImporterEach(t *testing.T) {
	owners := map[string][]string{
		"google.golang.org/protobuf":  {"protocol/wire", "protocol/wire/wirepb"},
		"github.com/libp2p":           {"node/p2p", "node/p2p/raw"},
		"modernc.org/sqlite":          {"node/store", "node/sqlite"},
		"github.com/jackc/pgx":        {"node/dataset"},
		"github.com/apache/arrow-go":  {"node/dataset/arrow"},
		"github.com/parquet-go":       {"node/dataset", "node/table", "research/bench"},
		"github.com/alecthomas/kong":  {"node/console", "testnet", "testnet/program", "research"},
		"github.com/vbauerster/mpb":   {"cmd/party"},
		"go.yaml.in/yaml":             {"protocol/schema", "protocol/study/file", "node/config", "testnet/networks"},
		"golang.org/x/crypto/blake2b": {"seed/stream"},
		"golang.org/x/sys/cpu":        {"kernel/cpu", "seed/stream"},
		"github.com/chromedp":         nil, // only tests
	}
	used := map[string]bool{}
	for _, f := range parseAll(t) {
		for _, name := range f.imports(t) {
			if name == "github.com/libp2p/go-libp2p" || strings.HasPrefix(name, "github.com/libp2p/go-libp2p/config") {
				t.Errorf("%s imports %s, which links every transport that libp2p has: make the host of its parts", f.path, name)
			}
			for dependency, packages := range owners {
				if !strings.HasPrefix(name, dependency) {
					continue
				}
				used[dependency] = true
				if !slices.Contains(packages, f.pkg) && !f.test {
					t.Errorf("%s imports %s, which is for %v alone", f.path, name, packages)
				}
			}
		}
	}
	for dependency := range owners {
		if !used[dependency] {
			t.Errorf("nothing imports %s: this list is out of date", dependency)
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range parseAll(t) {
		if f.test {
			continue
		}
		text := f.ast.Doc.Text()
		said := strings.HasPrefix(text, "Package "+f.ast.Name.Name+" ") || strings.HasPrefix(text, "Command ")
		documented[f.pkg] = documented[f.pkg] || said
	}
	for pkg, said := range documented {
		if !said {
			t.Errorf("%s has no package comment", pkg)
		}
	}
}

// The table of architecture.md lists every package, except those within others.
func TestArchitectureHasEveryPackage(t *testing.T) {
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.SplitSeq(string(text), "\n") {
		if rest, row := strings.CutPrefix(line, "| `"); row {
			name, _, _ := strings.Cut(rest, "`")
			rows[name] = line
		}
	}
	for _, f := range parseAll(t) {
		parts := strings.Split(f.pkg, "/")
		if f.test || len(parts) != 2 || parts[0] == "cmd" {
			continue
		}
		if !strings.Contains(rows[parts[0]], "`"+parts[1]+"`") {
			t.Errorf("architecture.md does not say what %s is for", f.pkg)
		}
	}
}

// goFile matches a Go file named in architecture.md, with the function named before or after it.
var goFile = regexp.MustCompile("(?:`([A-Z][A-Za-z]*)` (?:in|of) )?`((?:kernel|node|protocol|seed|cmd)/[a-z/]+\\.go)`(?: \\(`([A-Za-z]+)`)?")

// Every file that architecture.md names exists, and contains the function named with it.
func TestArchitectureNamesFiles(t *testing.T) {
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	found := goFile.FindAllStringSubmatch(string(text), -1)
	if len(found) < 15 {
		t.Errorf("architecture.md names %d files", len(found))
	}
	for _, m := range found {
		source, err := os.ReadFile(filepath.Join("..", m[2]))
		if err != nil {
			t.Errorf("architecture.md: %v", err)
			continue
		}
		for _, name := range []string{m[1], m[3]} {
			if !strings.Contains(string(source), name) {
				t.Errorf("architecture.md: %s has no %s", m[2], name)
			}
		}
	}
}

func TestHouseRules(t *testing.T) {
	vague := []string{"util", "utils", "common", "helpers", "types", "misc"}
	for _, f := range parseAll(t) {
		if name := path.Base(f.pkg); slices.Contains(vague, name) {
			t.Errorf("%s: %q names no concept", f.path, name)
		}
		if f.test && calls(f.ast, "time", "Sleep") {
			t.Errorf("%s sleeps", f.path)
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && fn.Name.Name == "init" && f.pkg != "protocol/wire/wirepb" {
				t.Errorf("%s has an init function", f.path)
			}
		}
	}
}

// Only one loop reads records.
func TestRecordsAreReadInOnePlace(t *testing.T) {
	for _, f := range parseAll(t) {
		if f.test || f.pkg == "node/dataset" {
			continue
		}
		if calls(f.ast, "dataset", "Open") {
			t.Errorf("%s calls dataset.Open (dataset.Each has the loop)", f.path)
		}
	}
}

// Only node/durable renames or writes files, since it makes them durable first. After a plain
// rename a power failure can undo it, or leave a name without its bytes.
func TestFilesAreMadeDurableInOnePlace(t *testing.T) {
	passing := map[string]bool{"node/aggregator/inbox/inbox.go": true, "node/aggregator/tables.go": true} // bundles for another waiting process, and tables of an answer that is not kept
	for _, f := range parseAll(t) {
		if f.test || f.top() != "node" && f.top() != "cmd" || f.pkg == "node/durable" || strings.HasSuffix(f.pkg, "test") || passing[f.path] {
			continue
		}
		for _, call := range []string{"Rename", "WriteFile"} {
			if calls(f.ast, "os", call) {
				t.Errorf("%s calls os.%s (package node/durable does that)", f.path, call)
			}
		}
	}
}

// Few places draw noise into data or debit a budget, since the privacy guarantee depends on them. A
// call elsewhere would bypass the order of protocol/release/job. Each place is a folder or a file.
func TestNoiseAndDebitsHaveFewCallers(t *testing.T) {
	drawing := []string{"protocol/release", "protocol/release/job", "protocol/audit"}
	places := map[string][]string{
		"Draw": drawing, "DrawSeen": drawing, "Randomise": drawing,
		"AddParallel": {"protocol/release"}, // used by the others to draw
		"Debit":       {"protocol/release/job", "node/source/policy.go"},
	}
	used := map[string]bool{}
	for _, f := range parseAll(t) {
		if top := f.top(); f.test || top != "protocol" && top != "node" && top != "cmd" {
			continue
		}
		for name, allowed := range places {
			if !callsMethod(f.ast, name) {
				continue
			}
			at := f.path
			if slices.Contains(allowed, f.pkg) {
				at = f.pkg
			}
			if used[name+" "+at] = true; !slices.Contains(allowed, at) {
				t.Errorf("%s calls %s, which is for %v", f.path, name, allowed)
			}
		}
	}
	for _, name := range drawing {
		if !used["Draw "+name] && !used["DrawSeen "+name] && !used["Randomise "+name] {
			t.Errorf("%s draws nothing: this list is out of date", name)
		}
	}
	for _, name := range places["Debit"] {
		if !used["Debit "+name] {
			t.Errorf("%s debits nothing: this list is out of date", name)
		}
	}
}

// callsMethod reports whether a file calls a method, or a package's function, of this name.
func callsMethod(f *ast.File, name string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			sel, ok := call.Fun.(*ast.SelectorExpr)
			found = found || ok && sel.Sel.Name == name
		}
		return !found
	})
	return found
}

// documents returns paths of the documents in this folder and in research/docs.
func documents(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("*.md")
	if err != nil || len(docs) < 12 {
		t.Fatalf("%d documents found: %v", len(docs), err)
	}
	others, err := filepath.Glob("../research/docs/*.md")
	if err != nil || len(others) < 2 {
		t.Fatalf("%d documents of the laboratory found: %v", len(others), err)
	}
	return append(docs, others...)
}

// The documents name only existing files.
func TestDocumentsPointAtFiles(t *testing.T) {
	for _, doc := range append(documents(t), "../README.md", "../research/README.md") {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, part := range strings.Split(string(text), "](")[1:] {
			target, _, _ := strings.Cut(part, ")")
			if strings.Contains(target, "://") {
				continue
			}
			name, place, _ := strings.Cut(target, "#")
			at := filepath.Join(filepath.Dir(doc), name)
			if name == "" {
				at = doc
			}
			raw, err := os.ReadFile(at)
			if info, statErr := os.Stat(at); statErr == nil && info.IsDir() {
				raw, err = nil, nil
			}
			if err != nil {
				t.Errorf("%s points at %s: %v", doc, target, err)
			}
			if place != "" && !slices.Contains(places(string(raw)), place) {
				t.Errorf("%s points at %s, and %s has no such heading", doc, target, at)
			}
		}
	}
}

// The list of documents is complete.
func TestDocumentsAreListed(t *testing.T) {
	list, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range documents(t) {
		if doc != "README.md" && !strings.Contains(string(list), "("+doc+")") {
			t.Errorf("README.md does not list %s", doc)
		}
	}
}

// places returns the possible link fragments: slugs of headings, and anchors.
func places(markdown string) (out []string) {
	for line := range strings.SplitSeq(markdown, "\n") {
		if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
			name := strings.Map(func(r rune) rune {
				switch {
				case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
					return unicode.ToLower(r)
				case r == ' ':
					return '-'
				}
				return -1
			}, strings.TrimSpace(heading))
			out = append(out, name)
		}
		for _, part := range strings.Split(line, "<a id=\"")[1:] {
			name, _, _ := strings.Cut(part, "\"")
			out = append(out, name)
		}
	}
	return out
}
