package standing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
)

// running returns the process id in a node's pid file, if that process is the node; 0 if the node
// does not run.
func (d Dir) running(name string) (int, error) {
	pid, err := d.pid(name)
	if err != nil || pid == 0 || !alive(pid) {
		return 0, err
	}
	if !strings.Contains(commandLine(pid), d.nodeDir(name)) {
		return 0, nil // the node has ended, or another program has its process id now
	}
	return pid, nil
}

// Kill ends a node at once (SIGKILL). It says what the node was doing.
func Kill(ctx context.Context, d Dir, name string, talk io.Writer) error {
	about, err := d.Read()
	if err != nil {
		return err
	}
	t, err := about.template()
	if err != nil {
		return err
	}
	if err := known(name, t); err != nil {
		return err
	}
	pid, err := d.running(name)
	if err != nil {
		return err
	}
	up, err := d.up()
	if err != nil {
		return err
	}
	if pid == 0 {
		hint := "testnet up starts it"
		if up && about.Restart {
			hint = "it comes back within seconds"
		} else if up {
			hint = "it is not restarted (--no-restart)"
		}
		return fmt.Errorf("%s is not running: %s", name, hint)
	}
	at := ""
	if name != aggregator {
		n, err := network.OpenNode(ctx, d.Program(name), d.nodeDir(name), name)
		if err != nil {
			return err
		}
		at = (&watch{site: siteOf(n)}).doing(ctx, name)
	}
	if err := kill(pid); err != nil {
		return fmt.Errorf("killing %s, process %d: %w", name, pid, err)
	}
	if err := d.awaitEnd(name, pid); err != nil {
		return err
	}
	fmt.Fprintf(talk, "killed %s, process %d%s.\n", name, pid, at)
	switch {
	case up && about.Restart:
		fmt.Fprintln(talk, "testnet up starts it again in a moment, and it goes on from what it had stored.")
	case up:
		fmt.Fprintln(talk, "It is not restarted (--no-restart). If the other parties are a quorum, studies end without it at their deadlines.")
	}
	return nil
}

func known(name string, t networks.Template) error {
	all := append([]string{aggregator}, t.Parties...)
	if slices.Contains(all, name) {
		return nil
	}
	if near := schema.Closest(name, all); near != "" {
		return fmt.Errorf("%w %q in %s: did you mean %s?", ErrName, name, t.Name, near)
	}
	return fmt.Errorf("%w %q in %s; there are %s", ErrName, name, t.Name, strings.Join(all, ", "))
}

// awaitEnd waits until a node's process has ended or was replaced.
func (d Dir) awaitEnd(name string, pid int) error {
	for range 100 {
		if now, err := d.running(name); err != nil || now != pid {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%s, process %d, is still running 5 s after it was killed", name, pid)
}

// Down ends the process that keeps the network up, and all nodes. If remove is set, it then removes
// the directory.
func Down(d Dir, remove bool, talk io.Writer) error {
	if !d.ours() {
		return fmt.Errorf("%w %s", ErrNone, d)
	}
	about, err := d.Read()
	if err != nil && !remove && !errors.Is(err, ErrNone) {
		return err
	}
	up, err := d.up()
	if err != nil {
		return err
	}
	if up {
		if about.PID < 2 {
			return fmt.Errorf("%s is being started: try again in a moment", d)
		}
		if err := terminate(about.PID); err != nil {
			return fmt.Errorf("stopping process %d: %w", about.PID, err)
		}
		if err := d.awaitDown(); err != nil {
			return err
		}
		fmt.Fprintf(talk, "stopped the network of %s, process %d\n", d, about.PID)
	} else {
		fmt.Fprintf(talk, "no testnet up runs in %s\n", d)
	}
	if t, err := about.template(); err == nil {
		if err := d.killLeftovers(t, talk); err != nil {
			return err
		}
	}
	if !remove {
		fmt.Fprintf(talk, "What the nodes hold is kept for the next testnet up; --remove clears it.\n")
		return nil
	}
	if err := os.RemoveAll(string(d)); err != nil {
		return fmt.Errorf("removing %s: %w", d, err)
	}
	fmt.Fprintf(talk, "removed %s\n", d)
	return nil
}

// awaitDown waits until no process keeps the network up.
func (d Dir) awaitDown() error {
	const patience = 20 * time.Second
	for began := time.Now(); time.Since(began) < patience; time.Sleep(100 * time.Millisecond) {
		if up, err := d.up(); err != nil || !up {
			return err
		}
	}
	return fmt.Errorf("the network of %s is still up after %.0f s", d, patience.Seconds())
}

// Standing is the state of a network, for programs.
type Standing struct {
	About
	Dir   string  `json:"dir"`
	Up    bool    `json:"up"`
	Nodes []State `json:"nodes"`
}

// State is the state of one node.
type State struct {
	Name    string   `json:"name"`
	PID     int      `json:"pid"` // 0 if it does not run
	Studies []string `json:"studies"`
}

// Status returns which nodes run and the states of their studies.
func Status(ctx context.Context, d Dir) (Standing, error) {
	about, err := d.Read()
	if err != nil {
		return Standing{}, err
	}
	t, err := about.template()
	if err != nil {
		return Standing{}, err
	}
	out := Standing{About: about, Dir: string(d)}
	if out.Up, err = d.up(); err != nil {
		return Standing{}, err
	}
	for _, name := range append([]string{aggregator}, t.Parties...) {
		pid, err := d.running(name)
		if err != nil {
			return Standing{}, err
		}
		one := State{Name: name, PID: pid, Studies: []string{}}
		n, err := network.OpenNode(ctx, d.Program(name), d.nodeDir(name), name)
		if err != nil {
			return Standing{}, err
		}
		for _, s := range snapshots(ctx, n) {
			one.Studies = append(one.Studies, s.Study[:8]+" "+s.Stands())
		}
		out.Nodes = append(out.Nodes, one)
	}
	return out, nil
}

// Write prints the state for people.
func (s Standing) Write(w io.Writer) {
	if s.Up {
		fmt.Fprintf(w, "%s is up since %s, kept by process %d in %s.\n", s.Network, s.Since.Local().Format("2006-01-02 15:04:05"), s.PID, s.Dir)
	} else {
		fmt.Fprintf(w, "%s is not up; what its nodes hold is kept in %s.\n", s.Network, s.Dir)
	}
	if s.Up && s.Pages != "" {
		fmt.Fprintf(w, "Pages: %s\n", s.Pages)
	}
	table := present.NewTable("node", ">process", "studies")
	for _, n := range s.Nodes {
		process := "down"
		if n.PID > 0 {
			process = fmt.Sprint(n.PID)
		}
		if len(n.Studies) == 0 {
			table.Add(n.Name, process, "none")
		}
		for i, study := range n.Studies {
			if i > 0 {
				table.Add("", "", study)
				continue
			}
			table.Add(n.Name, process, study)
		}
	}
	table.Write(w)
}
