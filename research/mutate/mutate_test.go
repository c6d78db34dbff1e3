package mutate

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module writes a module with one package and its test, and returns its folder.
func module(t *testing.T, code, test string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.org/m\n\ngo 1.26\n", "p/p.go": "package p\n\n" + code, "p/p_test.go": "package p\n\nimport \"testing\"\n\n" + test} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// drawn returns all mutants of a package that compile, as "old => new".
func drawn(t *testing.T, code string, known ...equivalent) []string {
	t.Helper()
	root := module(t, code, "func Test(*testing.T) {}\n")
	all, err := draw(t.Context(), Options{Root: root, Count: 1000}, []subject{{path: "p"}}, known)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range all {
		out = append(out, m.old+" => "+m.new)
	}
	slices.Sort(out)
	return out
}

func TestEveryKindOfChange(t *testing.T) {
	got := drawn(t, `import "fmt"

func f(a, b int, s string) (bool, error) {
	if a < b && s+"x" != s {
		return true, fmt.Errorf("%d + 1 is %d", a, a+1)
	}
	a++
	g()
	return false, nil
}

func g() {}
`)
	want := []string{
		`a++ => `,
		`a++ => a--`,
		`g() => `,
		`if a < b && s+"x" != s { => if !(a < b && s+"x" != s) {`,
		`if a < b && s+"x" != s { => if a < b && s+"x" == s {`,
		`if a < b && s+"x" != s { => if a < b || s+"x" != s {`,
		`if a < b && s+"x" != s { => if a <= b && s+"x" != s {`,
		`if a < b && s+"x" != s { => if a >= b && s+"x" != s {`,
		`if a < b && s+"x" != s { => if false && (a < b && s+"x" != s) {`,
		`return false, nil => return true, nil`,
	}
	// Without fmt.Errorf the import is unused, so that change does not compile. Results beside an
	// error are not changed.
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestErrorsAreDropped(t *testing.T) {
	got := drawn(t, "func f() error {\n\tif err := g(); err != nil {\n\t\treturn err\n\t}\n\treturn g()\n}\n\nfunc g() error { return nil }\n")
	for _, want := range []string{"return err => return nil", "return g() => return nil", "if err := g(); err != nil { => if err := g(); false && (err != nil) {"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// Numbers without effect are not changed: a capacity, and -1 made smaller.
func TestUnseenNumbersStay(t *testing.T) {
	got := drawn(t, "func f(n int) ([]int, int) { return make([]int, 2, 9), -1 }\n")
	var want []string
	for _, of := range []string{"make([]int, 1, 9), -1", "make([]int, 2, 9), -0", "make([]int, 3, 9), -1"} {
		want = append(want, "func f(n int) ([]int, int) { return make([]int, 2, 9), -1 } => func f(n int) ([]int, int) { return "+of+" }")
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestKnownEquivalentsAreNotDrawn(t *testing.T) {
	const code = "const three = 3\n\nfunc f() int { return 5 }\n"
	const twice = "func f(a int) int {\n\ta = a / 3\n\ta++\n\ta = a / 5\n\ta++\n\treturn a\n}\n"
	all, but := drawn(t, twice), drawn(t, twice, equivalent{in: "p.f", above: "a = a / 3", old: "a++", new: "a--", reason: "-"})
	if len(but) != len(all)-1 {
		t.Errorf("of two changes that look alike %d are drawn", len(but)-len(all)+2)
	}
	got := drawn(t, code, equivalent{in: "p.f", old: "func f() int { return 5 }", new: "func f() int { return 6 }", reason: "-"})
	if want := []string{"const three = 3 => const three = 2", "const three = 3 => const three = 4", "func f() int { return 5 } => func f() int { return 4 }"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A test at the boundary detects every change of a comparison; a test away from it does not.
func TestSurvivorsAreNamed(t *testing.T) {
	const code = "func adult(age int) bool { return age >= limit }\n\nvar limit = len(\"eighteen years old\")\n"
	for _, c := range []struct {
		name, test string
		want       Score
	}{
		{"at the boundary", "func Test(t *testing.T) {\n\tif !adult(18) || adult(17) || !adult(19) {\n\t\tt.Fail()\n\t}\n}\n", Score{2, 2}},
		{"away from it", "func Test(t *testing.T) {\n\tif !adult(50) || adult(5) {\n\t\tt.Fail()\n\t}\n}\n", Score{2, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			got, err := run(t.Context(), Options{Root: module(t, code, c.test), Seed: 3, Count: 10}, []subject{{path: "p"}}, nil, &out)
			if err != nil || got != c.want {
				t.Fatalf("%v, %v, want %v", got, err, c.want)
			}
			named := strings.Contains(out.String(), "survived p/p.go:3\n\tp.adult\n\t- func adult(age int) bool { return age >= limit }\n\t+ func adult(age int) bool { return age > limit }\n")
			if named != (got.Killed < got.Drawn) || !strings.HasPrefix(out.String(), "2 mutants, seed 3\n") {
				t.Error(out.String())
			}
		})
	}
}

// If the tests fail without a change, that is an error.
func TestTestsMustPassAtFirst(t *testing.T) {
	root := module(t, "func f() int { return 5 }\n", "func Test(t *testing.T) { t.Fail() }\n")
	_, err := run(t.Context(), Options{Root: root, Count: 1}, []subject{{path: "p"}}, nil, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "p: its tests do not pass as they are") {
		t.Error(err)
	}
}

func TestScores(t *testing.T) {
	for score, want := range map[Score]bool{{100, 90}: true, {100, 89}: false, {9, 8}: false, {10, 9}: true} {
		if score.Enough() != want {
			t.Errorf("%v: %v", score, !want)
		}
	}
}

// Each entry of equivalent.txt matches exactly one place in the code.
func TestEquivalentsStand(t *testing.T) {
	known, err := equivalents(equivalentText)
	if err != nil {
		t.Fatal(err)
	}
	c, err := load(context.Background(), "../..", subjects)
	if err != nil {
		t.Fatal(err)
	}
	var all []mutant
	for _, s := range subjects {
		found, err := mutants(s, c.packages[s.path], c.source)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	for i, e := range known {
		places := map[int]bool{}
		for _, m := range all {
			if e.of(m) {
				places[m.change.From] = true
			}
		}
		if len(places) != 1 {
			t.Errorf("%d places are changed as in\n%s\n^ %s\n- %s\n+ %s", len(places), e.in, e.above, e.old, e.new)
		}
		if slices.Contains(known[:i], e) {
			t.Errorf("%s stands twice: %s", e.in, e.old)
		}
	}
}

func TestEquivalentsHaveReasons(t *testing.T) {
	for _, text := range []string{"p.f\n- a\n+ b\n", "p.f\n- a\n+ b\nreason\n\n- c\n+ d\nreason", "p.f\n+ b\nreason"} {
		if got, err := equivalents(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	got, err := equivalents("# about\n\np.f\n- a\n+\nFor one\nreason.\n")
	if want := []equivalent{{"p.f", "", "a", "", "For one reason."}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
