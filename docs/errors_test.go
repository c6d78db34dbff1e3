package docs_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/console"
)

func readErrors(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("errors.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestErrorsHaveEveryExitCode(t *testing.T) {
	text := readErrors(t)
	for _, code := range console.Codes() {
		if row := fmt.Sprintf("\n| %d | %s | ", code, code.Meaning()); !strings.Contains(text, row) {
			t.Errorf("errors.md has no row %q", strings.TrimSpace(row))
		}
	}
}

// wrappers say nothing of their own: what they wrap has its row.
var wrappers = []string{"schema.Error", "schema.Errors", "node.SiteError", "node.FailedError", "protocol.Fault", "protocol.Disagreement", "p2p.Refusal", "dataset.Error", "agree.Fault", "parallel.Panic", "context.Canceled", "context.DeadlineExceeded"}

// Whatever the exit codes tell apart is in the index, by its own words.
func TestErrorsAreIndexed(t *testing.T) {
	files := parseAll(t)
	said, quoted := messages(files), quotedErrors(t)
	found := 0
	names := decidedOn(t, files)
	for name := range said { // and every other type of error
		if _, what, _ := strings.Cut(name, "."); !strings.HasPrefix(what, "Err") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if slices.Contains(wrappers, name) {
			continue
		}
		found++
		indexed := slices.ContainsFunc(said[name], func(text string) bool {
			return slices.ContainsFunc(quoted, func(piece string) bool { return strings.Contains(text, piece) })
		})
		if !indexed {
			t.Errorf("errors.md has nothing of %s, which says one of %q", name, said[name])
		}
	}
	if found < 40 {
		t.Errorf("%d errors found that exit codes tell apart", found)
	}
}

// quotedErrors are the messages that errors.md quotes, in pieces.
func quotedErrors(t *testing.T) (out []string) {
	t.Helper()
	for _, r := range indexed(t) {
		for _, piece := range r.pieces {
			if len(piece) > 6 {
				out = append(out, piece)
			}
		}
	}
	if len(out) < 150 {
		t.Fatalf("only %d messages found", len(out))
	}
	return out
}

// decidedOn are the errors that console.CodeOf and what it calls name, as package.Name.
func decidedOn(t *testing.T, files []file) (out []string) {
	t.Helper()
	for _, f := range files {
		if f.path != "node/console/exit.go" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IndexExpr: // isAny[*node.WaitError]
				at := n.Index
				if star, ok := at.(*ast.StarExpr); ok {
					at = star.X
				}
				if sel, ok := at.(*ast.SelectorExpr); ok {
					out = append(out, sel.X.(*ast.Ident).Name+"."+sel.Sel.Name)
				}
			case *ast.CallExpr: // isOneOf(err, node.ErrNotApproved)
				for _, argument := range n.Args {
					sel, ok := argument.(*ast.SelectorExpr)
					if ok && (strings.HasPrefix(sel.Sel.Name, "Err") || sel.X.(*ast.Ident).Name == "context") {
						out = append(out, sel.X.(*ast.Ident).Name+"."+sel.Sel.Name)
					}
				}
			}
			return true
		})
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// messages are what errors say, by package.Name: the texts of errors.New and, of types,
// the literals in their Error method.
func messages(files []file) map[string][]string {
	out := map[string][]string{}
	add := func(name, text string) { out[name] = append(out[name], text) }
	for _, f := range files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) && strings.HasPrefix(name.Name, "Err") {
						for _, text := range literals(n.Values[i]) {
							add(f.ast.Name.Name+"."+name.Name, text)
						}
					}
				}
			case *ast.FuncDecl:
				if n.Name.Name != "Error" || n.Recv == nil {
					return true
				}
				at := n.Recv.List[0].Type
				if star, ok := at.(*ast.StarExpr); ok {
					at = star.X
				}
				for _, text := range literals(n.Body) {
					add(f.ast.Name.Name+"."+at.(*ast.Ident).Name, text)
				}
			}
			return true
		})
	}
	return out
}

