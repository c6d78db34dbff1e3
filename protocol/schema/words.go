package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Words is a closed list of words for one key: those that this version supports, and planned ones
// of the format that it does not support.
type Words struct {
	What    string // "family", "analysis"
	Has     []string
	Planned []string
	Meant   map[string]string // by another word that people use: the word of Has that it means
}

// WordsOf returns such a list, of words of a string type.
func WordsOf[W ~string](what string, has ...W) Words {
	w := Words{What: what}
	for _, word := range has {
		w.Has = append(w.Has, string(word))
	}
	return w
}

// Check returns nil for a supported word. Otherwise it returns an error without a position, which
// distinguishes unsupported from unknown words.
func (v Words) Check(word string) *Error {
	if slices.Contains(v.Has, word) {
		return nil
	}
	if slices.Contains(v.Planned, word) {
		return &Error{Message: fmt.Sprintf("%s %q is not supported by this version; it has: %s", v.What, word, strings.Join(v.Has, ", "))}
	}
	e := &Error{Message: fmt.Sprintf("unknown %s %q", v.What, shorten(word))}
	if meant, known := v.Meant[word]; known {
		e.Hint = fmt.Sprintf("did you mean %q?", meant)
	} else if near := Closest(word, slices.Concat(v.Has, v.Planned)); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	} else {
		e.Hint = "one of: " + strings.Join(v.Has, ", ")
	}
	return e
}

// Read reads a word of the list; "" if it is not in the list.
func (v Words) Read(r *Reader, it Item) string {
	word := r.Word(it, MaxWord)
	if word == "" {
		return ""
	}
	if e := v.Check(word); e != nil {
		r.Fail(it.Path, "%s", e.Message).Hint = e.Hint
		return ""
	}
	return word
}
