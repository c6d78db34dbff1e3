package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/program"
)

func TestWrongArguments(t *testing.T) {
	for _, args := range [][]string{{"--study", "nosuch"}, {"--format", "yaml"}, {"--nosuch"}, {"nosuch"},
		{"run", "--study", "nosuch"}, {"bench"}, {"papers"},
		{"network", "nosuch"}, {"network", "cancer", "--data", "nosuch"}, {"up", "nosuch"}, {"up", "cancer"}, {"up", "--pace", "-1s"},
		{"kill", "--dir", "nosuch", "north"}, {"ask", "--dir", "nosuch", "north", "status"}, {"ask", "north"}, {"status", "--dir", "nosuch"}, {"down", "--dir", "nosuch"}, {"study", "--dir", "nosuch"}, {"kill"},
		{"chaos", "--rounds", "0"}, {"hostile", "--peers", "2"}, {"hostile", "--studies", "0"}, {"hostile", "--for", "-1s"},
		{"upgrade"}, {"upgrade", "--before", "nosuch"}, {"upgrade", "--from", "HEAD", "--before", "."}, {"upgrade", "--from", "HEAD", "--state", "nosuch"}} {
		var out, talk strings.Builder
		if code := run(args, &out, &talk); code != program.Usage {
			t.Errorf("%v: exit code %d, want %d", args, code, program.Usage)
		}
		if out.Len() > 0 || !strings.HasPrefix(talk.String(), "testnet: ") {
			t.Errorf("%v: stdout %q, stderr %q", args, out.String(), talk.String())
		}
	}
}

func TestChoose(t *testing.T) {
	chosen, err := demo{Seed: 1, Study: []string{"hospitals-sparse", "laboratories"}}.choose()
	if err != nil {
		t.Fatal(err)
	}
	if len(chosen) != 2 || chosen[0].Name != "laboratories" {
		t.Errorf("chose %d studies, want laboratories before hospitals-sparse", len(chosen))
	}
	if _, err := (demo{Study: []string{"x"}}).choose(); err == nil || !strings.Contains(err.Error(), networks.DemoNames()[0]) {
		t.Errorf("error %v, want the names that there are", err)
	}
}

// The simulation counts outcomes, and the state tables have an owner for every wait.
func TestSimulate(t *testing.T) {
	var out, talk strings.Builder
	if code := run([]string{"simulate", "--schedules", "4", "--seed", "7"}, &out, &talk); code != program.OK || talk.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", code, talk.String())
	}
	if !strings.HasPrefix(out.String(), "schedules            4,") || !strings.Contains(out.String(), "faults proved") {
		t.Errorf("counted\n%s", out.String())
	}
	out.Reset()
	if code := run([]string{"simulate", "--parties", "5", "--liar"}, &out, &talk); code != program.OK || talk.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", code, talk.String())
	}
	if !strings.HasPrefix(out.String(), "5 parties have a result after 2 of the study's attempts. Each read ") || !strings.Contains(out.String(), "\nConvicted: share/1 from ") {
		t.Errorf("many parties:\n%s", out.String())
	}
	for want, wrong := range map[string][]string{"name --parties, too": {"--liar"}, "--parties 2: ": {"--parties", "2"}, "--parties 1001: ": {"--parties", "1001"}} {
		var talk strings.Builder
		if code := run(append([]string{"simulate"}, wrong...), io.Discard, &talk); code != program.Usage || !strings.Contains(talk.String(), want) {
			t.Errorf("%v: exit code %d, stderr %q", wrong, code, talk.String())
		}
	}
	out.Reset()
	if code := run([]string{"simulate", "--states"}, &out, &talk); code != program.OK {
		t.Errorf("exit code %d", code)
	}
	if waits := strings.Count(out.String(), "waits for"); waits < 10 || waits != strings.Count(out.String(), "from   ") || waits != strings.Count(out.String(), "until  ") {
		t.Errorf("the tables are\n%s", out.String())
	}
}

// Every command of this program that a document shows exists, with its flags.
func TestDocumentsNameCommands(t *testing.T) {
	var chosen commands
	parser, err := newParser(&chosen, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`go run \./testnet([^` + "`" + `\n]*)`)
	rows := regexp.MustCompile(`(?m)^\| (` + "`" + `[a-z]+[^|]*) \|`)
	seen := 0
	for _, file := range append(files, "../README.md", "../research/README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := shown.FindAllStringSubmatch(string(text), -1)
		if _, table, found := strings.Cut(string(text), "| `go run ./testnet …` | |"); found {
			table, _, _ = strings.Cut(table, "\n\n")
			for _, row := range rows.FindAllStringSubmatch(table, -1) {
				for word := range strings.SplitSeq(strings.ReplaceAll(row[1], "`", ""), ",") {
					lines = append(lines, []string{"", word})
				}
			}
		}
		for _, line := range lines {
			seen++
			if wrong := unknown(parser.Model.Node, strings.Fields(line[1])); wrong != "" {
				t.Errorf("%s: testnet%s: there is no %s", file, line[1], wrong)
			}
		}
	}
	if seen < 25 {
		t.Errorf("only %d commands found", seen)
	}
}

// unknown returns the first word that is neither a command nor one of its flags.
func unknown(at *kong.Node, words []string) string {
	flags := slices.Clone(at.Flags)
	for i, word := range words {
		name, isFlag := strings.CutPrefix(word, "--")
		switch {
		case isFlag:
			name, _, _ = strings.Cut(name, "=")
			name = strings.TrimPrefix(name, "no-")
			if i == 0 { // flags of the default command
				for _, child := range at.Children {
					flags = append(flags, child.Flags...)
				}
			}
			if !slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Name == name || f.Name == "no-"+name }) {
				return word
			}
		case i == 0 && word != "…" && !strings.HasPrefix(word, "#"):
			child := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == word })
			if child < 0 {
				return "command " + word
			}
			flags = append(flags, at.Children[child].Flags...)
		}
		if i == 0 && word == "ask" { // the rest is for another program
			return ""
		}
	}
	return ""
}

func TestUnknownCommands(t *testing.T) {
	var chosen commands
	parser, err := newParser(&chosen, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"": "", "up NAME --dir DIR": "", "--format json": "", "ask north budget --nosuch": "", "up --no-restart": "",
		"nosuch": "command nosuch", "up --nosuch": "--nosuch", "--nosuch": "--nosuch",
	} {
		if got := unknown(parser.Model.Node, strings.Fields(line)); got != want {
			t.Errorf("%q: no %q, want %q", line, got, want)
		}
	}
}
