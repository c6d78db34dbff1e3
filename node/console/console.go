package console

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/plain"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Server is a command that goes on until it is stopped, and logs what others say.
type Server interface{ Serves() }

// Console is a command's way to the person or program that called it.
type Console struct {
	In     io.Reader
	Out    io.Writer // data
	Err    io.Writer // talk
	Format Format
	Files  Format // of files, where --format names one; else empty
	level  string // of --log-level; empty: the configuration's

	// Misspelt says of environment variables that look like the program's, and are none, that they change nothing. A
	// Server has to say so itself; before other commands it is said.
	Misspelt []string

	origins func(flag string) string // where a global flag's value comes from

	threshold slog.LevelVar // of what Logger made
	answers   *bufio.Reader // of In, for Ask
}

// report prints an error and returns its exit code.
func (c *Console) report(name string, err error) fail.Exit {
	if err == nil {
		return fail.OK
	}
	found, text := fail.Find(err), fail.Text(err)
	if c.Format == Text {
		fmt.Fprintln(c.Talk(), c.folded(name+": "+text))
		return found.Exit
	}
	c.line(c.Err, failure{text, found.Exit, found.ID, found.Hint})
	return found.Exit
}

// failure is how programs read an error, on stderr.
type failure struct {
	Error string    `json:"error"`
	Code  fail.Exit `json:"code"`
	ID    fail.ID   `json:"id"`
	Hint  string    `json:"hint,omitempty"` // what to do; error says it, too
}

// Talk is where text for people goes that is no data: without what a terminal acts on.
func (c *Console) Talk() io.Writer { return plain.Text(c.Err) }

// Print writes data: text by the function, or the value as JSON. Whoever wrote the texts in it,
// a terminal finds nothing to act on.
func (c *Console) Print(value any, text func(io.Writer)) error {
	switch c.Format {
	case JSON:
		b, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return fmt.Errorf("printing: %w", err)
		}
		return printJSON(c.Out, b)
	case Lines:
		return c.line(c.Out, value)
	}
	out := plain.Text(c.Out)
	text(out)
	return out.Close()
}

func (c *Console) line(w io.Writer, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return printJSON(w, b)
}

func printJSON(w io.Writer, b []byte) error {
	out := plain.JSON(w)
	_, err := fmt.Fprintf(out, "%s\n", b)
	return err
}

// Say writes talk for people: nothing when programs read.
func (c *Console) Say(format string, args ...any) {
	if c.Format == Text {
		fmt.Fprintln(c.Talk(), c.folded(fmt.Sprintf(format, args...)))
	}
}

// folded breaks talk into lines for a terminal. Others read it as it is, to find in it what
// they look for.
func (c *Console) folded(text string) string {
	if !c.Terminal() {
		return text
	}
	columns := present.Width
	if w, _, err := term.GetSize(int(c.Err.(*os.File).Fd())); err == nil && w > 0 {
		columns = min(columns, w)
	}
	return present.Fold(text, columns)
}

// Began tells a person at a terminal that a node serves, and else the log, of which every line
// has one form.
func (c *Console) Began(logger *slog.Logger, said, message string, attributes ...any) {
	if c.Terminal() {
		c.Say("%s", said)
		return
	}
	logger.Info(message, attributes...)
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

// FollowLevel reads the log level anew, by read, at every SIGHUP until ctx ends. On a
// terminal it does not: there a hang-up ends the program. Where --log-level or its variable
// gave one, that still wins.
func (c *Console) FollowLevel(ctx context.Context, logger *slog.Logger, read func() (config.Log, error)) {
	if c.Terminal() {
		return
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangups)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
			}
			l, err := read()
			switch {
			case err != nil:
				logger.Error("the configuration cannot be read anew; the log level stays", "level", c.threshold.Level(), "error", err)
			case c.level != "":
				logger.Warn("the log level is given by "+c.origin("log-level")+", which wins over the configuration file", "level", c.level)
			default:
				c.threshold.Set(l.Level)
				logger.Log(ctx, max(slog.LevelInfo, l.Level), "log level", "level", l.Level)
			}
		}
	}()
}

// Logger logs to stderr as the configuration says; --log-level wins.
func (c *Console) Logger(l config.Log) *slog.Logger {
	level := l.Level
	if c.level != "" {
		if err := level.UnmarshalText([]byte(c.level)); err != nil {
			panic("console: " + err.Error()) // the flag's enum admits nothing else
		}
	}
	c.threshold.Set(level)
	options := &slog.HandlerOptions{Level: &c.threshold}
	if l.Format == config.LogText || l.Format == config.LogAuto && c.Terminal() {
		return slog.New(slog.NewTextHandler(c.Err, options)) // it quotes what is not shown
	}
	return slog.New(slog.NewJSONHandler(plain.JSON(c.Err), options))
}
