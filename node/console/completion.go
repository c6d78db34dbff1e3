package console

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
)

// CompletionCommand prints a shell script that completes this program's arguments. The scripts call
// the program itself, with --words.
type CompletionCommand struct {
	Shell []string `arg:"" optional:"" help:"bash, zsh, fish or powershell."`
	Words bool     `env:"-" hidden:"" help:"Print candidates for the last of the words after --."`

	Role store.Role `kong:"-"` // set by the program
}

// Help has an example.
func (CompletionCommand) Help() string { return "Example: source <(${name} advanced completion bash)" }

// Formats returns only Text.
func (CompletionCommand) Formats() []Format { return []Format{Text} }

// Run prints a script, or the candidates for a word.
func (cmd CompletionCommand) Run(c *Console, g *Globals, app *kong.Application) error {
	if cmd.Words {
		for _, candidate := range candidates(app, cmd.Shell, func() []string { return cmd.studies(g) }) {
			fmt.Fprintln(c.Out, candidate)
		}
		return nil
	}
	script, known := shells[strings.Join(cmd.Shell, " ")]
	if !known {
		return fail.Usage.Of(fmt.Errorf("printing a completion script for %q: want one shell of %s", strings.Join(cmd.Shell, " "), strings.Join(slices.Sorted(maps.Keys(shells)), ", ")))
	}
	_, err := io.WriteString(c.Out, strings.ReplaceAll(script, "PROGRAM", app.Name))
	return err
}

// studies returns the short ids of the node's studies, or none if its state cannot be read.
func (cmd CompletionCommand) studies(g *Globals) []string {
	st, err := g.OpenReadOnly(cmd.Role)
	if err != nil {
		return nil
	}
	defer st.Close()
	entries, err := st.Studies()
	if err != nil {
		return nil
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.ID.Short()
	}
	return out
}

// candidates returns the completions of the last word: commands, flags, the values of an enumerated
// flag, or studies. If it returns none, the shell completes file names.
func candidates(app *kong.Application, words []string, studies func() []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	words = apart(words)
	last := words[len(words)-1]
	node, flag := walk(app.Node, words[:len(words)-1])
	var all []string
	name, _, joined := strings.Cut(last, "=")
	switch {
	case joined && strings.HasPrefix(name, "--"):
		if f := valued(node, name[2:]); f != nil && few(f) {
			for _, word := range choices(node, f) {
				all = append(all, name+"="+word)
			}
		}
	case flag != nil && few(flag):
		all = choices(node, flag)
	case flag != nil:
		return nil
	case strings.HasPrefix(last, "-"):
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				all = append(all, "--"+f.Name)
			}
		}
	case len(node.Children) > 0:
		for _, child := range node.Children {
			if !child.Hidden {
				all = append(all, child.Name)
			}
		}
	case len(node.Positional) > 0 && node.Positional[0].Name == "study":
		all = studies()
	case node.Name == "completion":
		all = slices.Collect(maps.Keys(shells))
	}
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" || !strings.HasPrefix(s, last) })
	slices.Sort(all)
	return slices.Compact(all)
}

// few reports whether a flag has a fixed list of values.
func few(f *kong.Flag) bool { return f.Enum != "" || f.Name == "format" }

// choices returns the values of an enumerated flag; for --format, those of the command.
func choices(node *kong.Node, f *kong.Flag) (out []string) {
	if f.Name != "format" {
		return f.EnumSlice()
	}
	for _, format := range formatsOf(node) {
		out = append(out, string(format))
	}
	return out
}

// apart removes the word = that bash puts between a flag and its value: it splits --flag=value into
// three words. A last = becomes an empty word. Other shells pass --flag=value as one word, which
// stays whole.
func apart(words []string) (out []string) {
	for i, word := range words {
		switch {
		case word != "=":
			out = append(out, word)
		case i == len(words)-1:
			out = append(out, "")
		}
	}
	return out
}

// walk follows words down the commands, and returns the flag whose value the next word is, if any.
func walk(node *kong.Node, words []string) (*kong.Node, *kong.Flag) {
	var open *kong.Flag
	for _, word := range words {
		if open != nil {
			open = nil
			continue
		}
		if name, long := strings.CutPrefix(word, "--"); long {
			open = valued(node, name)
			continue
		}
		if child := below(node, word); child != nil {
			node = child
		}
	}
	return node, open
}

// valued returns the flag with a name if it takes a value as the next word.
func valued(node *kong.Node, name string) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if f.Name == name && !f.IsBool() {
				return f
			}
		}
	}
	return nil
}

// shells are the scripts; PROGRAM stands for the program's name.
var shells = map[string]string{
	"bash": `# bash completion of PROGRAM. Load it with: source <(PROGRAM advanced completion bash)
_PROGRAM() {
	local IFS=$'\n'
	COMPREPLY=($(PROGRAM advanced completion --words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _PROGRAM PROGRAM
`,
	"zsh": `#compdef PROGRAM
# zsh completion of PROGRAM. Write it as _PROGRAM into a directory of $fpath.
_PROGRAM() {
	local -a found
	found=(${(f)"$(PROGRAM advanced completion --words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
	if (( $#found )); then compadd -a found; else _files; fi
}
if [[ $funcstack[1] = _PROGRAM ]]; then _PROGRAM "$@"; else compdef _PROGRAM PROGRAM; fi
`,
	"fish": `# fish completion of PROGRAM. Write it to ~/.config/fish/completions/PROGRAM.fish
function __PROGRAM_candidates
	set -l words (commandline -opc) (commandline -ct)
	set -l found (PROGRAM advanced completion --words -- $words[2..-1] 2>/dev/null)
	if set -q found[1]; printf '%s\n' $found; else; __fish_complete_path (commandline -ct); end
end
complete -c PROGRAM -f -a '(__PROGRAM_candidates)'
`,
	// Not every PowerShell passes an empty word to a program: = stands for one, see apart.
	"powershell": `# PowerShell completion of PROGRAM. Load it with: PROGRAM advanced completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName PROGRAM, PROGRAM.exe -ScriptBlock {
	param($word, $line, $cursor)
	$words = @($line.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.StartOffset -lt $cursor } | ForEach-Object { $_.Extent.Text })
	if ($word -eq '') { $words += '=' }
	PROGRAM advanced completion --words '--' @words 2>$null | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`,
}
