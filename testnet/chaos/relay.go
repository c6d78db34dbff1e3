package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// relay stands between the parties and the aggregator, and can be cut: all that is
// open breaks off, and nothing new comes through until it is mended.
type relay struct {
	listener net.Listener
	to       string
	up       atomic.Int64 // bytes that went to the aggregator

	mu      sync.Mutex
	cut     bool
	open    map[net.Conn]bool
	running sync.WaitGroup
}

// newRelay carries connections to an address.
func newRelay(ctx context.Context, to string) (*relay, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening the relay: %w", err)
	}
	r := &relay{listener: listener, to: to, open: map[net.Conn]bool{}}
	r.running.Go(r.accept)
	return r, nil
}

// port is where the relay listens on loopback.
func (r *relay) port() int { return r.listener.Addr().(*net.TCPAddr).Port }

func (r *relay) accept() {
	for {
		in, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		r.running.Go(func() { r.carry(in) })
	}
}

func (r *relay) carry(in net.Conn) {
	defer in.Close()
	if !r.enter(in) {
		return
	}
	defer r.leave(in)
	out, err := net.Dial("tcp", r.to)
	if err != nil {
		return // the aggregator is down
	}
	defer out.Close()
	if !r.enter(out) {
		return
	}
	defer r.leave(out)
	var both sync.WaitGroup
	both.Go(func() { pass(counted{out, &r.up}, in) })
	pass(in, out)
	both.Wait()
}

// counted counts what is written to a connection.
type counted struct {
	net.Conn
	n *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// pass copies until one side ends, and then ends both.
func pass(to, from net.Conn) {
	io.Copy(to, from)
	to.Close()
	from.Close()
}

func (r *relay) enter(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cut {
		return false
	}
	r.open[c] = true
	return true
}

func (r *relay) leave(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
}

// Cut breaks every connection, and keeps new ones out until Mend.
func (r *relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = true
	for c := range r.open {
		c.Close()
	}
}

// Mend lets connections through again.
func (r *relay) Mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = false
}

// Close cuts the relay for good.
func (r *relay) Close() error {
	err := r.listener.Close()
	r.Cut()
	r.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
