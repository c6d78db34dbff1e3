package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// question is a question of a newcomer to the code, with the place of the answer.
type question struct {
	asks string
	path string // file with the answer
	name string // identifier in that file
}

var questions = []question{
	{"where is the sensitivity of a clipped moment?", "kernel/dp/moments.go", "RecordMoments"},
	{"what ends a study at its deadline?", "protocol/session/aggregator.go", "stop"},
	{"where is noise drawn?", "protocol/release/moments.go", "Draw"},
	{"where is the budget debited?", "node/store/ledger.go", "Debit"},
	{"who says whether a message comes in time?", "protocol/session/turns.go", "ErrPremature"},
	{"where does a masked sum lose its masks?", "protocol/release/masked.go", "Unmask"},
	{"which exit code does an error have?", "protocol/fail/rows.go", "rows"},
	{"how do two datasets turn out to be the same people?", "node/people/people.go", "Compare"},
	{"what does a study wait for?", "protocol/wait/wait.go", "Code"},
	{"which paths does the API serve?", "node/api/route.go", "routes"},
	{"where is a study drafted?", "protocol/study/file/draft.go", "Draft"},
	{"how are a new study's rows of R made?", "seed/stream/stream.go", "Stream"},
}

// architecture.md leads to each answer: it names the file, or the folder's row lists the package,
// which is small enough to find the file in.
func TestNewcomersFindTheirWay(t *testing.T) {
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range questions {
		source, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(q.path)))
		if err != nil {
			t.Errorf("%s %v", q.asks, err)
			continue
		}
		if !regexp.MustCompile(`\b` + q.name + `\b`).Match(source) {
			t.Errorf("%s %s has no %s", q.asks, q.path, q.name)
		}
		if !leadsTo(string(text), q.path) {
			t.Errorf("%s architecture.md names neither %s nor its package", q.asks, q.path)
		}
	}
}

// leadsTo reports whether a text names a file or its package, by path or in the row of its folder.
func leadsTo(text, file string) bool {
	pkg := path.Dir(file)
	top, rest, _ := strings.Cut(pkg, "/")
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, "`"+file+"`") || strings.Contains(line, "`"+pkg+"`") ||
			strings.HasPrefix(line, "| `"+top+"`") && strings.Contains(line, "`"+rest+"`") {
			return true
		}
	}
	return false
}