func literals(n ast.Node) (out []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

// What the index quotes is what the code says.
func TestIndexedErrorsExist(t *testing.T) {
	var all strings.Builder
	for _, f := range parseAll(t) {
		if !f.test {
			for _, text := range literals(f.ast) {
				all.WriteString(text + "\n")
			}
		}
	}
	all.WriteString("peer id mismatch")                                                           // what the libp2p libraries say
	all.WriteString("unknown flag, unexpected argument, missing flags, must be one of, expected") // what kong says
	for _, piece := range quotedErrors(t) {
		if !strings.Contains(all.String(), piece) {
			t.Errorf("nothing in the code says %q", piece)
		}
	}
}

// row is a message that errors.md quotes.
type row struct {
	quoted string
	pieces []string // of it, between what differs
	codes  []string // exit codes, or what stands in their place
}

// indexed are the messages of errors.md.
func indexed(t *testing.T) (out []row) {
	t.Helper()
	for line := range strings.SplitSeq(readErrors(t), "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		codes := strings.Split(cells[len(cells)-1], ", ")
		for quoted := range strings.SplitSeq(strings.Trim(cells[0], "`"), "`, `") { // several of one cause
			r := row{quoted: quoted, codes: codes}
			for piece := range strings.SplitSeq(quoted, "…") {
				if piece = strings.TrimSpace(piece); piece != "" {
					r.pieces = append(r.pieces, piece)
				}
			}
			out = append(out, r)
		}
	}
	return out
}

// fits reports whether a text has all pieces, in order.
func (r row) fits(text string) bool {
	length := 0
	for _, piece := range r.pieces {
		_, after, found := strings.Cut(text, piece)
		if !found {
			return false
		}
		text, length = after, length+len(piece)
	}
	return length > 3
}

// isIndexed reports whether a row fits a text.
func isIndexed(rows []row, text string) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.fits(text) })
}

// kinds are the messages that errors.md has not one by one, by where the code makes them;
// each kind is a row of its own there. The longest path counts.
var kinds = map[string]string{
	// What peers send.
	"protocol/wire/":             peerIsWrong,
	"protocol/session/":          peerIsWrong,
	"protocol/envelope.go":       peerIsWrong,
	"protocol/further.go":        peerIsWrong,
	"protocol/mailbox.go":        peerIsWrong,
	"protocol/query.go":          peerIsWrong,
	"protocol/identity.go":       peerIsWrong,
	"protocol/release/header.go": peerIsWrong,
	"protocol/release/masked.go": peerIsWrong,
	"protocol/release/pseudonym": peerIsWrong,
	"protocol/release/published": peerIsWrong,
	"protocol/release/labels.go": peerIsWrong,
	"kernel/sketch/encoding.go":  peerIsWrong,
	"seed/agree/":                peerIsWrong,
	"node/party/ask.go":          peerIsWrong,
	"node/party/":                peerIsWrong,
	"node/aggregator/hosted.go":  peerIsWrong,
	"node/aggregator/verdict.go": peerIsWrong,
	"node/p2p/":                  peerIsWrong,
	"node/carry/":                peerIsWrong,
	// What is stored.
	"node/local/fsck":             storedIsWrong,
	"node/local/inspect.go":       storedIsWrong,
	"node/local/labels.go":        storedIsWrong,
	"node/aggregator/further.go":  storedIsWrong,
	"node/stored/":                storedIsWrong,
	"node/store/ledger.go":        storedIsWrong,
	"node/dataset/decode.go":      storedIsWrong,
	"node/dataset/parquet.go":     storedIsWrong,
	"protocol/ledger/":            storedIsWrong,
	"protocol/analysis/decode.go": storedIsWrong,
	// What an answer says instead of a number.
	"protocol/analysis/": undefined,
	"protocol/plan/":     undefined,
	"kernel/estimate/":   undefined,
	"kernel/cluster/":    undefined,
	"kernel/neighbor/":   undefined,
	"kernel/linear/":     undefined,
	"kernel/decompose/":  undefined,
	// What callers hold, and users cannot reach: studies and data are checked before.
	"kernel/":                    ownMistake,
	"protocol/release/":          ownMistake,
	"protocol/study/":            ownMistake,
	"seed/":                      ownMistake,
	"node/aggregator/answer.go":  ownMistake,
	"node/aggregator/analyze.go": ownMistake,
	"node/bundle/":               ownMistake,
	"node/dataset/pipeline.go":   ownMistake,
	"node/dataset/schema.go":     ownMistake,
	"node/dataset/sql.go":        ownMistake,
	"node/aggregator/query.go":   ownMistake,
	"node/party/disk.go":         ownMistake,
	"node/party/work.go":         ownMistake,
	"node/store/create.go":       ownMistake,
	"node/store/release.go":      ownMistake,
	"node/table/":                ownMistake,
	"node/views/":                ownMistake,
}

