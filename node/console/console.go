package console

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"

	"github.com/cosketch/cosketch/node/config"
)

// Format is how data are printed.
type Format string

// The formats of --format.
const (
	Text  Format = "text"
	JSON  Format = "json"  // one indented document
	Lines Format = "jsonl" // one document a line
)

// The formats of --format in which commands that are Filers write files; they print text.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
	NPY     Format = "npy"
)

// Filer is a command that writes files in the formats CSV, Parquet and NPY.
type Filer interface{ WritesFiles() }

// Console is a command's way to the person or program that called it.
type Console struct {
	In     io.Reader
	Out    io.Writer // data
	Err    io.Writer // talk
	Format Format
	Files  Format // of files, where --format names one; else empty
	level  string // of --log-level; empty: the configuration's

	origins func(flag string) string // where a global flag's value comes from
}

// report prints an error and returns its exit code.
func (c *Console) report(name string, err error) Code {
	code := CodeOf(err)
	if err == nil {
		return code
	}
	if c.Format == Text {
		fmt.Fprintf(c.Err, "%s: %v\n", name, err)
		return code
	}
	c.line(c.Err, failure{err.Error(), code})
	return code
}

// failure is how programs read an error, on stderr.
type failure struct {
	Error string `json:"error"`
	Code  Code   `json:"code"`
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
