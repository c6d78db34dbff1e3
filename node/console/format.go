package console

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Format is an output format.
type Format string

// The formats of --format.
const (
	Text  Format = "text"
	JSON  Format = "json"  // one indented document
	Lines Format = "jsonl" // one document a line
)

// Formats of --format in which some commands write files; on stdout they print text.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
	NPY     Format = "npy"
)

// Formatted is a command with other formats than text, JSON and JSON lines.
type Formatted interface{ Formats() []Format }

// ResultFormats are the formats of commands that print or write results: all of them.
func ResultFormats() []Format { return []Format{Text, JSON, Lines, CSV, Parquet, NPY} }

// isFile reports whether a format is for files.
func isFile(f Format) bool { return slices.Contains([]Format{CSV, Parquet, NPY}, f) }

// formatsOf returns the formats of a command, or all if it has subcommands.
func formatsOf(command *kong.Node) []Format {
	if command == nil || command.Type == kong.ApplicationNode || len(command.Children) > 0 {
		return ResultFormats()
	}
	if own, ok := command.Target.Interface().(Formatted); ok {
		return own.Formats()
	}
	return []Format{Text, JSON, Lines}
}

// formatHelp is the help text of --format for a command.
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

// oneOf lists the formats to choose from.
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

// takeFormat sets the requested format. It refuses one that the command does not have, before the
// command runs. If an environment variable requested it, a command that only prints text ignores
// it.
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
			c.Format = asked // for the error
		}
		by := "--format "
		if !given {
			by = c.origin("format") + "="
		}
		return fail.Usage.Of(fmt.Errorf("%s%s: %s prints %s", by, asked, command.FullPath(), oneOf(can)))
	}
	return nil
}

// askedFormat returns the format that unparsable arguments request.
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
