// Package standing keeps a network of the testnet running in a directory, for people who want to
// look at it: real processes, studies slow enough to watch, nodes that may be killed and restarted.
// Other commands find the network by its directory.
package standing

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/steward"
)

// Dir is the directory of a network: programs, nodes' directories, study files and About.
type Dir string

// DefaultDir returns the default directory: cosketch/testnet in the XDG state directory.
func DefaultDir() (Dir, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the home directory: %w (name a directory with --dir)", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	return Dir(filepath.Join(base, "cosketch", "testnet")), nil
}

// About describes the network in a directory.
type About struct {
	Network string    `json:"network"` // the template's name
	Data    string    `json:"data"`    // folder of public data sets; empty for none
	Seed    uint64    `json:"seed"`
	PID     int       `json:"pid"` // process that keeps the network up
	Since   time.Time `json:"since"`
	Port    int       `json:"port"`  // of the aggregator
	Pages   string    `json:"pages"` // URL of the aggregator's pages; empty if there are none
	Restart bool      `json:"restart"`
}

// aggregator is the name of the operator's node.
const aggregator = "aggregator"

func (d Dir) path(parts ...string) string {
	return filepath.Join(append([]string{string(d)}, parts...)...)
}

func (d Dir) about() string { return d.path("network.json") }

// nodeDir returns the directory of a node.
func (d Dir) nodeDir(name string) string { return d.path("nodes", name) }

// Program returns the path of a node's program.
func (d Dir) Program(name string) string {
	if name == aggregator {
		return d.path("bin", network.Executable("aggregator"))
	}
	return d.path("bin", network.Executable("party"))
}

// Errors that callers distinguish.
var (
	ErrBusy  = errors.New("another testnet up uses this directory")
	ErrNone  = errors.New("no network in")
	ErrOther = errors.New("directory in use for something else")
	ErrName  = errors.New("no such node")
)

// Read returns the description of the network in the directory; ErrNone if there is none.
func (d Dir) Read() (About, error) {
	raw, err := os.ReadFile(d.about())
	if errors.Is(err, os.ErrNotExist) {
		return About{}, fmt.Errorf("%w %s: start one with go run ./testnet up, or name its directory with --dir", ErrNone, d)
	}
	if err != nil {
		return About{}, fmt.Errorf("reading the network of %s: %w", d, err)
	}
	var out About
	if err := json.Unmarshal(raw, &out); err != nil {
		return About{}, fmt.Errorf("reading the network of %s: %s is damaged; go run ./testnet down --remove clears the directory (%w)", d, d.about(), err)
	}
	return out, nil
}

func (d Dir) write(a About) error {
	raw, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		return err
	}
	temporary := d.about() + ".new"
	if err := os.WriteFile(temporary, raw, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", d.about(), err)
	}
	return os.Rename(temporary, d.about())
}

// make creates the directory. It returns an error if the directory contains something else.
func (d Dir) make() error {
	entries, err := os.ReadDir(string(d))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("opening the directory: %w", err)
	}
	if len(entries) > 0 && !d.ours() {
		return fmt.Errorf("%w: %s contains other files than a network; name another directory with --dir", ErrOther, d)
	}
	for _, sub := range []string{"bin", "nodes", "studies"} {
		if err := os.MkdirAll(d.path(sub), 0o700); err != nil {
			return fmt.Errorf("making the directory: %w", err)
		}
	}
	return nil
}

// ours reports whether make has created the directory.
func (d Dir) ours() bool {
	info, err := os.Stat(d.path(lockName))
	return err == nil && info.Mode().IsRegular()
}

const lockName = "up.lock"

// lock makes this process the one that keeps the network up. It returns ErrBusy if another does.
func (d Dir) lock() (*flock.Flock, error) {
	l := flock.New(d.path(lockName), flock.SetPermissions(0o600))
	held, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", d, err)
	}
	if !held {
		if about, err := d.Read(); err == nil {
			return nil, fmt.Errorf("%w: %s, process %d (testnet status, testnet down, or another --dir)", ErrBusy, d, about.PID)
		}
		return nil, fmt.Errorf("%w: %s", ErrBusy, d)
	}
	return l, nil
}

// up reports whether a process keeps the network up.
func (d Dir) up() (bool, error) {
	if !d.ours() {
		return false, nil
	}
	l, err := d.lock()
	if errors.Is(err, ErrBusy) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, l.Unlock()
}

// template returns the template of the network in the directory.
func (a About) template() (networks.Template, error) {
	found, err := networks.Find(a.Network)
	if err != nil {
		return networks.Template{}, err
	}
	return found[0], nil
}

// dates returns the dates of a study with this pace. Approvals and releases have enough time. A
// party that is killed and stays down delays the others by at most twice that time.
func dates(parties int, pace time.Duration) steward.Dates {
	work := max(time.Duration(2*parties+2)*pace, time.Minute)
	return steward.Dates{Expires: work, Deadline: 2 * work}
}
