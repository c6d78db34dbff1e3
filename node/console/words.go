package console

import (
	"io"

	"github.com/alecthomas/kong"
)

// ParseWords reads words as the arguments and flags of a command into a structure, whose tags say what they are.
func ParseWords(into any, words []string) error {
	parser, err := kong.New(into, kong.Name("answer"), kong.NoDefaultHelp(), kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		panic("console: " + err.Error()) // the structure itself is wrong
	}
	_, err = parser.Parse(words)
	return err
}
