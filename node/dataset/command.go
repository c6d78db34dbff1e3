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

// Command is a program that writes a CSV file to its standard output. It is run once for each pass over the data,
// with the rights and the environment of this process and nothing to read, and no shell sees its words.
type Command struct {
	Args []string // required: the program, and its arguments
	Dir  string   // where it is run. Default: the current directory
}

// String names the program without its arguments, which may hold what is not to be said.
func (c *Command) String() string {
	if len(c.Args) == 0 {
		return "a command"
	}
	return "the output of " + filepath.Base(c.Args[0])
}

// CommandError is the cause of an Error about a program that failed. What it wrote to standard error may quote values: it
// is for the data's owner, and in no message.
type CommandError struct {
	Said string // the end of it
	Err  error
}

func (e *CommandError) Error() string { return e.Err.Error() }

func (e *CommandError) Unwrap() error { return e.Err }

const (
	// mostSaid bounds what is kept of a program's standard error.
	mostSaid = 4 << 10
	// commandGrace is how long a program that was stopped may leave its output open.
	commandGrace = 5 * time.Second
)

// running is a program that is being read.
type running struct {
	name string
	ctx  context.Context
	cmd  *exec.Cmd
	stop context.CancelFunc
	out  io.ReadCloser
	said tail
	done bool
	end  error // what the end of its output means
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

// reason is what the operating system said, without the path.
func reason(err error) string {
	var wrapped *exec.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err.Error()
	}
	return err.Error()
}

// Read reads what the program writes. Its end is the end of the data only if the program did not fail.
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
		e.Hint = "what it says may quote values, and is shown by party data show alone"
	}
	return e
}

// Close ends the program, and those that it started.
func (r *running) Close() error {
	r.stop()
	if !r.done {
		r.done = true
		r.cmd.Wait() // it was told to end, and nothing of it is wanted
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
