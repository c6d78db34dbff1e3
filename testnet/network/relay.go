package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// Relay is a proxy between the parties and the aggregator that can be cut: it then closes all
// connections and accepts no new ones until it is mended.
type Relay struct {
	listener net.Listener
	to       string
	up, down atomic.Int64

	mu      sync.Mutex
	cut     bool
	open    map[net.Conn]bool
	running sync.WaitGroup
}

// NewRelay returns a relay that forwards connections to an address, HOST:PORT.
func NewRelay(ctx context.Context, to string) (*Relay, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening the relay: %w", err)
	}
	r := &Relay{listener: listener, to: to, open: map[net.Conn]bool{}}
	r.running.Go(r.accept)
	return r, nil
}

// Port returns the loopback port at which the relay listens.
func (r *Relay) Port() int { return r.listener.Addr().(*net.TCPAddr).Port }

// Up returns the number of bytes sent to the address.
func (r *Relay) Up() int64 { return r.up.Load() }

// Down returns the number of bytes received from the address.
func (r *Relay) Down() int64 { return r.down.Load() }

func (r *Relay) accept() {
	for {
		in, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		r.running.Go(func() { r.carry(in) })
	}
}

func (r *Relay) carry(in net.Conn) {
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
	pass(counted{in, &r.down}, out)
	both.Wait()
}

// counted counts the bytes written to a connection.
type counted struct {
	net.Conn
	n *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// pass copies until one side ends, and then closes both.
func pass(to, from net.Conn) {
	io.Copy(to, from)
	to.Close()
	from.Close()
}

func (r *Relay) enter(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cut {
		return false
	}
	r.open[c] = true
	return true
}

func (r *Relay) leave(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
}

// Cut closes every connection and refuses new ones until Mend.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = true
	for c := range r.open {
		c.Close()
	}
}

// Restore accepts connections again.
func (r *Relay) Restore() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = false
}

// Close closes the relay and waits for its connections to end.
func (r *Relay) Close() error {
	err := r.listener.Close()
	r.Cut()
	r.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
