package cmd_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// The blocks of a guide:
//
//	```sh ROLE           run by everybody in the role, each in their own home
//	```sh ROLE &         started, and ended when all is done
//	```sh not NAME       run by another test: TestEveryBlockIsRun knows which
//	```sh script         typed by a script of testdata, line by line
//	```text              output of the previous block
//	```yaml ROLE FILE    a file that they write
//	<!-- after DOCUMENT: SECTION -->
//	<!-- carry FILE from ROLE to ROLE as FILE -->
//
// In output, numbers and dates match any others, each id stands for one id of this run, ids in
// words match any, and … matches anything. Other blocks are only for readers.

type stepKind int

const (
	stepRun stepKind = iota
	stepServe
	stepSkipped
	stepFile
	stepAfter
	stepCarry
)

// step is one thing to do.
type step struct {
	kind       stepKind
	file, head string
	line       int
	role       string
	text       string
	output     string   // for stepRun; empty: not shown
	words      []string // stepAfter: document and section; stepCarry: file, from, to, as; stepFile: path
}

func (s step) String() string { return fmt.Sprintf("docs/%s:%d", s.file, s.line) }

var (
	afterForm = regexp.MustCompile(`^<!-- after (\S+): (.+) -->$`)
	carryForm = regexp.MustCompile(`^<!-- carry (\S+) from (\S+) to (\S+) as (\S+) -->$`)
)

// readGuide reads the steps of a document.
func readGuide(t *testing.T, file string) (steps []step) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", file))
	if err != nil {
		t.Fatal(err)
	}
	head, lines := "", strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		at := step{file: file, head: head, line: i + 1}
		switch {
		case strings.HasPrefix(line, "#"):
			head = strings.TrimSpace(strings.TrimLeft(line, "#"))
		case afterForm.MatchString(line):
			at.kind, at.words = stepAfter, afterForm.FindStringSubmatch(line)[1:]
			steps = append(steps, at)
		case carryForm.MatchString(line):
			at.kind, at.words = stepCarry, carryForm.FindStringSubmatch(line)[1:]
			steps = append(steps, at)
		case strings.HasPrefix(line, "<!--"):
			t.Fatalf("%s: no such direction: %s", at, line)
		case strings.HasPrefix(line, "```"):
			var body []string
			for i++; i < len(lines) && lines[i] != "```"; i++ {
				body = append(body, lines[i])
			}
			at.text = strings.Join(body, "\n") + "\n"
			steps = fence(t, steps, at, strings.Fields(line[3:]))
		}
	}
	return steps
}

// fence adds a block, using the words after its backticks.
func fence(t *testing.T, steps []step, at step, words []string) []step {
	t.Helper()
	switch {
	case len(words) == 1 && words[0] == "text":
		if n := len(steps) - 1; n >= 0 && steps[n].kind == stepRun && steps[n].head == at.head && steps[n].output == "" {
			steps[n].output = at.text
			return steps
		}
		t.Fatalf("%s: output of no block", at)
	case len(words) == 3 && words[0] == "sh" && words[1] == "not":
		at.kind, at.role = stepSkipped, words[2]
	case len(words) == 2 && words[0] == "sh" && words[1] == "script":
		return steps
	case len(words) == 3 && words[0] == "sh" && words[2] == "&":
		at.kind, at.role = stepServe, words[1]
	case len(words) == 2 && words[0] == "sh":
		at.kind, at.role = stepRun, words[1]
	case len(words) == 3 && words[0] == "yaml":
		at.kind, at.role, at.words = stepFile, words[1], words[2:]
	case len(words) == 0 || words[0] == "sh":
		t.Fatalf("%s: the block does not say what it is", at)
	default:
		return steps
	}
	return append(steps, at)
}

// sectionEnds returns the number of steps up to the end of a section, or 0 if there is none of that
// name.
func sectionEnds(steps []step, section string) int {
	end := 0
	for i, s := range steps {
		if s.head == section {
			end = i + 1
		}
	}
	return end
}

// names maps the ids in the guides to those of this run. Ids of studies are the same for everybody;
// each person has met other ids of their own.
type names struct {
	mu     sync.Mutex
	shared map[string]string
	own    map[string]string
}

func newNames(shared map[string]string) *names {
	return &names{shared: shared, own: map[string]string{}}
}

