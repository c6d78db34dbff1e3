package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Globals are the flags of every command.
type Globals struct {
	State    string           `placeholder:"DIR" help:"State directory: identity, ledger, releases. Default: ${state}."`
	Config   string           `placeholder:"FILE" help:"This node's own configuration file, never shared. Default: ${config}."`
	Format   Format           `default:"text" help:"How to print data."`
	LogLevel *string          `enum:"debug,info,warn,error" placeholder:"LEVEL" help:"What to log: debug, info, warn or error. Default: the configuration file's."`
	Version  kong.VersionFlag `env:"-" help:"Print the version and exit."`
}

// Open opens the state directory for a command that writes. A bad directory is its owner's to fix,
// and so a Usage error.
func (g *Globals) Open(role store.Role) (*store.Store, error) {
	return g.open(role, store.Options{})
}

// OpenReadOnly opens the state directory for a command that only reads; the node may be running.
func (g *Globals) OpenReadOnly(role store.Role) (*store.Store, error) {
	return g.open(role, store.Options{ReadOnly: true})
}

func (g *Globals) open(role store.Role, o store.Options) (*store.Store, error) {
	if err := checkClock(Now()); err != nil {
		return nil, err
	}
	st, err := store.Open(g.State, role, o)
	if err != nil {
		return nil, fail.Usage.Of(err)
	}
	return st, nil
}

// checkClock refuses a clock that was never set: no date of a study, ledger or log is before 1970.
func checkClock(now protocol.Instant) error {
	if now >= 0 {
		return nil
	}
	return fail.Usage.Of(fmt.Errorf("this machine's clock says %s, and no date is before 1970: set it, such as by timedatectl set-ntp true", now))
}

// Chosen returns the value of an enumerated flag, or "" if it is not given.
func Chosen(word *string) string {
	if word == nil {
		return ""
	}
	return *word
}

// Program is one of the two commands.
type Program struct {
	Name, About string
	Commands    any      // pointer to the kong structure, with Globals embedded
	Globals     *Globals // within Commands
	Paths       func() (config.Paths, error)
	Renamed     map[string]string // current names of commands, by former name
	Other       string            // the other program
	Elsewhere   []string          // commands that only the other program has
}

// Main parses arguments, runs their command and returns the exit code. Commands receive *Console
// and a context that SIGINT and SIGTERM end: see interruptible.
func (p Program) Main(args []string) fail.Exit {
	c := &Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Format: Text}
	p.unsetEmpty()
	paths, pathsErr := p.Paths()
	exit, help := fail.Exit(-1), c.Out
	if len(args) == 0 { // no command: an error in a script, and a request for help by a person
		args, help = []string{"--help"}, c.Err
	}
	parser, err := kong.New(p.Commands, kong.Name(p.Name), kong.Description(p.About),
		kong.DefaultEnvars(strings.ToUpper(p.Name)), kong.Writers(help, c.Err),
		kong.Vars{"name": p.Name, "version": p.Name + " " + fullVersion(), "state": paths.State, "config": paths.Config},
		kong.PostBuild(p.nameInHelp),
		kong.Help(printHelp), kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: present.Width}),
		kong.Exit(func(code int) { exit = fail.Exit(code) }))
	if err != nil {
		panic("console: " + err.Error()) // the command structure itself is wrong
	}
	if err := p.renamed(parser.Model.Node, args); err != nil {
		c.Format = p.askedFormat(args)
		return c.report(p.Name, err)
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 && help == c.Err {
		return fail.Usage
	}
	if exit >= 0 {
		return exit // --help or --version has printed
	}
	if err != nil {
		c.Format = p.askedFormat(args)
		return c.report(p.Name, fail.Usage.Of(p.misused(err, args)))
	}
	c.level = Chosen(p.Globals.LogLevel)
	given := map[string]bool{}
	for _, step := range parsed.Path {
		if step.Flag != nil {
			given[step.Flag.Name] = true
		}
	}
	c.origins = p.originOf(given, func(name string) bool { return os.Getenv(name) != "" })
	c.Misspelt = p.misspelt(parser.Model.Node)
	if err := c.takeFormat(p.Globals.Format, given["format"], parsed.Selected()); err != nil {
		return c.report(p.Name, err)
	}
	_, serves := parsed.Selected().Target.Interface().(Server)
	if !serves {
		for _, text := range c.Misspelt {
			c.Say("%s", text)
		}
	}
	if err := p.Globals.fill(paths, pathsErr); err != nil {
		return c.report(p.Name, err)
	}
	leave := func() { os.Exit(int(c.report(p.Name, fail.Signalled.New()))) }
	ctx, stop := interruptible(leave, stopsOnSignal(parsed.Selected()), serves)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(c, p.Globals, parsed.Model)
	if err != nil && ctx.Err() != nil && !fail.Has(err, fail.Signalled) {
		err = fail.Signalled.Of(err)
	}
	return c.report(p.Name, err)
}

// misspelt returns warnings of environment variables that look like that of a setting or flag but
// are none.
func (p Program) misspelt(commands *kong.Node) []string {
	if p.Name == "party" {
		return config.MisspeltForParty(variables(commands))
	}
	return config.MisspeltForAggregator(variables(commands))
}

// variables are the environment variables of the flags of all commands.
func variables(commands *kong.Node) (out []string) {
	for _, flag := range commands.Flags {
		out = append(out, flag.Envs...)
	}
	for _, child := range commands.Children {
		out = append(out, variables(child)...)
	}
	return out
}

