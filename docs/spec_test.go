package docs_test

import (
	"encoding/binary"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// spoken are the constants that other implementations must know, by place of declaration. SPEC.md
// must contain the value of each.
var spoken = []struct {
	pkg   string
	name  *regexp.Regexp
	least int // minimum number of matches, so that a pattern cannot match nothing
}{
	{"protocol", regexp.MustCompile(`^(Kind|Cause)[A-Z]`), 21},
	{"protocol", regexp.MustCompile(`Prefix$`), 5},
	{"seed", regexp.MustCompile(`^(RecordRows|ColumnRows|Confirm|HadamardPermutation|Pseudonyms|CellRows|CellPermutation|[lL]abel.*)$`), 8},
	{"seed/agree", regexp.MustCompile(`^label[A-Z]`), 6},
	{"kernel/projection", regexp.MustCompile(`^(Sparse|Rademacher|Achlioptas|Gaussian|Hadamard|Identity)$`), 6},
	{"kernel/sketch", regexp.MustCompile(`^(Columns|Records|Moments|Cells)$`), 4},
	{"protocol/ledger", regexp.MustCompile(`^(hashLabel|version)$`), 2},
	{"protocol/study/file", regexp.MustCompile(`^version$`), 1},
	{"protocol/analysis", regexp.MustCompile(`Format$`), 2},
	{"node/calls", regexp.MustCompile(`^[A-Z]`), 10},
	{"node/carry", regexp.MustCompile(`^Part[A-Z]`), 3},
	{"node/bundle", regexp.MustCompile(`^(magic|info)$`), 2},
	{"protocol", regexp.MustCompile(`^Version$`), 1},
	{"protocol/study", regexp.MustCompile(`^(KMeans|InnerProduct|Distance|Cosine|Mean|Covariance|Correlation|Intersection|GroupDistance)$`), 9},
}

// constant is a declared constant with its literal value.
type constant struct {
	pkg, name, value string
	text             bool
}

// constants returns all constants of the module's code with literal values.
func constants(t *testing.T, files []file) (out []constant) {
	t.Helper()
	for _, f := range files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if i >= len(spec.Values) {
					break
				}
				literal, ok := spec.Values[i].(*ast.BasicLit)
				if !ok {
					continue
				}
				value := literal.Value
				if literal.Kind == token.STRING {
					unquoted, err := strconv.Unquote(value)
					if err != nil {
						t.Fatal(err)
					}
					value = unquoted
				}
				out = append(out, constant{f.pkg, name.Name, value, literal.Kind == token.STRING})
			}
			return true
		})
	}
	return out
}

func readSpec(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../protocol/SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section returns the section of the specification whose heading begins so.
func section(t *testing.T, spec, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(spec, "\n"+heading)
	if !found {
		t.Fatalf("SPEC.md has no section %q", heading)
	}
	own, _, _ := strings.Cut(rest, "\n#")
	return own
}

func TestSpecNamesWhatIsSpoken(t *testing.T) {
	spec, all := readSpec(t), constants(t, parseAll(t))
	for _, s := range spoken {
		found := 0
		for _, c := range all {
			if c.pkg != s.pkg || !c.text || !s.name.MatchString(c.name) {
				continue
			}
			found++
			// SPEC.md describes a zero byte or line feed at the end outside the quoted text.
			if value := strings.TrimRight(c.value, "\x00\n"); !quoted(spec, value) {
				t.Errorf("SPEC.md does not name %q, which is %s.%s", value, c.pkg, c.name)
			}
		}
		if found < s.least {
			t.Errorf("%s has %d constants like %s, want %d at least", s.pkg, found, s.name, s.least)
		}
	}
}

// quoted reports whether a text appears in quotes or in a code span, as a whole word.
func quoted(spec, value string) bool {
	return regexp.MustCompile("[`\" ]" + regexp.QuoteMeta(value) + "([`\" :,/]|NAME)").MatchString(spec)
}

// SPEC.md names the labels of all calls of protocol.Hash.
func TestSpecNamesEveryHash(t *testing.T) {
	spec, found := readSpec(t), 0
	for _, f := range parseAll(t) {
		if f.test || f.pkg == "protocol/protocoltest" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			literal, ok := call.Args[0].(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING || !joins(call.Fun) {
				return true
			}
			found++
			if !strings.Contains(spec, literal.Value) {
				t.Errorf("SPEC.md does not name the label %s of %s", literal.Value, f.path)
			}
			return true
		})
	}
	if found < 3 {
		t.Errorf("%d labelled hashes found", found)
	}
}

