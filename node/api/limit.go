package api

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/seldom"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Limit bounds the connections of a listener.
type Limit struct {
	Connections int               // open at once; one address may have 1/4 of them; default 256
	Proxied     bool              // all connections come from a proxy's address, which may have all of them
	Secure      bool              // TLS: a refused caller gets no answer
	Metrics     *metrics.Registry // required: where they are counted
	Logger      *slog.Logger      // required: logs refusals
}

const (
	connectionShares = 4 // one address may have 1/4 of them
	streamShares     = 2

	refuseWithin = time.Second
	mostRefused  = 64 // refused connections that get an answer at once; others are just closed
	sayEvery     = time.Minute
)

// Listener returns a listener that accepts no more connections than the limit. Over the limit a
// caller gets 503 with Retry-After, and its request is not read.
func (o Limit) Listener(l net.Listener) net.Listener {
	if o.Connections == 0 {
		o.Connections = 256
	}
	return &limited{
		Listener: l, Limit: o, crowd: newCrowd(o.Connections, shares(connectionShares, o.Proxied)), refusing: make(chan struct{}, mostRefused),
		open:    o.Metrics.Gauge("cosketch_http_connections", "Connections of HTTP that are open."),
		said:    seldom.New(o.Logger, seldom.Clock(time.Now), sayEvery, 1),
		refused: o.Metrics.Counter("cosketch_http_connections_refused_total", "Connections of HTTP that were refused: too many were open."),
	}
}

type limited struct {
	net.Listener
	Limit
	crowd    *limiter
	refusing chan struct{}
	open     metrics.Gauge
	refused  metrics.Counter
	said     *seldom.Log
}

// Accept returns the next connection for which there is a place.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		leave, ok := l.crowd.acquire(c.RemoteAddr().String())
		if ok {
			l.open.Add(1)
			return &placed{Conn: c, leave: sync.OnceFunc(func() { l.open.Add(-1); leave() })}, nil
		}
		l.refused.Add(1)
		l.said.Warn("", "connections of readers are refused: too many are open", "connections", l.Connections, "of_one_address", l.crowd.each)
		l.refuse(c)
	}
}

// refuse tells a caller to try again later, if that is cheap. The answer waits for the request's
// first byte: many clients treat an earlier one as a broken connection.
func (l *limited) refuse(c net.Conn) {
	if l.Secure {
		c.Close()
		return
	}
	select {
	case l.refusing <- struct{}{}:
	default:
		c.Close()
		return
	}
	go func() {
		defer func() { <-l.refusing }()
		defer c.Close()
		c.SetDeadline(time.Now().Add(refuseWithin))
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			return
		}
		if _, err := io.WriteString(c, tooMany(l.Connections, l.crowd.each)); err != nil {
			return
		}
		if half, ok := c.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
			io.Copy(io.Discard, io.LimitReader(c, longestHeader)) // closing with unread data would reset the connection and lose the answer
		}
	}()
}

// tooMany is the HTTP answer to a refused connection.
func tooMany(most, each int) string {
	body := string(problem(fail.APITooManyConnections.New(most, each)).encode())
	return strings.Join([]string{
		"HTTP/1.1 503 Service Unavailable", "Content-Type: application/problem+json", fmt.Sprintf("Content-Length: %d", len(body)),
		"Cache-Control: no-store", "Retry-After: 2", "Connection: close", "", body,
	}, "\r\n")
}

// placed is a connection that frees its place when it is closed.
type placed struct {
	net.Conn
	leave func()
}

// Close closes the connection and frees its place.
func (c *placed) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
