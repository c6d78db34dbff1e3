package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/testnet/program"
)

// The measurements of scale in README.md run and print a table. They keep their flags, but have two parties
// (three where sums are masked) and the smallest release that a line names, each once.
func TestMeasurementsRun(t *testing.T) {
	full.Only(t, "runs studies on real processes")
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	var lines []string
	for _, block := range strings.Split(string(text), "```sh not measure\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		lines = append(lines, strings.Split(strings.TrimSpace(block), "\n")...)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "go run -C research . scale ") {
			continue
		}
		args := smallest(strings.Fields(line)[5:])
		if ran[strings.Join(args, " ")] {
			continue
		}
		ran[strings.Join(args, " ")] = true
		var out, talk strings.Builder
		if code := run(args, &out, &talk); code != program.OK {
			t.Errorf("%v: exit code %d:\n%s", args, code, talk.String())
		}
		if rows := strings.Split(strings.TrimSpace(out.String()), "\n"); len(rows) != 2 || !strings.Contains(rows[0], "parties") || !strings.HasSuffix(strings.TrimSpace(rows[0]), "its disk, MB") {
			t.Errorf("%v prints\n%s", args, out.String())
		}
	}
	if len(ran) < 7 {
		t.Errorf("%d measurements found", len(ran))
	}
}

// smallest reduces the sizes of a measurement.
func smallest(args []string) (out []string) {
	parties := "2"
	if slices.Contains(args, "--masked") {
		parties = "3"
	}
	for i, word := range args {
		if i > 0 && (args[i-1] == "--megabytes" || args[i-1] == "--rounds") {
			word, _, _ = strings.Cut(word, ",")
		}
		if i > 0 && args[i-1] == "--parties" {
			word = parties
		}
		out = append(out, word)
	}
	return out
}
