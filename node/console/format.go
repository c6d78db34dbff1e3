package console

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Format is how data are printed.
type Format string

// The formats of --format.
const (
	Text  Format = "text"
	JSON  Format = "json"  // one indented document
	Lines Format = "jsonl" // one document a line
)

// The formats of --format in which some commands write files; they print text.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
	NPY     Format = "npy"
)

// Formatted is a command that has other formats than text, JSON and lines of JSON.
type Formatted interface{ Formats() []Format }

// ResultFormats are those of commands that print or write results: all that there are.
func ResultFormats() []Format { return []Format{Text, JSON, Lines, CSV, Parquet, NPY} }

// isFile reports whether a format is one of files.
func isFile(f Format) bool { return slices.Contains([]Format{CSV, Parquet, NPY}, f) }

// formatsOf are the formats of a command; of a word with commands below it all that there are.
func formatsOf(command *kong.Node) []Format {
	if command == nil || command.Type == kong.ApplicationNode || len(command.Children) > 0 {
		return ResultFormats()
	}
	if own, ok := command.Target.Interface().(Formatted); ok {
		return own.Formats()
	}
	return []Format{Text, JSON, Lines}
}

// formatHelp is what a command's help says of --format.
func formatHelp(command *kong.Node) string {
	if command == nil || command.Type == kong.ApplicationNode || len(command.Children) > 0 {
		return "How to print data: text, json or jsonl, and as each command's help says."
	}
	of := formatsOf(command)
	files := slices.IndexFunc(of, isFile)
	switch {
	case len(of) == 1:
		return "Text alone: what this prints is no data."
	case files < 0:
		return "How to print data: " + oneOf(of) + "."
	}
	return "How to print data: " + oneOf(of[:files]) + ". How to write files: " + oneOf(of[files:]) + "."
}

// oneOf lists formats to choose from.
func oneOf(formats []Format) string {
	words := make([]string, len(formats))
	for i, f := range formats {
		words[i] = string(f)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// takeFormat takes the format that was asked for. One that the command does not have is refused before
// it has done anything. Where a variable asked, what prints no data prints it all the same.
func (c *Console) takeFormat(asked Format, given bool, command *kong.Node) error {
	can := formatsOf(command)
	c.Format = Text
	switch {
	case slices.Contains(can, asked) && isFile(asked):
		c.Files = asked
	case slices.Contains(can, asked):
		c.Format = asked
	case !given && len(can) == 1:
	default:
		if asked == JSON || asked == Lines {
			c.Format = asked // of the error
		}
		by := "--format "
		if !given {
			by = c.origin("format") + "="
		}
		return fail.Usage.Of(fmt.Errorf("%s%s: %s prints %s", by, asked, command.FullPath(), oneOf(can)))
	}
	return nil
}

// askedFormat is the format that arguments ask for which could not be parsed.
func (p Program) askedFormat(args []string) Format {
	asked := Format(os.Getenv(p.variable("format")))
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--format="); ok {
			asked = Format(value)
		} else if arg == "--format" && i+1 < len(args) {
			asked = Format(args[i+1])
		}
	}
	if asked == JSON || asked == Lines {
		return asked
	}
	return Text
}
