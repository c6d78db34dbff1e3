package network

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// grace is how long a process may take to stop before it is killed.
const grace = 5 * time.Second

// keptLines is the number of lines of a process' stderr that are kept to explain its failure.
const keptLines = 30

// talk keeps the last lines that a process wrote to stderr.
type talk struct {
	mu      sync.Mutex
	lines   []string
	partial string
}

// Write splits the stream into lines.
func (t *talk) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.partial + string(data)
	for {
		line, rest, found := strings.Cut(text, "\n")
		if !found {
			break
		}
		t.lines = append(t.lines, line)
		text = rest
	}
	t.partial = text
	t.lines = t.lines[max(0, len(t.lines)-keptLines):]
	return len(data), nil
}

// last returns the last complete line, or "".
func (t *talk) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return ""
	}
	return t.lines[len(t.lines)-1]
}

// indented returns the kept lines, each prefixed with the process' name.
func (t *talk) indented(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out strings.Builder
	for _, line := range append(t.lines[:len(t.lines):len(t.lines)], t.partial) {
		if line != "" {
			fmt.Fprintf(&out, "\n  %s | %s", name, line)
		}
	}
	return out.String()
}

// command prepares a process that is asked to stop when the context ends, and killed if it does
// not.
func command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	bind(cmd)
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return cmd.Process.Kill() // this system has no signals
		}
		return nil
	}
	cmd.WaitDelay = grace
	return cmd
}

// run runs a process until it ends and returns its stdout, also when it fails. The error quotes the
// command line and the last lines of stderr, each prefixed with name.
func run(cmd *exec.Cmd, name string, said *talk) ([]byte, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, said
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("running %s: %w%s", strings.Join(cmd.Args, " "), err, said.indented(name))
	}
	return out.Bytes(), nil
}
