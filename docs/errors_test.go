package docs_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/seed/agree"
)

// errorsPage returns the document.
func errorsPage() string {
	var b strings.Builder
	b.WriteString(`# Errors

<!-- Made by go test ./docs -run ErrorsPage -update from the catalogue in protocol/fail. -->

A message says what was being done, what is wrong and, in brackets, what to do. Programs read the same with
` + "`--format json`, on stderr: `{\"error\": …, \"code\": …, \"id\": …, \"hint\": …}`" + `. The ` + "`error`" + ` is the message, the ` + "`code`" + ` the exit
code. The ` + "`id`" + ` says which error it is, and stays when words change; the ` + "`hint`" + ` says what to do, and is left out where the
message alone does. Errors of the API have the same ids and hints: [api.md](api.md#asking).

Where one error wraps another, the outermost decides, unless it only says where something happened. ` + "`…`" + ` stands for what
differs. ` + "`party doctor`" + ` finds most of these before you meet them.

## Exit codes

An error that is none of those below has the id of its code.

| code | id | meaning | what a script should do |
|---|---|---|---|
`)
	for _, c := range fail.Codes() {
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s |\n", c.Exit, string(c.ID), c.Says, c.Do)
	}
	for _, c := range fail.Codes() {
		var rows []fail.Row
		for _, r := range fail.Rows() {
			if r.Exit == c.Exit {
				rows = append(rows, r)
			}
		}
		if rows == nil {
			continue
		}
		fmt.Fprintf(&b, "\n## Code %d: %s\n\n| id | message | what to do |\n|---|---|---|\n", c.Exit, c.Says)
		for _, r := range rows {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", string(r.ID), fail.Template(r.Message), cmp.Or(fail.Template(r.Remedy), "what the message says"))
		}
	}
	b.WriteString(`
An internal error is a mistake in this program or a failing machine. Run the command again: it goes on from what is stored.
If it stays, report the message, which holds no data, with ` + "`party --version`" + ` and what you did.
`)
	return b.String()
}

func TestErrorsPage(t *testing.T) {
	got := errorsPage()
	if *update {
		if err := os.WriteFile("errors.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile("errors.md")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("errors.md is not what the catalogue says: go test ./docs -run ErrorsPage -update")
	}
}

// uncatalogued are the errors without a row, and why.
var uncatalogued = map[string]string{
	"node/dataset.CommandError":              "the cause of a dataset.Error, which has one",
	"node/aggregator/upload.DamagedChunk":    "has the chunk dropped, and sent again",
	"node/aggregator/upload.ErrUnacceptable": "becomes a refusal, which has a row",
	"node/carry.ErrNoNews":                   "ends a loop over a bundle",
	"node/p2p.ErrTooLarge":                   "becomes a refusal, or an answer that is none",
	"node/p2p/raw.ErrConnecting":             "tests and the testnet alone meet it",
	"node/store.ErrReadOnly":                 "a mistake of this program: commands open for writing what they write",
	"protocol.ErrSignature":                  "says what is wrong with a message, whose culprit a Fault names",
	"protocol.ErrSmallOrder":                 "says what is wrong with an id, which is parsed",
	"protocol/release/job.ErrUndecided":      "leaves a job to be done",
	"protocol/session.ErrPosted":             "the aggregator answers as if it had not been there",
	"protocol/session.ErrConflict":           "becomes a refusal, which has a row",
	"protocol/session.ErrPremature":          "becomes a refusal, which has a row",
	"protocol/session.ErrPassed":             "as ErrPremature",
	"protocol/session.ErrClosed":             "as ErrPremature",
	"protocol/session.ErrEnded":              "becomes a refusal, which has a row",
	"protocol/session.ErrNotReceived":        "says why a member is left out",
	"protocol/session.ErrWithdrew":           "says why a member is left out",
	"protocol/session/drive.StaleError":      "says what to do with a job; the error in it is the one that counts",
	"node/calls.BadDocument":                 "becomes a party's BadResultError",
	"node/api.Problem":                       "is made of a row",
	"node/runs.ErrOrder":                     "becomes a part that is damaged",
}

// Every exported error of node and protocol has a row of the catalogue, or a reason for none.
func TestErrorsHaveRows(t *testing.T) {
	rows, errors := map[string]bool{}, map[string]bool{}
	for _, f := range parseAll(t) {
		if f.test || f.top() != "node" && f.top() != "protocol" || f.pkg == "protocol/fail" {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl: // method of an error type
				if d.Recv == nil || d.Type.Params.NumFields() > 0 || d.Name.Name != "Error" && d.Name.Name != "Fail" {
					continue
				}
				at := d.Recv.List[0].Type
				if star, ok := at.(*ast.StarExpr); ok {
					at = star.X
				}
				if name := at.(*ast.Ident).Name; ast.IsExported(name) {
					name = f.pkg + "." + name
					errors[name], rows[name] = errors[name] || d.Name.Name == "Error", rows[name] || d.Name.Name == "Fail"
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					v, ok := spec.(*ast.ValueSpec)
					if !ok || len(v.Values) != len(v.Names) {
						continue
					}
					for i, id := range v.Names {
						if what, is := strings.CutPrefix(id.Name, "Err"); is && ast.IsExported(what) {
							name := f.pkg + "." + id.Name
							errors[name], rows[name] = true, ofCatalogue(v.Values[i])
						}
					}
				}
			}
		}
	}
	for name := range errors {
		if why := uncatalogued[name]; rows[name] == (why != "") {
			t.Errorf("%s: has a row: %v; needs none: %q", name, rows[name], why)
		}
	}
	for name := range uncatalogued {
		if !errors[name] {
			t.Errorf("there is no %s: the list is out of date", name)
		}
	}
	if len(errors) < 80 {
		t.Errorf("only %d errors found", len(errors))
	}
}

