package config

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/joining"
)

// A file of answers has one or more lines for a question. An unknown question is refused with a
// suggestion.
func TestLoadAnswers(t *testing.T) {
	script, err := LoadAnswers(write(t, "cosketch: answers/1\ndata: a.csv\nuse: [--column x=y, proposed]\n"), joining.Join)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--column x=y", "", ""} {
		if got, err := script.Answer(t.Context(), joining.Question{ID: joining.Use}, nil); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	for text, want := range map[string]string{
		"data: a.csv\n": "its first key is cosketch: answers/1",
		"cosketch: answers/1\naprove: 01234567\n": "did you mean \"approve\"?",
		"cosketch: answers/1\nuse: {x: y}\n":      "use: want",
		"cosketch: columns/1\nparty: {name: a}\n": "column list",
	} {
		if _, err := LoadAnswers(write(t, text), joining.Join); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