// joins reports whether a function is a labelled join or hash.
func joins(fn ast.Expr) bool {
	switch fn := fn.(type) {
	case *ast.Ident: // within package protocol
		return fn.Name == "Hash"
	case *ast.SelectorExpr:
		from, ok := fn.X.(*ast.Ident)
		return ok && (from.Name == "protocol" || from.Name == "transcript") && (fn.Sel.Name == "Hash" || fn.Sel.Name == "Join")
	}
	return false
}

// Every code of a refusal and of a process has a row, and every row has a code.
func TestSpecTabulatesCodes(t *testing.T) {
	spec, all := readSpec(t), constants(t, parseAll(t))
	row := regexp.MustCompile(`(?m)^\| ([0-9]+) \|`)
	for _, c := range []struct{ pkg, heading, name string }{
		{"node/p2p", "### 18.1", "^Code[A-Z]"},
		{"protocol/fail", "### 18.3", "^(OK|Failed|Connection|Absent|Usage|Internal|Refused|Budget|Disagreement)$"},
	} {
		var want, got []string
		for _, one := range all {
			if one.pkg == c.pkg && !one.text && regexp.MustCompile(c.name).MatchString(one.name) {
				want = append(want, one.value)
			}
		}
		for _, m := range row.FindAllStringSubmatch(section(t, spec, c.heading), -1) {
			got = append(got, m[1])
		}
		if c.pkg == "node/p2p" {
			want = append(want, "0") // the code of answers that are not refusals
		}
		slices.Sort(want)
		slices.Sort(got)
		if len(want) < 9 || !slices.Equal(got, want) {
			t.Errorf("section %s tabulates %q, the codes of %s are %q", c.heading, got, c.pkg, want)
		}
	}
}

// Section 6 has a row for every kind.
func TestSpecTabulatesKinds(t *testing.T) {
	kinds, found := section(t, readSpec(t), "## 6."), 0
	for _, c := range constants(t, parseAll(t)) {
		if c.pkg == "protocol" && strings.HasPrefix(c.name, "Kind") && c.text {
			found++
			if !strings.Contains(kinds, "\n| `"+c.value+"` |") {
				t.Errorf("section 6 has no row for %s", c.value)
			}
		}
	}
	if found < 17 {
		t.Errorf("%d kinds found", found)
	}
}

// Every path of a study's meaning is in section 3.5.
func TestSpecNamesTheMeaning(t *testing.T) {
	own := section(t, readSpec(t), "### 3.5")
	files, err := filepath.Glob("../protocol/study/testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := studyfile.Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		for rest, at := studyfile.Encoding(s), 0; len(rest) > 0; at++ {
			n := binary.BigEndian.Uint32(rest)
			if at%2 == 0 { // paths and their values alternate
				found[string(rest[4:4+n])] = true
			}
			rest = rest[4+n:]
		}
	}
	for path := range found {
		if !strings.Contains(own, path) {
			t.Errorf("section 3.5 does not name %q", path)
		}
	}
	if len(found) < 60 {
		t.Errorf("%d paths found", len(found))
	}
}

// Every file of vectors is in the list of section 20.
func TestSpecListsVectors(t *testing.T) {
	list := section(t, readSpec(t), "## 20.")
	files, err := os.ReadDir("../protocol/testdata/vectors")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files of vectors, %v", len(files), err)
	}
	for _, f := range files {
		if !strings.Contains(list, "`"+f.Name()+"`") {
			t.Errorf("section 20 does not list %s", f.Name())
		}
	}
}
