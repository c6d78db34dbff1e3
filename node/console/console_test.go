package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Data go to stdout in the requested format, messages to stderr and only to people, and an error is
// reported once.
func TestFormats(t *testing.T) {
	value := map[string]int{"n": 1}
	for _, c := range []struct {
		format         Format
		out, talk, err string
		hints          int // how often an error says what to do
	}{
		{Text, "n is 1\n", "talk\n", "party: it broke\n", 1},
		{JSON, "{\n  \"n\": 1\n}\n", "", "{\"error\":\"it broke\",\"code\":7,\"id\":\"budget\"}\n", 2},
		{Lines, "{\"n\":1}\n", "", "{\"error\":\"it broke\",\"code\":7,\"id\":\"budget\"}\n", 2},
	} {
		t.Run(string(c.format), func(t *testing.T) {
			var out, talk strings.Builder
			console := &Console{Out: &out, Err: &talk, Format: c.format}
			if err := console.Print(value, func(w io.Writer) { fmt.Fprintf(w, "n is %d\n", value["n"]) }); err != nil {
				t.Fatal(err)
			}
			console.Say("%s", "talk")
			if out.String() != c.out || talk.String() != c.talk {
				t.Errorf("stdout %q, stderr %q; want %q and %q", out.String(), talk.String(), c.out, c.talk)
			}
			talk.Reset()
			if code := console.report("party", fail.Budget.Of(errors.New("it broke"))); code != fail.Budget || talk.String() != c.err {
				t.Errorf("code %d, stderr %q; want 7 and %q", code, talk.String(), c.err)
			}
			talk.Reset()
			console.report("party", fmt.Errorf("looking: %w", fail.NothingHeld))
			if hint := fail.NothingHeld.Remedy(); strings.Count(talk.String(), hint) != c.hints || !strings.Contains(talk.String(), "looking: nothing is held yet ("+hint+")") {
				t.Errorf("stderr %q, which does not say to do %q", talk.String(), hint)
			}
			talk.Reset()
			if code := console.report("party", nil); code != fail.OK || talk.Len() > 0 {
				t.Errorf("without an error: code %d, stderr %q", code, talk.String())
			}
			if err := console.Print(make(chan int), func(io.Writer) {}); (err == nil) != (c.format == Text) {
				t.Errorf("printing what is no data: %v", err)
			}
		})
	}
}

func TestAskedFormat(t *testing.T) {
	for _, c := range []struct {
		env  string
		args string
		want Format
	}{
		{"", "status", Text},
		{"", "--format json rnu", JSON},
		{"", "rnu --format=jsonl", Lines},
		{"", "rnu --format", Text},
		{"", "--format xml", Text},
		{"json", "rnu", JSON},
		{"json", "--format text rnu", Text},
	} {
		t.Setenv("PARTY_FORMAT", c.env)
		if got := (Program{Name: "party"}).askedFormat(strings.Fields(c.args)); got != c.want {
			t.Errorf("PARTY_FORMAT=%s party %s: %q, want %q", c.env, c.args, got, c.want)
		}
	}
}

func TestWriteTemplateKeepsWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "party.yaml")
	for _, text := range []string{"first", "second"} {
		if err := WriteTemplate(path, text); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "first" {
		t.Errorf("%q, %v; want the first text", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if err := WriteTemplate(filepath.Join(path, "below"), "x"); fail.Find(err).Exit != fail.Usage {
		t.Errorf("below a file: %v with code %d, want %d", err, fail.Find(err).Exit, fail.Usage)
	}
}
