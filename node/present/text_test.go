package present

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cosketch/cosketch/protocol/block"
)

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
	if n := utf8.RuneCountInString(lines[1]); n != Width {
		t.Errorf("the widest row has %d columns, want %d: %q", n, Width, lines[1])
	}
	if !strings.Contains(lines[1], "12345678") || !strings.Contains(lines[1], "n…n") {
		t.Errorf("the name gives way, not the number: %q", lines[1])
	}
	if !strings.HasSuffix(lines[2], "x·[31m·y") {
		t.Errorf("control characters were let through: %q", lines[2])
	}
}

// A column marked whole is never shortened, and takes no room from the others.
func TestWholeColumns(t *testing.T) {
	var out strings.Builder
	note := strings.Repeat("n", 200)
	Text(&out, []block.Block{block.Table{Columns: []block.Column{block.Words("what"), {Name: "note", NoTruncate: true}}, Rows: [][]block.Cell{block.Cells("uploading", note)}}})
	if want := "  what       note\n  uploading  " + note + "\n"; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestParagraphBreaksBetweenWords(t *testing.T) {
	var out strings.Builder
	Paragraph(&out, "  ", strings.Repeat("twelve chars ", 20)+strings.Repeat("x", 200))
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > Width || !strings.HasPrefix(line, "  ") {
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

func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"short":                          "short",
		"ten chars":                      "ten chars",
		"one two three four":             "one two\nthree four",
		"εεεε εεεεε four":                "εεεε εεεεε\nfour",
		"a /long/path/of/words is it":    "a\n/long/path/of/words\nis it",
		"one two three\nfour":            "one two\nthree\nfour",
		"lines:\n    laid out, and wide": "lines:\n    laid out, and wide",
		"unbroken-and-long":              "unbroken-and-long",
	} {
		if got := Fold(text, 10); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Every block is text, except folded details. A table gives each reason for undefined numbers once,
// and says what it leaves out.
func TestText(t *testing.T) {
	table := block.Table{Caption: "Numbers", Columns: append([]block.Column{block.Words("of"), {Name: "aside", PageOnly: true}}, block.Estimates("estimate", true)...), Of: 30, Things: "numbers, the clearest first"}
	for i, n := range []block.Number{{Value: 0.5, Low: 0.31, High: 0.72, People: true, PeopleLow: 0.1, PeopleHigh: 0.9}, {Undefined: "it is lost"}, {Undefined: "it is lost"}} {
		table.Rows = append(table.Rows, append(block.Cells(string(rune('a'+i)), "never"), n.Cells(true)...))
	}
	var out strings.Builder
	Text(&out, []block.Block{
		block.Text{Text: "What is first."},
		block.Heading{ID: "a", Text: "Means", Of: "Column", Says: "one stands out"},
		block.Text{Tone: block.Warn, Lead: "Caution", Text: "read |\u2060ρ\u2060|\u2060\u00a0≥\u00a01\x1b[2J"},
		block.List{Items: []string{"one", "two"}},
		block.Command{Lines: []string{"party  status", "\x1b"}},
		block.Checks{Items: []block.Check{{Verdict: "FAIL", Text: "clock: it is " + strings.Repeat("very ", 20) + "wrong", Fix: "set it"}}},
		block.Text{Text: "study a"},
		block.Facts{Items: []block.Fact{{Name: "message", Text: "ab", More: "of the board"}}},
		block.Figure{ID: "f", Plot: block.Chart{}},
		block.Fold{Title: "asked", Blocks: []block.Block{block.Text{Text: "never"}}},
		table,
		block.Table{Folded: true, Columns: []block.Column{block.Words("never")}},
	})
	const want = `What is first.

MEANS of Column: one stands out
  CAUTION: read |ρ| ≥ 1·[2J
  - one
  - two
    party  status
    ·
  FAIL clock: it is very very very very very very very very very very very very very very very very
       very very very very wrong
       → set it

  study a
  message: ab, of the board

  Numbers:
  of   estimate  for these records  for people like these
  a        0.50       [0.31, 0.72]           [0.10, 0.90]
  b   undefined
  c   undefined
  undefined: it is lost
  … 3 of 30 numbers, the clearest first; --format json prints all
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
