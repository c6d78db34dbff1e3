package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Identities creates the identity of every node under home, using the programs that Build put into
// dir. It does not start the nodes.
func Identities(ctx context.Context, dir, home string, names ...string) (aggregator *Node, parties []*Node, err error) {
	if aggregator, err = OpenNode(ctx, filepath.Join(dir, Executable("aggregator")), filepath.Join(home, "aggregator.d"), "aggregator"); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		party, err := OpenNode(ctx, filepath.Join(dir, Executable("party")), filepath.Join(home, name), name)
		if err != nil {
			return nil, nil, err
		}
		parties = append(parties, party)
	}
	return aggregator, parties, nil
}

// Free reports whether nobody listens at a loopback port.
func Free(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	return err == nil && listener.Close() == nil
}

// Started is a running process of a node. The caller must call Kill, or wait for Ended, before it
// returns.
type Started struct {
	node *Node
	cmd  *exec.Cmd
	said *talk
	done chan struct{}
	err  error // read after done is closed
	peak int64 // peak resident memory, if we ended the process; 0: unknown
}

// Start runs a command of the node's program in the background.
func (n *Node) Start(args ...string) (*Started, error) { return n.StartLogged(nil, nil, args...) }

// StartLogged is Start with additional environment variables. It also writes the process' stderr to
// a log. The terminal's interrupt does not reach the process.
func (n *Node) StartLogged(log io.Writer, environment []string, args ...string) (*Started, error) {
	s := &Started{node: n, said: new(talk), done: make(chan struct{})}
	s.cmd = exec.Command(n.program, n.arguments(args)...)
	s.cmd.Env = append(os.Environ(), environment...)
	apart(s.cmd)
	s.cmd.Stderr = s.said
	if log != nil {
		s.cmd.Stderr = io.MultiWriter(s.said, log)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", n.Name, err)
	}
	go func() {
		s.err = s.cmd.Wait()
		close(s.done)
	}()
	return s, nil
}

// Serve starts the aggregator at a loopback port, and waits until it accepts connections. flags are
// flags of the program; log may be nil.
func (n *Node) Serve(ctx context.Context, port int, log io.Writer, flags ...string) (*Started, error) {
	s, err := n.StartLogged(log, nil, append(flags, "serve", "--listen", Loopback(port))...)
	if err != nil {
		return nil, err
	}
	ready, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-s.done:
			cancel()
		case <-ready.Done():
		}
	})
	err = Await(ready, port)
	cancel()
	watching.Wait()
	if err == nil {
		return s, nil
	}
	select {
	case <-s.done:
		return nil, errors.Join(s.Err(), errors.New("the aggregator ended by itself"))
	default:
		return nil, errors.Join(fmt.Errorf("%w%s", err, s.Talk()), s.Kill())
	}
}

// Talk returns the last lines that the process wrote to stderr, each with the node's name.
func (s *Started) Talk() string { return s.said.indented(s.node.Name) }

// Ended returns a channel that is closed when the process has ended.
func (s *Started) Ended() <-chan struct{} { return s.done }

// Err says how the process ended, with the last lines of its stderr; nil if it exited with 0. It
// must not be called before Ended is closed.
func (s *Started) Err() error {
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w%s", s.node.Name, s.err, s.Talk())
}

// Code returns the process' exit code, -1 if a signal ended it. It must not be called before Ended
// is closed.
func (s *Started) Code() int { return s.cmd.ProcessState.ExitCode() }

// Killed reports whether the process was ended by a signal. It must not be called before Ended is
// closed.
func (s *Started) Killed() bool {
	return s.cmd.ProcessState != nil && s.cmd.ProcessState.ExitCode() == -1
}

// Says returns the last line that the process wrote to stderr.
func (s *Started) Says() string { return s.said.last() }

// PID returns the process id.
func (s *Started) PID() int { return s.cmd.Process.Pid }

// Stop asks the process to stop, kills it if it does not stop in time, and waits until it has
// ended.
func (s *Started) Stop() error {
	s.peak = s.Resident().Peak
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return s.Kill() // it has ended already, or this system has no signals
	}
	select {
	case <-s.done:
		return nil
	case <-time.After(grace):
		return s.Kill()
	}
}

// Kill ends the process at once (SIGKILL) and waits until it has ended.
func (s *Started) Kill() error {
	s.peak = max(s.peak, s.Resident().Peak)
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing %s: %w", s.node.Name, err)
	}
	<-s.done
	return nil
}
