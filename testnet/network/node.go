package network

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Node is the state directory and program of one organisation, or of the operator.
type Node struct {
	Name string // such as "north"
	ID   string // its peer id
	HPKE string // aggregator only: its key for sealed files, in base64

	program string
	early   bool // set by LearnNames: the program has earlier names
	dir     string

	mu   sync.Mutex
	said *talk // of the latest command
}

// Dir returns the node's own directory.
func (n *Node) Dir() string { return n.dir }

// OpenNode opens a node's directory, and creates its identity if there is none. program is the path
// of its program.
func OpenNode(ctx context.Context, program, dir, name string) (*Node, error) {
	n := &Node{Name: name, program: program, dir: dir}
	if _, err := os.Stat(n.StateDir()); !errors.Is(err, os.ErrNotExist) {
		return n, n.identify(ctx, "identity")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the directory of %s: %w", name, err)
	}
	return n, n.identify(ctx, "init")
}

// identify runs a command that prints the node's identity.
func (n *Node) identify(ctx context.Context, command string) error {
	var identity struct {
		ID   string `json:"id"`
		HPKE string `json:"hpke"`
	}
	err := n.RunJSON(ctx, &identity, command)
	n.ID, n.HPKE = identity.ID, identity.HPKE
	return err
}

// SiteFile returns the path of the node's configuration.
func (n *Node) SiteFile() string { return filepath.Join(n.dir, "site.yaml") }

// StateDir returns the node's state directory.
func (n *Node) StateDir() string { return filepath.Join(n.dir, "state") }

// arguments prepends the flags that every command needs.
func (n *Node) arguments(args []string) []string {
	if n.early {
		args = earlier(args)
	}
	return append([]string{"--state", n.StateDir(), "--config", n.SiteFile()}, args...)
}

// Run runs one command of the node's program and returns its stdout, also when it fails.
func (n *Node) Run(ctx context.Context, args ...string) ([]byte, error) {
	said := new(talk)
	n.mu.Lock()
	n.said = said
	n.mu.Unlock()
	return run(command(ctx, n.program, n.arguments(args)...), n.Name, said)
}

// RunJSON runs a command and decodes its output.
func (n *Node) RunJSON(ctx context.Context, into any, args ...string) error {
	return n.RunJSONThough(ctx, into, 0, args...)
}

// RunJSONThough is RunJSON, but accepts an exit code other than 0 if the command has printed its
// output.
func (n *Node) RunJSONThough(ctx context.Context, into any, code int, args ...string) error {
	out, err := n.Run(ctx, append([]string{"--format", "json"}, args...)...)
	var ended *exec.ExitError
	if err != nil && !(code != 0 && errors.As(err, &ended) && ended.ExitCode() == code && len(out) > 0) {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("reading what %s %v printed: %w", n.Name, args, err)
	}
	return nil
}

// Says returns the last line that the node's latest command wrote to stderr.
func (n *Node) Says() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.said == nil {
		return ""
	}
	return n.said.last()
}
