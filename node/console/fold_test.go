package console

import "testing"

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
		if got := fold(text, 10); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
