package console

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/cosketch/cosketch/protocol/fail"
)

// ManualCommand prints the program's manual page, made from the same source as --help.
type ManualCommand struct{}

// Help has an example.
func (ManualCommand) Help() string { return "Example: ${name} advanced manual > ${name}.1" }

// Formats returns only Text.
func (ManualCommand) Formats() []Format { return []Format{Text} }

// Run prints a page in the man macros: PROGRAM advanced manual | man -l -
func (ManualCommand) Run(c *Console, app *kong.Application) error {
	page := &manual{w: c.Out}
	page.home, _ = os.UserHomeDir() // empty if unknown: then no path below it is printed
	page.write(app)
	return page.err
}

// manual writes one page, section 1.
type manual struct {
	w    io.Writer
	home string // in defaults of flags, to be replaced in the page
	err  error
}

// line writes a line of roff.
func (m *manual) line(format string, args ...any) {
	if m.err == nil {
		_, m.err = fmt.Fprintf(m.w, format+"\n", args...)
	}
}

// roff escapes text: backslashes, literal hyphens, and characters that begin a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

func (m *manual) write(app *kong.Application) {
	m.line(`.TH %s 1 "" "%s" "Cosketch"`, strings.ToUpper(app.Name), roff(buildOf(debug.ReadBuildInfo()).version))
	about, first, _ := strings.Cut(app.Help, "\n\n")
	m.line(".SH NAME\n%s \\- %s", app.Name, roff(about))
	m.line(".SH SYNOPSIS\n.B %s\n.I command\n[flags]", app.Name)
	m.line(".SH DESCRIPTION\n%s", roff(first))
	m.line(".SH FLAGS OF EVERY COMMAND")
	m.flags(app.Flags)
	m.line(".SH COMMANDS")
	for _, leaf := range app.Leaves(true) {
		m.command(app.Name, leaf)
	}
	m.line(".SH ENVIRONMENT\nFlags can be set by the variables that stand beside them in capitals. Order: flag, environment variable, configuration file, default.")
	m.line(".SH EXIT STATUS")
	for _, code := range fail.Codes() {
		m.line(".TP\n.B %d\n%s", code.Exit, roff(code.Says))
	}
	m.line(".SH FILES\n.TP\n.I ~/.config/cosketch/%s.yaml\nThe configuration file; %s advanced config init writes one in which every key is explained.", app.Name, app.Name)
	m.line(".TP\n.I ~/.local/state/cosketch/%s\nThe state directory. It holds keys: it belongs to its owner alone.", app.Name)
}

func (m *manual) command(program string, leaf *kong.Node) {
	summary := strings.TrimSuffix(leaf.Summary(), " [flags]")
	m.line(".SS %s %s", program, roff(summary))
	m.line("%s", roff(leaf.Help))
	if leaf.Detail != "" {
		m.line(".PP\n%s", roff(leaf.Detail))
	}
	for _, p := range leaf.Positional {
		if p.Help != "" {
			m.line(".TP\n.I %s\n%s", roff(p.Summary()), roff(p.Help))
		}
	}
	m.flags(leaf.Flags)
	if len(formatsOf(leaf)) != 3 {
		m.line(".TP\n.B %s\n%s", roff("--format"), roff(formatHelp(leaf)))
	}
}

func (m *manual) flags(flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		m.line(".TP\n.B %s", roff(f.String()))
		help := f.Help
		if f.Name == "format" {
			help = "How to print data: " + oneOf([]Format{Text, JSON, Lines}) + ", unless a command says otherwise."
		}
		if len(f.Envs) > 0 {
			help += " ($" + strings.Join(f.Envs, ", $") + ")"
		}
		if m.home != "" {
			help = strings.ReplaceAll(help, m.home, "~")
		}
		m.line("%s", roff(help))
	}
}
