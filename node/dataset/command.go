package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Command is a program that writes CSV to its standard output. It runs once for each pass over the
// data, with the rights and environment of this process, an empty standard input and no shell.
type Command struct {
	Args []string // required: the program, and its arguments
	Dir  string   // working directory. Default: the current directory
}

// String names the program without its arguments, which may hold secrets.
func (c *Command) String() string {
	if len(c.Args) == 0 {
		return "a command"
	}
	return "the output of " + filepath.Base(c.Args[0])
}

// CommandError is the cause of an Error about a program that failed. The program's standard error
// may quote values, so it is for the data's owner only, and is not part of the error message.
type CommandError struct {
	Said string // the end of its standard error
	Err  error
}

func (e *CommandError) Error() string { return e.Err.Error() }

func (e *CommandError) Unwrap() error { return e.Err }

const (
	// mostSaid bounds what is kept of a program's standard error.
	mostSaid = 4 << 10
	// commandGrace is how long a stopped program may keep its output open.
	commandGrace = 5 * time.Second
)

// running is a running program whose output is being read.
type running struct {
	name string
	ctx  context.Context
	cmd  *exec.Cmd
	stop context.CancelFunc
	out  io.ReadCloser
	said tail
	done bool
	end  error // returned by Read after the end of the output
}

// start runs the program.
func (c *Command) start(ctx context.Context) (*running, error) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return nil, errors.New("opening data: no command is given")
	}
	inner, stop := context.WithCancel(ctx)
	r := &running{name: c.String(), ctx: ctx, stop: stop, cmd: exec.CommandContext(inner, c.Args[0], c.Args[1:]...)}
	r.cmd.Dir, r.cmd.Stderr, r.cmd.WaitDelay = c.Dir, &r.said, commandGrace
	killWhole(r.cmd)
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		r.out, err = out, r.cmd.Start()
	}
	if err != nil {
		stop()
		return nil, &Error{File: r.name, Message: "cannot be run: " + reason(err), Hint: "the first word is a program: its path, or a name that PATH finds", Err: err}
	}
	return r, nil
}

// reason returns the operating system's message without the path.
func reason(err error) string {
	var wrapped *exec.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err.Error()
	}
	return err.Error()
}

// Read reads the program's output. It returns io.EOF only if the program succeeded.
func (r *running) Read(p []byte) (int, error) {
	if !r.done {
		n, err := r.out.Read(p)
		if err == nil || n > 0 {
			return n, nil
		}
		if r.end = r.wait(); r.end == nil {
			r.end = err
		}
	}
	return 0, r.end
}

func (r *running) wait() error {
	r.done = true
	err := r.cmd.Wait()
	r.stop()
	if cause := context.Cause(r.ctx); cause != nil {
		return fmt.Errorf("reading %s: %w", r.name, cause)
	}
	if err == nil {
		return nil
	}
	e := &Error{File: r.name, Message: "the program failed: " + err.Error(), Err: &CommandError{strings.TrimSpace(string(r.said.bytes)), err}}
	if len(r.said.bytes) > 0 {
		e.Hint = "its error output may quote values, so only party data show shows it"
	}
	return e
}

// Close kills the program and those that it started.
func (r *running) Close() error {
	r.stop()
	if !r.done {
		r.done = true
		r.cmd.Wait() // the program was killed: its result is ignored
	}
	return nil
}

// tail keeps the end of what is written.
type tail struct{ bytes []byte }

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.bytes = append(t.bytes, p...)
	if excess := len(t.bytes) - mostSaid; excess > 0 {
		t.bytes = append(t.bytes[:0], t.bytes[excess:]...)
	}
	return len(p), nil
}