// nameInHelp inserts the program's name into the help of commands that both programs have.
func (p Program) nameInHelp(k *kong.Kong) error {
	return kong.Visit(k.Model, func(at kong.Visitable, next kong.Next) error {
		if command, ok := at.(*kong.Node); ok {
			command.Detail = strings.ReplaceAll(command.Detail, "${name}", p.Name)
		}
		return next(nil)
	})
}

// unsetEmpty unsets the program's empty environment variables. They are ignored, but the parser of
// flags would take them for given.
func (p Program) unsetEmpty() {
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); value == "" && strings.HasPrefix(name, strings.ToUpper(p.Name)+"_") {
			os.Unsetenv(name) // if this fails, the parser reads the empty variable
		}
	}
}

// variable is the environment variable of a flag.
func (p Program) variable(flag string) string {
	return strings.ToUpper(p.Name + "_" + strings.ReplaceAll(flag, "-", "_"))
}

// misused adds to an error of parsing which command's help explains it, and which variable gave the
// value of a flag that is not among the arguments.
func (p Program) misused(err error, args []string) error {
	command := p.Name
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		for _, step := range parse.Context.Path {
			if step.Command != nil {
				command += " " + step.Command.Name
			}
		}
	}
	if i := slices.IndexFunc(args, negative); i >= 0 && !slices.Contains(args[:i], "--") {
		said := args[i]
		if i > 0 && strings.HasPrefix(args[i-1], "--") {
			said = args[i-1] + " " + said
		}
		err = fmt.Errorf("%s: the number must not be negative", said)
	} else if parse != nil && len(args) > 0 {
		if flag := wanting(parse.Context, args[len(args)-1]); flag != nil {
			err = fmt.Errorf("--%s: its value is missing: --%s %s", flag.Name, flag.Name, flag.FormatPlaceHolder())
		} else if lacksStudy(parse.Context) {
			err = fmt.Errorf("expected \"<study>\": %s status lists the studies that are here", p.Name)
		}
	}
	flag, _, _ := strings.Cut(err.Error(), " ")
	name := p.variable(strings.TrimPrefix(flag, "--"))
	given := func(arg string) bool { return arg == flag || strings.HasPrefix(arg, flag+"=") }
	if strings.HasPrefix(flag, "--") && os.Getenv(name) != "" && !slices.ContainsFunc(args, given) {
		err = fmt.Errorf("environment variable %s: %w", name, err)
	}
	return fmt.Errorf("%w (see %s --help)", err, command)
}

// lacksStudy reports whether the arguments name a command for one study but no study.
func lacksStudy(c *kong.Context) bool {
	command := c.Selected()
	return c.Error == nil && command != nil && slices.ContainsFunc(command.Positional, func(v *kong.Value) bool {
		return v.Name == "study" && v.Required && !v.Set
	})
}

// wanting returns the flag named by the last argument if its value is missing.
func wanting(c *kong.Context, last string) *kong.Flag {
	for _, flag := range c.Flags() {
		if last == "--"+flag.Name && !flag.IsBool() && !flag.IsCounter() {
			return flag
		}
	}
	return nil
}

// negative reports whether an argument is a negative number, which the parser takes for flags. No
// flag is a digit, and no argument may be below 0.
func negative(arg string) bool {
	_, err := strconv.ParseFloat(arg, 64)
	return err == nil && len(arg) > 1 && arg[0] == '-' && (arg[1] == '.' || arg[1] >= '0' && arg[1] <= '9')
}

// fill sets the paths that the caller left out to their defaults.
func (g *Globals) fill(paths config.Paths, err error) error {
	if err != nil && (g.State == "" || g.Config == "") {
		return fail.Usage.Of(err)
	}
	if g.State == "" {
		g.State = paths.State
	}
	if g.Config == "" {
		g.Config = paths.Config
	}
	return nil
}

// Now is the clock for the nodes.
func Now() protocol.Instant { return protocol.Instant(time.Now().Unix()) }

// Version is the version of the build: a release's number, or the commit.
func Version() string {
	b := buildOf(debug.ReadBuildInfo())
	return b.version + " " + b.compiler
}

// fullVersion is Version with all known details of the build, for --version.
func fullVersion() string {
	b := buildOf(debug.ReadBuildInfo())
	parts := []string{b.version}
	if b.commit != "" && b.commit != b.version {
		parts = append(parts, "commit "+b.commit)
	}
	if b.time != "" {
		parts = append(parts, "of "+b.time)
	}
	if b.modified {
		parts = append(parts, "modified")
	}
	return strings.Join(append(parts, b.compiler, runtime.GOOS+"/"+runtime.GOARCH), ", ")
}

// build has the build information that the compiler recorded.
type build struct {
	version, commit, time, compiler string
	modified                        bool // the working tree differed from the commit
}

func buildOf(info *debug.BuildInfo, ok bool) build {
	if !ok {
		return build{version: "unknown", compiler: runtime.Version()}
	}
	b := build{version: info.Main.Version, compiler: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = s.Value[:min(12, len(s.Value))]
		case "vcs.time":
			b.time = s.Value
		case "vcs.modified":
			b.modified = s.Value == "true"
		}
	}
	if b.version == "" || b.version == "(devel)" {
		b.version = cmp.Or(b.commit, "(devel)")
	}
	return b
}
