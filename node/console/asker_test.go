package console

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/protocol/fail"
)

// limit is a question with everything that a question can show.
var limit = joining.Question{
	ID: joining.Use, Asks: "How do the data answer the study?", Why: "The study asks for income.", Open: "nobody limits what is spent",
	Forms: []string{"--column x=y", "a second form"}, Commands: []string{"party data use patients STUDY"},
}

// A person sees the question with its reason, forms and commands once. After a wrong answer only
// what was wrong is shown; an empty line accepts a proposal.
func TestQuestionsAtATerminal(t *testing.T) {
	var said strings.Builder
	c := &Console{In: strings.NewReader("wrong\nx=y\n\n"), Err: &said, Format: Text}
	if err := (typed{c}).Ready(joining.Use); err != nil {
		t.Error(err)
	}
	var got []string
	take := func(line string) error {
		if line == "wrong" {
			return errors.New("it is not like that")
		}
		got = append(got, line)
		return nil
	}
	if err := joining.Ask(t.Context(), typed{c}, limit, take); err != nil {
		t.Fatal(err)
	}
	proposed := limit
	proposed.Proposed = "--cap 2"
	if err := joining.Ask(t.Context(), typed{c}, proposed, take); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []string{"x=y", ""}) {
		t.Errorf("answers %q", got)
	}
	for want, times := range map[string]int{
		limit.Asks: 2, limit.Why: 2, "OPEN: " + limit.Open: 2, "a second form": 2, "party data use patients STUDY": 2,
		"it is not like that": 1, "Answer (Enter: --cap 2)": 1,
	} {
		if n := strings.Count(said.String(), want); n != times {
			t.Errorf("%q is said %d times, want %d:\n%s", want, n, times, said.String())
		}
	}
}

// Answers of a file are printed below their questions, a proposal that is accepted too. A wrong one
// is an error, as is a question that the file does not answer.
func TestQuestionsFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.yaml")
	if err := os.WriteFile(path, []byte("cosketch: answers/1\nuse: [--column x=y, proposed, wrong]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	a, err := NewAsker(&Console{Err: &said, Format: Text}, joining.Join, path)
	if err != nil {
		t.Fatal(err)
	}
	proposed := limit
	proposed.Proposed = "--cap 2"
	for _, want := range []string{"--column x=y", ""} {
		if line, err := a.Answer(t.Context(), proposed, nil); err != nil || line != want {
			t.Errorf("%q, %v, want %q", line, err, want)
		}
	}
	for _, want := range []string{"> --column x=y\n", "> --cap 2\n"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not said:\n%s", want, said.String())
		}
	}
	wrong := errors.New("it is not like that")
	if _, err := a.Answer(t.Context(), limit, wrong); !errors.Is(err, wrong) || !strings.Contains(err.Error(), path) {
		t.Errorf("a wrong answer: %v", err)
	}
	var missing *joining.MissingError
	if err := a.Ready(joining.Use, joining.Data); !errors.As(err, &missing) || !slices.Equal(missing.IDs, []joining.ID{joining.Data}) {
		t.Errorf("what is missing: %v", err)
	}
}

// Without a terminal and without a file nobody can be asked, and a file that cannot be read is
// wrong use.
func TestNobodyToAsk(t *testing.T) {
	c := &Console{In: strings.NewReader(""), Err: &strings.Builder{}}
	for _, path := range []string{"", filepath.Join(t.TempDir(), "none.yaml")} {
		if a, err := NewAsker(c, joining.Join, path); a != nil || fail.Find(err).Exit != fail.Usage {
			t.Errorf("%q: %v, %v", path, a, err)
		}
	}
}

// AskedError gives a code only to an error that has none.
func TestAskedError(t *testing.T) {
	if err := AskedError(nil); err != nil {
		t.Error(err)
	}
	if err := AskedError(errors.New("plain")); fail.Find(err).Exit != fail.Usage {
		t.Errorf("a plain error: %v", fail.Find(err).Exit)
	}
	if err := AskedError(errNoAnswer); !errors.Is(err, errNoAnswer) || fail.Find(err).Exit != fail.Find(errNoAnswer).Exit {
		t.Errorf("an error with a code: %v", err)
	}
}

// Programs see no questions and no steps.
func TestStep(t *testing.T) {
	for format, want := range map[Format]bool{Text: true, JSON: false} {
		var said strings.Builder
		(&Console{Err: &said, Format: format}).Step("Name the data", "party data add")
		if shown := strings.Contains(said.String(), "NAME THE DATA") && strings.Contains(said.String(), "party data add"); shown != want || !want && said.Len() > 0 {
			t.Errorf("format %v: %q", format, said.String())
		}
	}
}

// A line is split as a shell does, but for backslashes and variables, and Word is its inverse.
func TestWordsOf(t *testing.T) {
	for line, want := range map[string][]string{
		"a b":              {"a", "b"},
		"  a\tb\nc ":       {"a", "b", "c"},
		`'a b' "c d"`:      {"a b", "c d"},
		`--x='a b'c`:       {"--x=a bc"},
		`"it's" '"'`:       {"it's", `"`},
		`'' a ""`:          {"", "a", ""},
		`a\ b $c`:          {`a\`, "b", "$c"},
		"Größe=1 日本":       {"Größe=1", "日本"},
		`'it'"'"'s' x,y+1`: {"it's", "x,y+1"},
	} {
		if got, err := WordsOf(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", line, got, err, want)
		}
	}
	for _, line := range []string{"", "  ", `'a`, `a "b`, `"'`} {
		if got, err := WordsOf(line); err == nil {
			t.Errorf("%q: %q", line, got)
		}
	}
	for text, want := range map[string]string{"a.b/c": "a.b/c", "a b": "'a b'", "": "''", "$x": "'$x'", "Größe": "Größe", "a'b": `'a'\''b'`} {
		if got := Word(text); got != want {
			t.Errorf("%q becomes %s, want %s", text, got, want)
		}
		if got, err := WordsOf(Word(text)); !strings.Contains(text, "'") && (err != nil || !slices.Equal(got, []string{text})) {
			t.Errorf("%q comes back as %q, %v", text, got, err)
		}
	}
}

// An answer is parsed like a command line; a line that names a file is that file, also with spaces.
func TestTakeLine(t *testing.T) {
	type answer struct {
		File string `arg:"" optional:""`
		ID   string
	}
	path := filepath.Join(t.TempDir(), "two words.csv")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]answer{
		path:                     {File: path},
		"x.csv --id patient":     {File: "x.csv", ID: "patient"},
		"--id='a b' 'two words'": {File: "two words", ID: "a b"},
	} {
		var got answer
		if err := TakeLine(&got, line); err != nil || got != want {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
	}
	for _, line := range []string{"", "--nothing x", "a b", "'a"} {
		if err := TakeLine(&answer{}, line); err == nil {
			t.Errorf("%q is taken", line)
		}
	}
}