// The kinds, as errors.md has them.
const (
	peerIsWrong   = "a message of another node is not as it should be"
	storedIsWrong = "something stored here is not as it was signed"
	undefined     = "the releases do not answer"
	ownMistake    = "a mistake of this program"
)

// internal are messages that one part of the program has for another, and nobody else sees.
var internal = []string{"store is open for reading only", "the steward has not released the held sketch", "nothing more in the bundle"}

// Every message that a user can meet is in the index by itself or as one of a kind.
func TestEveryMessageIsIndexed(t *testing.T) {
	files, rows, text := parseAll(t), indexed(t), readErrors(t)
	used := map[string]bool{}
	for _, m := range plainMessages(files, "cmd", "node", "protocol", "kernel", "seed") {
		if isIndexed(rows, m.text) || slices.Contains(internal, m.text) {
			continue
		}
		at := ""
		for prefix := range kinds {
			if strings.HasPrefix(m.file, prefix) && len(prefix) > len(at) {
				at = prefix
			}
		}
		if at == "" {
			t.Errorf("%s: errors.md has nothing of %q", m.file, m.text)
		}
		used[at] = true
	}
	for prefix, kind := range kinds {
		if !used[prefix] {
			t.Errorf("nothing under %s needs to be of the kind %q", prefix, kind)
		}
		if !strings.Contains(text, "\n| "+kind+" | ") {
			t.Errorf("errors.md has no row of the kind %q", kind)
		}
	}
	for _, mistake := range dataMistakes(files) {
		if !isIndexed(rows, mistake) {
			t.Errorf("node/dataset: errors.md has nothing of %q", mistake)
		}
	}
}

// A message is found by all pieces of a row, in their order, and by no fewer.
func TestIsIndexed(t *testing.T) {
	rows := []row{{pieces: []string{"dataset", "is not in"}}, {pieces: []string{"--"}}}
	for text, want := range map[string]bool{
		"dataset … is not in …": true, "is not in dataset": false, "dataset is in": false, "-- is short": false,
	} {
		if isIndexed(rows, text) != want {
			t.Errorf("%q is indexed: %v, want %v", text, !want, want)
		}
	}
	for format, want := range map[string]bool{
		"reading %s: %w": true, "%w (try again)": true, "study %s (%s): %w": true, "%s is not a file": false, "want one of %s": false,
	} {
		if wraps.MatchString(format) != want {
			t.Errorf("%q says nothing of its own: %v, want %v", format, !want, want)
		}
	}
}

var (
	ending = regexp.MustCompile(`^exits ([0-9]) `)
	unsaid = regexp.MustCompile(`^(! )?exec `) // a command whose code the script does not say
	talked = regexp.MustCompile(`^stderr '(.*)'$`)
	inside = regexp.MustCompile(`\\[wds][+*]?|\.[*+]\??|\[[^]]*\][+*]?|\(\?s\)`)
)

// The exit codes of the index are those that the programs end with in the scripts.
func TestIndexedCodesAreTrue(t *testing.T) {
	files, err := filepath.Glob("../cmd/testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	held, rows := map[string]bool{}, indexed(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if m := ending.FindStringSubmatch(line); m != nil {
				code = m[1]
			} else if unsaid.MatchString(line) {
				code = ""
			}
			m := talked.FindStringSubmatch(line)
			if m == nil || code == "0" || code == "" {
				continue
			}
			message := strings.ReplaceAll(inside.ReplaceAllString(m[1], "…"), `\`, "")
			var fit row // the longest
			for _, r := range rows {
				if len(r.quoted) > len(fit.quoted) && r.fits(message) {
					fit = r
				}
			}
			if fit.quoted == "" || !slices.ContainsFunc(fit.codes, func(c string) bool { return len(c) == 1 }) {
				continue
			}
			held[fit.quoted] = true
			if !slices.Contains(fit.codes, code) {
				t.Errorf("%s: exit code %s of %q: errors.md has %v of %q", filepath.Base(file), code, m[1], fit.codes, fit.quoted)
			}
		}
	}
	if len(held) < 40 {
		t.Errorf("scripts end with %d messages of errors.md", len(held))
	}
}
