//go:build unix

package cmd_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A test runs every command in the documents, or a line here says why not.

// documents reads every Markdown file of the repository.
func documents(t *testing.T) (all []document) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		all = append(all, readDocument(filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator))), string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 15 {
		t.Fatalf("only %d documents found", len(all))
	}
	return all
}

// followed are the documents that a test of this package follows block by block.
var followed = []string{"README.md", "docs/steward.md", "docs/operator.md", "docs/tutorial.md"}

// elsewhere are the blocks that other tests run, by document: one of each language, but for Python
// all.
var elsewhere = map[string]string{
	"docs/api.md":    "../node/pages/browser/example_test.go",
	"docs/python.md": "../clients/python/tests/test_documents.py",
}

// shells are the languages of blocks that must be run.
var shells = []string{"sh", "bash", "shell", "console", "python", "powershell"}

// command matches a line that somebody would type.
var command = regexp.MustCompile(`^(\s{4,}|\$ )?(party|aggregator|go|curl|docker|sudo|systemctl|python3?|git|cp|export) +\S`)

// others are the tests that run the blocks of `sh not NAME`.
var others = map[string]string{
	"systemd":  "../docs/systemd_test.go",
	"scale":    "../clients/python/tests/test_scale.py",
	"docker":   "../docs/image_test.go",
	"install":  "../.ci/pack/install_test.go",
	"measure":  "../research/measure_test.go",
	"webhook":  "webhook_test.go",
	"defaults": "../research/defaults_test.go",
	"itself":   "", // go test ./...
}

// Every block of commands is run: by following a guide, by a test that is named here, or, for `sh
// script`, by a script of testdata that types its lines one after the other.
func TestEveryBlockIsRun(t *testing.T) {
	scripts, ran, lines := playedLines(t), 0, 0
	for _, d := range documents(t) {
		found := map[string]int{}
		for _, b := range playedBlocks(d) {
			lines += len(typedLines(b.text))
			if !slices.ContainsFunc(scripts, func(script []played) bool { return plays(script, b) }) {
				t.Errorf("%s: no script of testdata types these lines:\n%s", b, b.text)
			}
		}
		for _, b := range d.blocks {
			language := ""
			if len(b.info) > 0 {
				language = b.info[0]
			}
			switch {
			case !slices.Contains(shells, language):
				for line := range strings.SplitSeq(b.text, "\n") {
					if (language == "" || language == "text" && !slices.Contains(followed, d.file)) && command.MatchString(line) {
						t.Errorf("%s: no test runs %q: make it a block of `sh script`", b, line)
					}
				}
			case slices.Equal(b.info, []string{"sh", "script"}):
			case len(b.info) > 2 && b.info[1] == "not":
				ran++
				runsOther(t, b)
			case slices.Contains(followed, d.file) && language == "sh" && len(b.info) > 1:
				ran++ // its form is checked when it is followed
			case elsewhere[d.file] != "" && len(b.info) == 1:
				found[language]++
				ran++
			default:
				t.Errorf("%s: no test runs this block: write `sh ROLE` in a guide that is followed, or `sh script`", b)
			}
		}
		for language, n := range found {
			text, err := os.ReadFile(elsewhere[d.file])
			if n != 1 && !strings.HasSuffix(elsewhere[d.file], ".py") || err != nil || !strings.Contains(string(text), d.file) || !strings.Contains(string(text), `"`+language+`"`) {
				t.Errorf("%s has %d blocks of %s, and %s runs one: %v", d.file, n, language, elsewhere[d.file], err)
			}
		}
		for _, line := range d.prose {
			if strings.HasPrefix(line, "    ") && command.MatchString(line) {
				t.Errorf("%s: no test runs %q: make it a block of `sh script`", d.file, line)
			}
		}
	}
	if ran < 40 || lines < 20 {
		t.Errorf("only %d blocks and %d lines of scripts found", ran, lines)
	}
}

// runsOther checks that the test named in others reads the blocks of a document.
func runsOther(t *testing.T, b block) {
	t.Helper()
	file, known := others[strings.Join(b.info[2:], " ")]
	if known && file == "" {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), strings.Join(b.info, " ")) || !strings.Contains(string(text), filepath.Base(b.file)) {
		t.Errorf("%s: no test runs blocks of %q: %v", b, b.info, err)
	}
}

// typed is a command: its program, its name, and its flags.
type typed struct {
	program string
	words   []string // the command's name: one word, or two if the first is a group
	flags   []string
}

