package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Scripts of testdata type the lines of `sh script` blocks literally, one after the other:
//
//	line a docs/steward.md 'party advanced release STUDY'
//	exec sh -c $LINE
//	stdout '^to be released'

// block is a fenced block of a document.
type block struct {
	file string // slash-separated, from the module's root
	line int
	info []string // the words after the backticks
	text string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.file, b.line) }

// document is a Markdown file: its blocks, and the lines outside blocks.
type document struct {
	file   string
	blocks []block
	prose  []string
}

// readDocument cuts a text into blocks and the rest.
func readDocument(file, text string) document {
	d := document{file: file}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		info, fenced := strings.CutPrefix(strings.TrimLeft(lines[i], " "), "```")
		if !fenced {
			d.prose = append(d.prose, lines[i])
			continue
		}
		b := block{file: file, line: i + 1, info: strings.Fields(info)}
		var body []string
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "```"; i++ {
			body = append(body, lines[i])
		}
		b.text = strings.Join(body, "\n") + "\n"
		d.blocks = append(d.blocks, b)
	}
	return d
}

// typedLines are the lines of a block that somebody types, without comments.
func typedLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// playedBlocks are a document's blocks of `sh script`.
func playedBlocks(d document) (blocks []block) {
	for _, b := range d.blocks {
		if slices.Equal(b.info, []string{"sh", "script"}) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

var (
	shownID  = regexp.MustCompile(`\b[0-9a-f]{8}\b`)
	standsIn = regexp.MustCompile(`\b[A-Z]{3,}\b`)
	reader   = regexp.MustCompile(`\bnorth\b`) // the guides address their reader as north
)

// line NODE DOCUMENT TEXT sets $LINE to a line of a document's `sh script` block, as the node's
// owner types it. Ids and STUDY become $STUDY, a word in capitals becomes the script's variable of
// that name, and north becomes the node. The program replaces the shell (exec), so that a failing
// script can end it.
func typedLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: line NODE DOCUMENT TEXT")
	}
	node, file, text := args[0], args[1], args[2]
	source, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(file)))
	ts.Check(err)
	if !slices.ContainsFunc(playedBlocks(readDocument(file, string(source))), func(b block) bool { return slices.Contains(typedLines(b.text), text) }) {
		ts.Fatalf("no block of `sh script` in %s has the line %q", file, text)
	}
	text = shownID.ReplaceAllString(text, "STUDY")
	text = reader.ReplaceAllString(text, node)
	text = standsIn.ReplaceAllStringFunc(text, func(word string) string {
		if value := ts.Getenv(word); value != "" {
			return value
		}
		return word
	})
	program, _ := at(node)
	state := filepath.Join(ts.Getenv("WORK"), node)
	ts.Setenv("LINE", fmt.Sprintf("export %[1]s_STATE='%[2]s' %[1]s_CONFIG='%[2]s.yaml'; exec %[3]s", strings.ToUpper(program), state, text))
}

// played is a line of a document that a script of testdata types.
type played struct{ file, text string }

var playedForm = regexp.MustCompile(`^line \S+ (\S+) (?:'((?:[^']|'')*)'|(\S+))$`)

// playedLines are the lines of documents that scripts type successfully, script by script.
func playedLines(t *testing.T) (scripts [][]played) {
	t.Helper()
	for _, pattern := range []string{"testdata/*.txtar", "testdata/*/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var all []played
			lines := strings.Split(string(text), "\n")
			for i, line := range lines {
				m := playedForm.FindStringSubmatch(line)
				if m == nil {
					continue
				}
				if next := strings.Join(lines[i+1:min(i+3, len(lines))], "\n"); !regexp.MustCompile(`^(ttyin -stdin \S+\n)?exec sh -c \$LINE\b`).MatchString(next) {
					t.Errorf("%s:%d: what follows does not type the line", file, i+1)
				}
				all = append(all, played{m[1], strings.ReplaceAll(m[2]+m[3], "''", "'")})
			}
			scripts = append(scripts, all)
		}
	}
	return scripts
}

// plays reports whether a script types all lines of a block in order.
func plays(script []played, b block) bool {
	left := typedLines(b.text)
	for _, p := range script {
		if len(left) > 0 && p == (played{b.file, left[0]}) {
			left = left[1:]
		}
	}
	return len(left) == 0
}

// A block does not count as played if it is played partly, in another order or from another
// document.
func TestPlayedBlocks(t *testing.T) {
	d := readDocument("docs/x.md", "```sh script\nparty advanced release STUDY   # now\n\nparty status\n```\n```sh\nparty run x\n```\n")
	blocks := playedBlocks(d)
	if len(blocks) != 1 {
		t.Fatalf("found %v", blocks)
	}
	release, status := played{"docs/x.md", "party advanced release STUDY"}, played{"docs/x.md", "party status"}
	for _, c := range []struct {
		script []played
		want   bool
	}{
		{[]played{release, release, status}, true},
		{[]played{status, release}, false},
		{[]played{release}, false},
		{[]played{release, {"docs/y.md", "party status"}}, false},
	} {
		if plays(c.script, blocks[0]) != c.want {
			t.Errorf("%v plays the block: %v, want %v", c.script, !c.want, c.want)
		}
	}
}
