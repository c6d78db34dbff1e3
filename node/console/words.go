package console

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// ParseWords parses words as arguments and flags of a command, into a structure whose tags define
// them.
func ParseWords(into any, words []string) error {
	parser, err := kong.New(into, kong.Name("answer"), kong.NoDefaultHelp(), kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		panic("console: " + err.Error()) // the structure itself is invalid
	}
	_, err = parser.Parse(words)
	return err
}

// WordsOf splits a command line into words at spaces, except within quotes of either kind. No other
// character is special.
func WordsOf(line string) (words []string, err error) {
	var word strings.Builder
	quote, within := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, within = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if within {
				words = append(words, word.String())
			}
			word.Reset()
			within = false
		default:
			word.WriteRune(r)
			within = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	case within:
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errors.New("no word is there")
	}
	return words, nil
}

// plainWord matches text that a shell needs no quotes for.
var plainWord = regexp.MustCompile(`^[\pL\pN_./:=,+-]+$`)

// Word quotes text as a word of a command line, if needed.
func Word(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