var (
	option     = regexp.MustCompile(`^--?[a-z][a-z-]*`)
	subcommand = regexp.MustCompile(`^[a-z][a-z-]*$`)
	groups     = []string{"advanced", "budget", "config", "data", "identity", "log", "steward", "study", "token", "webhook"}
	settings   = []string{"--format", "--state", "--config", "--log-level"} // their values are not subcommands
)

// parseCommand parses a line; its program is empty if it is not one of ours.
func parseCommand(line string) (c typed) {
	line, _, _ = strings.Cut(line, " #")
	words := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(line))
	if len(words) == 0 || words[0] != "party" && words[0] != "aggregator" {
		return typed{}
	}
	c.program = words[0]
	open := true
	for i := 1; i < len(words); i++ {
		if slices.Contains([]string{"|", ">", "&", "&&", "<"}, words[i]) {
			break
		}
		if f := option.FindString(words[i]); f != "" {
			c.flags = append(c.flags, f)
			if slices.Contains(settings, words[i]) {
				i++
			}
			continue
		}
		if open = open && subcommand.MatchString(words[i]); open {
			c.words = append(c.words, words[i])
			open = slices.Contains(groups, words[i])
		}
	}
	return c
}

// span matches code in a line.
var span = regexp.MustCompile("`((?:party|aggregator) [^`]+)`")

// Every command and every flag that a document names exists.
func TestNamedCommandsExist(t *testing.T) {
	helps := map[string]string{}
	help := func(c typed) string {
		key := c.program + " " + strings.Join(c.words, " ")
		if text, known := helps[key]; known {
			return text
		}
		cmd := exec.Command(filepath.Join(programs, c.program), append(slices.Clone(c.words), "--help")...)
		cmd.Env = []string{"HOME=" + t.TempDir()}
		out, err := cmd.CombinedOutput()
		text := string(out)
		if err != nil || !strings.HasPrefix(text, "Usage: "+c.program+" ") {
			text = ""
		}
		helps[key] = text
		return text
	}
	seen := 0
	for _, d := range documents(t) {
		if d.file == "CHANGELOG.md" { // about the past
			continue
		}
		for _, m := range span.FindAllStringSubmatch(strings.Join(d.prose, "\n"), -1) {
			c := parseCommand(strings.ReplaceAll(m[1], "\n", " "))
			if len(c.words) == 0 {
				continue
			}
			seen++
			text, named := help(c), len(c.words)
			for text == "" && len(c.words) > 1 { // the rest is an argument, such as a kind of analysis
				c.words = c.words[:len(c.words)-1]
				text = help(c)
			}
			if text == "" || strings.HasPrefix(text, "Usage: "+c.program+" <command>") || len(c.words) < named && strings.HasPrefix(text, "Usage: "+c.program+" "+strings.Join(c.words, " ")+" <command>") {
				t.Errorf("%s: there is no command %q", d.file, m[1])
				continue
			}
			for _, f := range c.flags {
				if !regexp.MustCompile(`(^|[\s,])` + regexp.QuoteMeta(f) + `\b`).MatchString(text) {
					t.Errorf("%s: %q: %s has no flag %s", d.file, m[1], strings.Join(c.words, " "), f)
				}
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d commands found", seen)
	}
}

// A block without a test, and the commands in it, are found.
func TestBlocksThatNothingRuns(t *testing.T) {
	d := readDocument("x.md", "text\n```sh\nparty status\n```\n\n    party run x\n```\naggregator status\n```\n")
	if len(d.blocks) != 2 || len(d.blocks[0].info) != 1 || !command.MatchString(strings.TrimSpace(d.blocks[1].text)) || !command.MatchString(d.prose[2]) {
		t.Errorf("read %+v", d)
	}
	doc := parseCommand("party --format json advanced query STUDY new.csv --dry-run  # what it would cost")
	if fmt.Sprint(doc) != "{party [advanced query] [--format --dry-run]}" {
		t.Errorf("parsed %v", doc)
	}
}

// TestReadmeOnALaptop runs what the README suggests to try first.
func TestReadmeOnALaptop(t *testing.T) {
	if os.Getenv("COSKETCH_FULL") != "1" {
		t.Skip("COSKETCH_FULL=1 runs the README's demonstration, which builds the programs again")
	}
	ran := 0
	for _, s := range readGuide(t, "../README.md") {
		if s.kind != stepRun || s.role != "laptop" {
			continue
		}
		ran++
		cmd := exec.CommandContext(t.Context(), "sh", "-euc", s.text)
		cmd.Dir, cmd.WaitDelay = "..", time.Minute
		if _, err := os.Stat("../report.html"); err != nil {
			t.Cleanup(func() { os.Remove("../report.html") })
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", s, err, out)
		}
	}
	if ran == 0 {
		t.Error("the README runs nothing")
	}
}
