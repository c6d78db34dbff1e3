// Package program is the common part of the commands of the testnet and of the laboratory: parsing,
// running, exit codes, a temporary directory with the two programs, and the output of measurements
// and errors.
package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/cosketch/cosketch/testnet/network"
)

// Exit codes, the same as those of the nodes' programs.
const (
	OK       = 0
	Failed   = 1
	Usage    = 4
	Internal = 5
)

// Streams are where a command writes.
type Streams struct {
	Out io.Writer // the requested output
	Log io.Writer // progress messages
}

// Command is one command of a program, with its flags. An error exits with Failed, except those of
// Wrong and Exit, and errors of Print in writing.
type Command interface {
	Run(context.Context, Streams) error
}

// ended is an error with an exit code; if it wraps no error, no message is printed.
type ended struct {
	code int
	err  error
}

func (e ended) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e ended) Unwrap() error { return e.err }

// UsageError marks an error that other arguments can fix; nil stays nil.
func UsageError(err error) error {
	if err == nil {
		return nil
	}
	return ended{Usage, err}
}

// UsageErrorf is Wrong of a new error.
func UsageErrorf(format string, args ...any) error { return UsageError(fmt.Errorf(format, args...)) }

// Exit exits the program with a code, without a message.
func Exit(code int) error {
	if code == OK {
		return nil
	}
	return ended{code: code}
}

// Timed is the flag of commands that end by themselves. Each command sets its default, as in
// `embed:"" set:"timeout=10m"`.
type Timed struct {
	Timeout time.Duration `default:"${timeout}" help:"Give up after this time."`
}

func (t Timed) limit() time.Duration { return t.Timeout }

// Formatted is the flag of commands that print for people or for programs.
type Formatted struct {
	Format string `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
}

// Text reports whether the output is for people.
func (f Formatted) Text() bool { return f.Format != "json" }

// Print prints the measurements in the requested format.
func (f Formatted) Print(s Streams, measured any, text func(io.Writer) error) error {
	if f.Text() {
		if err := text(s.Out); err != nil {
			return ended{Internal, err}
		}
		return nil
	}
	out := json.NewEncoder(s.Out)
	out.SetIndent("", "  ")
	if err := out.Encode(measured); err != nil {
		return ended{Internal, fmt.Errorf("printing: %w", err)}
	}
	return nil
}

// Main parses the arguments, runs the chosen command and returns the exit code. name is the prefix
// of messages. When interrupted, or after the command's timeout, the command ends in order.
func Main(name string, parser *kong.Kong, args []string, s Streams) int {
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(s.Log, "%s: %v (see --help)\n", name, err)
		return Usage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	command := parsed.Selected().Target.Addr().Interface().(Command)
	if timed, ok := command.(interface{ limit() time.Duration }); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timed.limit())
		defer cancel()
	}
	err = command.Run(ctx, s)
	if err == nil {
		return OK
	}
	how := ended{Failed, err}
	if !errors.As(err, &how) {
		how.err = Explain(ctx, err, nil)
	}
	if how.err != nil {
		fmt.Fprintf(s.Log, "%s: %v\n", name, how.err)
	}
	return how.code
}

// Built creates a temporary directory with the programs of a network in it. remove removes it.
func Built(ctx context.Context, of string, log io.Writer) (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp("", "cosketch-"+of+"-"); err != nil {
		return "", nil, fmt.Errorf("making a directory for the nodes: %w", err)
	}
	remove = func() error {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("removing the nodes' state: %w", err)
		}
		return nil
	}
	fmt.Fprintln(log, "building party and aggregator")
	if err := network.Build(ctx, dir); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

// In calls do with such a directory, and removes it afterwards.
func In(ctx context.Context, of string, log io.Writer, do func(dir string) error) (err error) {
	dir, remove, err := Built(ctx, of, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	return do(dir)
}

// Explain returns why a run ended: from outside, or by err. In the latter case it adds what the
// aggregator said, if there is one.
func Explain(ctx context.Context, err error, aggregator *network.Started) error {
	// An interrupt at the terminal reaches the nodes too, possibly first.
	select {
	case <-ctx.Done():
	case <-time.After(200 * time.Millisecond):
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errors.New("gave up after --timeout")
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case aggregator != nil:
		return fmt.Errorf("%w%s", err, aggregator.Talk())
	}
	return err
}
