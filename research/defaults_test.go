package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/research/defaults"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/program"
)

// Missing data are a failure, and no table is printed.
func TestDefaultsNeedTheirData(t *testing.T) {
	t.Setenv(corpus.Variable, "")
	for _, args := range [][]string{{"defaults"}, {"defaults", "--data", t.TempDir()}} {
		var out, talk strings.Builder
		if code := run(args, &out, &talk); code != program.Failed || out.Len() > 0 || talk.Len() == 0 {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out.String(), talk.String())
		}
	}
	var out, talk strings.Builder
	if code := run([]string{"defaults", "--seeds", "1"}, &out, &talk); code != program.Usage || !strings.Contains(talk.String(), "2 seeds") {
		t.Errorf("one seed: exit code %d, %q", code, talk.String())
	}
}

// The command of README.md runs, here for one data set, and its exit code follows from the rows.
func TestDefaultsRun(t *testing.T) {
	if os.Getenv(corpus.Variable) == "" {
		t.Skip(corpus.ErrNone)
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```sh not defaults\n")
	block, _, _ = strings.Cut(block, "\n```")
	args, found := strings.CutPrefix(strings.ReplaceAll(block, "DIR", os.Getenv(corpus.Variable)), "go run -C research . ")
	if !found {
		t.Fatalf("not a command of the laboratory: %q", block)
	}
	var out, talk strings.Builder
	code := run(append(strings.Fields(args), "--seeds", "2", "--only", "heart", "--format", "json"), &out, &talk)
	var rows []defaults.Row
	if err := json.Unmarshal([]byte(out.String()), &rows); err != nil || len(rows) < 20 {
		t.Fatalf("%d rows, %v: %s", len(rows), err, talk.String())
	}
	want := program.OK
	if defaults.Failed(rows) {
		want = program.Failed
	}
	if code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	out.Reset()
	if code := run([]string{"defaults", "--seeds", "2", "--only", "no such"}, &out, &talk); code != program.Failed || !strings.Contains(talk.String(), "no setting") {
		t.Errorf("an unknown setting: exit code %d, %q", code, talk.String())
	}
}
