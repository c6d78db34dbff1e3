package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/cosketch/cosketch/protocol/fail"
)

// advanced is the command that contains the rarely needed ones.
const advanced = "advanced"

// printHelp prints a command's help. The program's own help has one line for the advanced commands.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	selected := ctx.Selected()
	for _, flag := range ctx.Model.Flags {
		if flag.Name == "format" {
			flag.Help = formatHelp(selected)
		}
	}
	if folded := below(ctx.Model.Node, advanced); selected == nil && folded != nil {
		children := folded.Children
		defer func() { folded.Children = children }()
		folded.Children = nil
	}
	return kong.DefaultHelpPrinter(options, ctx)
}

// below returns the subcommand with a name, or nil.
func below(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// reach returns the command to which words lead, or nil.
func reach(node *kong.Node, words []string) *kong.Node {
	for _, word := range words {
		if node == nil {
			return nil
		}
		node = below(node, word)
	}
	return node
}

// mostWords is the maximum number of words in a command's name, without advanced.
const mostWords = 2

// renamed returns an error if the arguments name a command by its former name, with or without
// advanced before it. Words after -- do not count.
func (p Program) renamed(app *kong.Node, args []string) error {
	words := spoken(app, args)
	at := 0
	if len(words) > 0 && words[0] == advanced {
		at = 1
	}
	for n := min(len(words), at+mostWords); n > at; n-- {
		was := strings.Join(words[:n], " ")
		is, known := p.Renamed[strings.Join(words[at:n], " ")]
		switch inside := below(app, advanced); {
		case reach(app, words[:n]) != nil:
			return nil
		case known:
		case at == 0 && inside != nil && reach(inside, words[:n]) != nil:
			is = advanced + " " + was
		case at == 1 && reach(app, words[1:n]) != nil:
			is = strings.Join(words[1:n], " ")
		default:
			continue
		}
		return fail.Usage.Of(fmt.Errorf("unknown command %q: it is %q", p.Name+" "+was, p.Name+" "+is))
	}
	if len(words) > 0 && slices.Contains(p.Elsewhere, words[0]) {
		return fail.Usage.Of(fmt.Errorf("unknown command %q: %s is another program, which has %[3]q (see %[2]s --help)", p.Name+" "+words[0], p.Other, p.Other+" "+words[0]))
	}
	return nil
}

// spoken returns the arguments that are neither flags nor values of flags.
func spoken(node *kong.Node, args []string) (words []string) {
	var open *kong.Flag
	for _, arg := range args {
		switch name, long := strings.CutPrefix(arg, "--"); {
		case arg == "--":
			return words
		case open != nil:
			open = nil
		case long:
			open = valued(node, name)
		case strings.HasPrefix(arg, "-"):
		default:
			words = append(words, arg)
			if child := below(node, arg); child != nil {
				node = child
			}
		}
	}
	return words
}