// ofCatalogue reports whether an expression is a constant of the catalogue, such as fail.NoSeed.
func ofCatalogue(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "fail"
}

// Every row belongs to an error of the program: code outside the catalogue names it.
func TestRowsAreUsed(t *testing.T) {
	used := map[string]bool{}
	var names map[string]string // constants, by id
	for _, f := range parseAll(t) {
		if f.pkg == "protocol/fail" && strings.HasSuffix(f.path, "rows.go") {
			names = idNames(f)
		}
		if f.test || f.pkg == "docs" {
			continue
		}
		if f.path == "protocol/fail/find.go" || f.pkg != "protocol/fail" {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					used[n.Sel.Name] = used[n.Sel.Name] || ofCatalogue(n)
				case *ast.Ident: // errors of the operating system, found in find.go
					used[n.Name] = used[n.Name] || f.pkg == "protocol/fail"
				case *ast.BasicLit:
					used[strings.Trim(n.Value, `"`)] = true // errors of seed, by FailID
				}
				return true
			})
		}
	}
	if len(names) != len(fail.Rows()) {
		t.Fatalf("%d names of %d rows", len(names), len(fail.Rows()))
	}
	for id, name := range names {
		if !used[name] && !used[id] {
			t.Errorf("nothing is a %s", name)
		}
	}
	for _, err := range []error{agree.ErrTranscript, agree.ErrConfirmTag, agree.ErrPublished} { // these do not import the catalogue
		if found := fail.Find(err); names[string(found.ID)] == "" || found.ID.Error() != err.Error() {
			t.Errorf("%v is %s, which says %v", err, string(found.ID), found.ID)
		}
	}
}

// idNames returns the names of a file's constants, by value.
func idNames(f file) map[string]string {
	out := map[string]string{}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if literal, ok := v.Values[0].(*ast.BasicLit); ok {
				out[strings.Trim(literal.Value, `"`)] = v.Names[0].Name
			}
		}
		return true
	})
	return out
}

// The catalogue imports nothing of this module.
func TestCatalogueImportsNothingOfOurs(t *testing.T) {
	for _, f := range parseAll(t) {
		if f.pkg == "protocol/fail" && !f.test && slices.ContainsFunc(f.imports(t), func(name string) bool { return strings.HasPrefix(name, module) }) {
			t.Errorf("%s imports another package of the module", f.path)
		}
	}
}