// real replaces the ids in a text by those of this run.
func (n *names) real(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := maps.Clone(n.shared)
	maps.Copy(known, n.own)
	for _, form := range []*regexp.Regexp{wholeID, peerID, shortID} {
		text = form.ReplaceAllStringFunc(text, func(id string) string {
			if is, met := known[id]; met {
				return is
			}
			return id
		})
	}
	return text
}

var (
	wholeID = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	peerID  = regexp.MustCompile(`\b12D3KooW[0-9A-Za-z]{44}\b`)
	shortID = regexp.MustCompile(`\b[0-9a-f]{8}\b`)
	// parts of an expected text, longer ones first
	pieces = regexp.MustCompile(`\b[0-9a-f]{64}\b|\b12D3KooW[0-9A-Za-z]{44}\b|\b[0-9a-f]{16}\b|\b[0-9a-f]{8}\b|\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?Z|` + spoken + `|` + number + `|█+|\s*…\s*|\s+|[^\s]`)
)

// spoken matches an id in words.
const spoken = `\b[a-z]{5}(?:-[a-z]{5}){3}\b`

const number = `-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?`

// match compares output with what a guide shows, and learns the ids in it.
func (n *names) match(want, got string) error {
	var form strings.Builder
	var learned []string
	form.WriteString(`(?s)^`)
	for _, piece := range pieces.FindAllString(strings.TrimSpace(n.real(want)), -1) {
		id := peerID.MatchString(piece) || wholeID.MatchString(piece) || shortID.MatchString(piece) && strings.ContainsAny(piece, "abcdef")
		switch {
		case id && n.isReal(piece):
			form.WriteString(regexp.QuoteMeta(piece))
		case id:
			learned = append(learned, piece)
			fmt.Fprintf(&form, `([0-9A-Za-z]{%d})`, len(piece))
		case strings.Contains(piece, "…"):
			form.WriteString(`.*?`)
		case strings.TrimSpace(piece) == "":
			form.WriteString(`\s+`)
		case strings.HasPrefix(piece, "█"):
			form.WriteString(`█*`)
		case regexp.MustCompile(`^` + spoken + `$`).MatchString(piece):
			form.WriteString(spoken)
		case len(piece) == 16 && !strings.Contains(piece, "."):
			form.WriteString(`[0-9a-f]{16}`)
		case strings.Contains(piece, "T") && len(piece) > 10:
			form.WriteString(`\d{4}-\d\d-\d\dT[\d:]+Z`)
		case regexp.MustCompile(`^` + number + `$`).MatchString(piece):
			form.WriteString(number)
		default:
			form.WriteString(regexp.QuoteMeta(piece))
		}
	}
	form.WriteString(`$`)
	found := regexp.MustCompile(form.String()).FindStringSubmatch(strings.TrimSpace(got))
	if found == nil {
		return fmt.Errorf("printed is\n%s\nand the guide shows\n%s", got, want)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, id := range learned {
		n.own[id] = found[i+1]
		if wholeID.MatchString(id) {
			n.own[id[:8]] = found[i+1][:8]
		}
	}
	return nil
}

// isReal reports whether an id is of this run.
func (n *names) isReal(id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, known := range []map[string]string{n.shared, n.own} {
		for _, is := range known {
			if is == id {
				return true
			}
		}
	}
	return false
}

// The comparison distinguishes ids, and words.
func TestGuideOutput(t *testing.T) {
	id, other := strings.Repeat("a1b2c3d4", 8), strings.Repeat("0f1e2d3c", 8)
	real1, real2 := strings.Repeat("12ab34cd", 8), strings.Repeat("98ef76ab", 8)
	n := newNames(map[string]string{})
	if err := n.match("study "+id+", 3 of 4\n…\nend", "study "+real1+",  1.5e+07 of 9\nx\n y\nend\n"); err != nil {
		t.Error(err)
	}
	if got := n.real("run a1b2c3d4 " + id); got != "run 12ab34cd "+real1 {
		t.Errorf("real: %s", got)
	}
	if err := n.match("again a1b2c3d4, first "+other, "again 12ab34cd, first "+real2); err != nil {
		t.Error(err)
	}
	for want, got := range map[string]string{
		"again a1b2c3d4":   "again 98ef76ab",
		"approved: 1":      "declined: 1",
		"x\n…\nend":        "x\ny",
		"at 2026-01-01T…Z": "at noon",
	} {
		if n.match(want, got) == nil {
			t.Errorf("%q passes for %q", got, want)
		}
	}
}
