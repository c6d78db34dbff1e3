package console

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cosketch/cosketch/protocol/analysis"
)

var rewrite = flag.Bool("rewrite", false, "write golden files instead of comparing with them")

// Each testdata/NAME.json is a result document, NAME.txt what people are shown of it.
func TestWriteResult(t *testing.T) {
	for _, path := range documents(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var out strings.Builder
			writeResult(&out, decode(t, path))
			golden := strings.TrimSuffix(path, ".json") + ".txt"
			if *rewrite {
				if err := os.WriteFile(golden, []byte(out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if out.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", out.String(), want)
			}
		})
	}
}

func documents(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents in testdata (%v)", err)
	}
	return paths
}

func decode(t testing.TB, path string) analysis.Result {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r analysis.Result
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Whatever an aggregator makes up, a party's terminal shows lines of printable text
// that fit, and the program survives.
func FuzzWriteResult(f *testing.F) {
	for _, path := range documents(f) {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(raw))
	}
	f.Add(`{"parties":[{"name":"\u001b[2J"}],"analyses":[{"kind":"a\u0007b","features":[{"column":"\u202e"}],"pairs":[{"i":-1,"j":9,"estimate":1}]}]}`)
	f.Add(`{"study":"\u00e9","analyses":[{"clusters":3,"sizes":[-1,0,9223372036854775807]}]}`)
	f.Fuzz(func(t *testing.T, document string) {
		var r analysis.Result
		if json.Unmarshal([]byte(document), &r) != nil {
			t.Skip()
		}
		var out strings.Builder
		writeResult(&out, r)
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("line of %d columns: %q", n, line)
			}
			for _, c := range line {
				if !unicode.IsPrint(c) {
					t.Fatalf("line %q has %q", line, c)
				}
			}
		}
	})
}

func TestTableFitsItsText(t *testing.T) {
	table := NewTable("name", ">number", "other")
	table.Add(strings.Repeat("n", 90), "12345678", strings.Repeat("o", 30))
	table.Add("short", "1", "x\x1b[31m\ny")
	var out strings.Builder
	table.Write(&out)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines:\n%s", len(lines), out.String())
	}
	if n := utf8.RuneCountInString(lines[1]); n != width {
		t.Errorf("the widest row has %d columns, want %d: %q", n, width, lines[1])
	}
	if !strings.Contains(lines[1], "12345678") || !strings.Contains(lines[1], "n…n") {
		t.Errorf("the name gives way, not the number: %q", lines[1])
	}
	if !strings.HasSuffix(lines[2], "x·[31m·y") {
		t.Errorf("control characters were let through: %q", lines[2])
	}
}

func TestParagraphBreaksBetweenWords(t *testing.T) {
	var out strings.Builder
	Paragraph(&out, "  ", strings.Repeat("twelve chars ", 20)+strings.Repeat("x", 200))
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width || !strings.HasPrefix(line, "  ") {
			t.Errorf("line of %d columns: %q", n, line)
		}
	}
	if got := strings.Count(out.String(), "twelve"); got != 20 {
		t.Errorf("%d of 20 words arrived", got)
	}
}

func ExampleNewTable() {
	table := NewTable("party", ">records")
	table.Add("north", "7")
	table.Add("west", "1200")
	table.Write(os.Stdout)
	// Output:
	//   party  records
	//   north        7
	//   west      1200
}
