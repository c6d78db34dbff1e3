package docs_test

import (
	"go/ast"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Patterns for tests that documents name: the folder of a package, and its tests.
var (
	// named matches a package followed by names of its tests.
	named = regexp.MustCompile("`([a-z0-9/]+)`((?:\\s`Test[A-Za-z0-9]+`)+)")
	// one matches a test.
	one = regexp.MustCompile("Test[A-Za-z0-9]+")
)

// errata is the document of errors in the sources.
const errata = "../research/docs/errata.md"

// TestNamedTestsExist checks that every test named in errata.md and privacy.md exists, that every
// item of errata.md names one, and that every test of an erratum is named.
func TestNamedTestsExist(t *testing.T) {
	have := map[[2]string]bool{}
	for _, f := range parseAll(t) {
		if !f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				have[[2]string{f.pkg, fn.Name.Name}] = true
			}
		}
	}
	mentioned := map[[2]string]bool{}
	for _, name := range []string{errata, "privacy.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			for _, test := range one.FindAllString(m[2], -1) {
				found++
				mentioned[[2]string{m[1], test}] = true
				if !have[[2]string{m[1], test}] {
					t.Errorf("%s names %s in %s, which is not there", name, test, m[1])
				}
			}
		}
		if found < 10 {
			t.Errorf("%s names %d tests", name, found)
		}
		if name != errata {
			continue
		}
		items := strings.Split(string(text), "\n- ")[1:]
		if len(items) < 15 {
			t.Errorf("errata.md has %d items", len(items))
		}
		for _, item := range items {
			item, _, _ = strings.Cut(item, "\n\n")
			if !named.MatchString(item) {
				first, _, _ := strings.Cut(item, "\n")
				t.Errorf("errata.md: an item names no test: %s", first)
			}
		}
	}
	for test := range have {
		if strings.HasPrefix(test[1], "TestErrata") && !mentioned[test] {
			t.Errorf("errata.md does not name %s in %s", test[1], test[0])
		}
	}
}
