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

// Server is a command that runs until it is stopped, and logs what others cause.
type Server interface{ Serves() }

// Console connects a command to the person or program that called it.
type Console struct {
	In     io.Reader
	Out    io.Writer // data
	Err    io.Writer // text for people
	Format Format
	Files  Format // format of files, if --format names one; else empty
	level  string // from --log-level; empty: the configuration's

	// Misspelt warns of environment variables that look like the program's but have no effect. A
	// Server must log it itself; before other commands it is printed.
	Misspelt []string

	origins func(flag string) string // where a global flag's value comes from

	threshold slog.LevelVar // of the loggers from Logger
	answers   *bufio.Reader // reads In for Ask
}

// report prints an error and returns its exit code.
func (c *Console) report(name string, err error) fail.Exit {
	if err == nil {
		return fail.OK
	}
	found, text := fail.Find(err), fail.Text(err)
	if c.Format == Text {
		fmt.Fprintln(c.Stderr(), c.folded(name+": "+text))
		return found.Exit
	}
	c.line(c.Err, failure{text, found.Exit, found.ID, found.Hint})
	return found.Exit
}

// failure is an error as programs read it, on stderr.
type failure struct {
	Error string    `json:"error"`
	Code  fail.Exit `json:"code"`
	ID    fail.ID   `json:"id"`
	Hint  string    `json:"hint,omitempty"` // what to do; error says it too
}

// Stderr returns the writer for text to people. It removes what a terminal would act on.
func (c *Console) Stderr() io.Writer { return plain.Text(c.Err) }

// Print writes data: as text by the function, or the value as JSON. The output is safe for a
// terminal, whoever wrote the texts in it.
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

// Say prints a message for people; it prints nothing if programs read.
func (c *Console) Say(format string, args ...any) {
	if c.Format == Text {
		fmt.Fprintln(c.Stderr(), c.folded(fmt.Sprintf(format, args...)))
	}
}

// folded breaks a message into lines for a terminal. Elsewhere the text stays unbroken, so that it
// can be searched.
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

// Began reports that a node serves: in words to a person at a terminal, or else in the log, so that
// all its lines have one form.
func (c *Console) Began(logger *slog.Logger, said, message string, attributes ...any) {
	if c.Terminal() {
		c.Say("%s", said)
		return
	}
	logger.Info(message, attributes...)
}

// Terminal reports whether messages go to a terminal.
func (c *Console) Terminal() bool {
	f, ok := c.Err.(*os.File)
	return ok && c.Format == Text && term.IsTerminal(int(f.Fd()))
}

// Interactive reports whether a person can be asked.
func (c *Console) Interactive() bool {
	f, ok := c.In.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// FollowLevel calls read for the log level at every SIGHUP until ctx ends. It does nothing on a
// terminal, where SIGHUP ends the program. A level from --log-level or its variable still wins.
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
				logger.Error("the configuration cannot be reloaded; the log level is unchanged", "level", c.threshold.Level(), "error", err)
			case c.level != "":
				logger.Warn("the log level is given by "+c.origin("log-level")+", which overrides the configuration file", "level", c.level)
			default:
				c.threshold.Set(l.Level)
				logger.Log(ctx, max(slog.LevelInfo, l.Level), "log level", "level", l.Level)
			}
		}
	}()
}

// Logger returns a logger to stderr with the configured format and level; --log-level wins.
func (c *Console) Logger(l config.Log) *slog.Logger {
	level := l.Level
	if c.level != "" {
		if err := level.UnmarshalText([]byte(c.level)); err != nil {
			panic("console: " + err.Error()) // the flag's enum allows only valid levels
		}
	}
	c.threshold.Set(level)
	options := &slog.HandlerOptions{Level: &c.threshold}
	if l.Format == config.LogText || l.Format == config.LogAuto && c.Terminal() {
		return slog.New(slog.NewTextHandler(c.Err, options)) // it quotes non-printing characters
	}
	return slog.New(slog.NewJSONHandler(plain.JSON(c.Err), options))
}
