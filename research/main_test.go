package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/testnet/program"
)

func TestWrongArguments(t *testing.T) {
	for _, args := range [][]string{{}, {"--nosuch"}, {"nosuch"}, {"up"},
		{"bench", "--rows", "0"}, {"bench", "--large"}, {"bench", "--study", "laboratories"},
		{"papers", "--table", "nosuch"}, {"papers", "--repeats", "1"}, {"papers", "--data", "nosuch"},
		{"coverage", "--seeds", "1"}, {"coverage", "--format", "yaml"}, {"union", "--trials", "0"}, {"union", "--epsilon", "0"},
		{"scale", "--parties", "1"}, {"scale", "--masked"}, {"wide", "--mechanisms", "gaussian"}, {"figures", "--rows", "0"},
		{"mutate", "--count", "0"}, {"mutate", "--packages", "nosuch"},
		{"mechanisms", "--k", "0"}, {"mechanisms", "--epsilon", "0"}, {"mechanisms", "--simulate", "--trials", "5"}} {
		var out, talk strings.Builder
		if code := run(args, &out, &talk); code != program.Usage {
			t.Errorf("%v: exit code %d, want %d", args, code, program.Usage)
		}
		if out.Len() > 0 || !strings.HasPrefix(talk.String(), "research: ") {
			t.Errorf("%v: stdout %q, stderr %q", args, out.String(), talk.String())
		}
	}
}

// Every command of this program in a document exists, with its flags.
func TestDocumentsNameCommands(t *testing.T) {
	docs, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`go run -C research \. ([^` + "`" + `\n]*)`)
	rows := regexp.MustCompile(`(?m)^\| (` + "`" + `[a-z]+[^|]*) \|`)
	seen := 0
	for _, file := range slices.Concat(docs, own, []string{"README.md", "../README.md"}) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, line := range shown.FindAllStringSubmatch(string(text), -1) {
			lines = append(lines, line[1])
		}
		if _, table, found := strings.Cut(string(text), "| `go run -C research . …` | |"); found {
			table, _, _ = strings.Cut(table, "\n\n")
			for _, row := range rows.FindAllStringSubmatch(table, -1) {
				lines = append(lines, strings.Split(strings.ReplaceAll(row[1], "`", ""), ",")...)
			}
		}
		for _, line := range lines {
			if line == "…" {
				continue
			}
			seen++
			var chosen commands
			parser, err := newParser(&chosen, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(strings.Fields(line)); err != nil {
				t.Errorf("%s: %s: %v", file, line, err)
			}
		}
	}
	if seen < 15 {
		t.Errorf("only %d commands found", seen)
	}
}
