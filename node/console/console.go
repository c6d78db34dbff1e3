package console

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/protocol"
)

// Format is how data are printed.
type Format string

// The formats of --format.
const (
	Text  Format = "text"
	JSON  Format = "json"  // one indented document
	Lines Format = "jsonl" // one document a line
)

// Globals are the flags of every command.
type Globals struct {
	State    string           `placeholder:"DIR" help:"State directory: identity, ledger, releases."`
	Config   string           `placeholder:"FILE" help:"This node's own configuration file, never shared."`
	Format   Format           `enum:"text,json,jsonl" default:"text" help:"How to print data: ${enum}."`
	LogLevel string           `enum:"debug,info,warn,error," default:"" placeholder:"LEVEL" help:"What to log: debug, info, warn or error. Default: the configuration file's."`
	Version  kong.VersionFlag `help:"Print the version and exit."`
}

// Console is a command's way to the person or program that called it.
type Console struct {
	In     io.Reader
	Out    io.Writer // data
	Err    io.Writer // talk
	Format Format
	level  string
}

// Program is one of the two commands.
type Program struct {
	Name, About string
	Commands    any      // pointer to the kong structure, with Globals embedded
	Globals     *Globals // within Commands
	Paths       func() (config.Paths, error)
}

// Main parses arguments, runs the command that they name and returns the exit
// code. Commands receive *Console and the context that SIGINT and SIGTERM end.
func (p Program) Main(args []string) Code {
	c := &Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	exit := Code(-1)
	parser, err := kong.New(p.Commands, kong.Name(p.Name), kong.Description(p.About), kong.UsageOnError(),
		kong.DefaultEnvars(strings.ToUpper(p.Name)), kong.Vars{"version": p.Name + " " + Version()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Writers(c.Out, c.Err),
		kong.Exit(func(code int) { exit = Code(code) }))
	if err != nil {
		panic("console: " + err.Error()) // the command structure itself is wrong
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 {
		return exit // --help or --version has printed
	}
	if err != nil {
		fmt.Fprintf(c.Err, "%s: %v\nSee %s --help.\n", p.Name, err, p.Name)
		return Usage
	}
	if err := p.defaults(); err != nil {
		return c.report(p.Name, err)
	}
	c.Format, c.level = p.Globals.Format, p.Globals.LogLevel
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	return c.report(p.Name, parsed.Run(c, p.Globals))
}

// defaults fills in where the node keeps its things.
func (p Program) defaults() error {
	paths, err := p.Paths()
	if err != nil {
		return err
	}
	if p.Globals.State == "" {
		p.Globals.State = paths.State
	}
	if p.Globals.Config == "" {
		p.Globals.Config = paths.Config
	}
	return nil
}

// report prints an error and returns its exit code.
func (c *Console) report(name string, err error) Code {
	code := CodeOf(err)
	if err == nil {
		return code
	}
	if c.Format == Text || c.Format == "" {
		fmt.Fprintf(c.Err, "%s: %v\n", name, err)
		return code
	}
	c.line(c.Err, map[string]any{"error": err.Error(), "code": int(code)})
	return code
}

// Print writes data: text by the function, or the value as JSON.
func (c *Console) Print(value any, text func(io.Writer)) error {
	switch c.Format {
	case JSON:
		b, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return fmt.Errorf("printing: %w", err)
		}
		_, err = fmt.Fprintf(c.Out, "%s\n", b)
		return err
	case Lines:
		return c.line(c.Out, value)
	}
	text(c.Out)
	return nil
}

func (c *Console) line(w io.Writer, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", b)
	return err
}

// Say writes talk for people: nothing when programs read.
func (c *Console) Say(format string, args ...any) {
	if c.Format == Text {
		fmt.Fprintf(c.Err, format+"\n", args...)
	}
}

// Terminal reports whether talk goes to a terminal.
func (c *Console) Terminal() bool {
	f, ok := c.Err.(*os.File)
	return ok && c.Format == Text && term.IsTerminal(int(f.Fd()))
}

// Interactive reports whether a person can be asked.
func (c *Console) Interactive() bool {
	f, ok := c.In.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Logger logs to stderr as the configuration says; --log-level wins.
func (c *Console) Logger(l config.Log) *slog.Logger {
	level := l.Level
	if c.level != "" {
		if err := level.UnmarshalText([]byte(c.level)); err != nil {
			panic("console: " + err.Error()) // the flag's enum admits nothing else
		}
	}
	options := &slog.HandlerOptions{Level: level}
	if l.Format == config.LogText || l.Format == config.LogAuto && c.Terminal() {
		return slog.New(slog.NewTextHandler(c.Err, options))
	}
	return slog.New(slog.NewJSONHandler(c.Err, options))
}

// Now is the clock that the nodes are given.
func Now() protocol.Instant { return protocol.Instant(time.Now().Unix()) }

// Version names the build.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && (version == "" || version == "(devel)") {
			version = s.Value[:12]
		}
	}
	if version == "" {
		version = "(devel)"
	}
	return version + " " + info.GoVersion
}
