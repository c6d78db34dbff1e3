package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosketch/cosketch/node/metrics"
)

// Forms that come slowly or never do not take a place from other requests.
func TestSlowForms(t *testing.T) {
	s, _ := newServer(t, newFake(t), func(o *Options) { o.Tokens = kept{}.find })
	s.Page("POST /signin", "", s.SignIn, func(w http.ResponseWriter, _ *http.Request, p *Problem) { w.WriteHeader(p.Status) })
	l, _, err := Listen("127.0.0.1:0")
	check(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, s, nil, slog.New(slog.DiscardHandler)) }()
	var slow []net.Conn
	defer func() {
		for _, c := range slow {
			c.Close()
		}
		cancel()
		check(t, <-ended)
	}()
	at := l.Addr().String()
	for range mostAtOnce {
		c, err := net.Dial("tcp", at)
		check(t, err)
		slow = append(slow, c)
		fmt.Fprintf(c, "POST /signin HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 4000\r\n\r\ntoken=", at)
	}
	client := http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for range 50 {
		answer, err := client.Get("http://" + at + prefix + "/studies")
		check(t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		check(t, errors.Join(err, answer.Body.Close()))
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("beside slow forms: %s", answer.Status)
		}
	}
}

// A form has a timeout of five seconds and a maximum length.
func TestFormsAreBounded(t *testing.T) {
	s, _ := newServer(t, newFake(t), func(o *Options) { o.Tokens = kept{}.find })
	s.Page("POST /signin", "", s.SignIn, func(w http.ResponseWriter, _ *http.Request, p *Problem) { w.WriteHeader(p.Status) })
	w := ask(s, "/signin", func(r *http.Request) {
		r.Method, r.Body = http.MethodPost, io.NopCloser(strings.NewReader("token="+strings.Repeat("a", longestFormBytes)))
	})
	problemOf(t, w, http.StatusBadRequest)
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		l := &once{conn: near, closed: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, l, s, nil, slog.New(slog.DiscardHandler)) }()
		began := time.Now()
		fmt.Fprint(far, "POST /signin HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4000\r\n\r\ntoken=")
		answer, err := http.ReadResponse(bufio.NewReader(far), nil)
		check(t, err)
		if took := time.Since(began); answer.StatusCode != http.StatusBadRequest || took != formWithin {
			t.Errorf("%s after %v", answer.Status, took)
		}
		far.Close()
		cancel()
		check(t, <-ended)
	})
}

// once is a listener with a single connection.
type once struct {
	conn   net.Conn
	closed chan struct{}
	end    sync.Once
}

func (o *once) Accept() (net.Conn, error) {
	if c := o.conn; c != nil {
		o.conn = nil
		return c, nil
	}
	<-o.closed
	return nil, net.ErrClosed
}

func (o *once) Close() error   { o.end.Do(func() { close(o.closed) }); return nil }
func (o *once) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func TestCrowd(t *testing.T) {
	c := newCrowd(8, 4)
	var leaves []func()
	enter := func(remote string, want bool) {
		t.Helper()
		leave, ok := c.acquire(remote)
		if ok != want {
			t.Fatalf("%s: %t, want %t, with %d there and %v", remote, ok, want, c.all, c.from)
		}
		leaves = append(leaves, leave)
	}
	enter("192.0.2.1:1", true)
	enter("192.0.2.1:2", true)
	enter("192.0.2.1:3", false)
	enter("[::ffff:192.0.2.1]:4", false) // the same host
	enter("[2001:db8::1]:1", true)
	enter("[2001:db8::2]:1", true)
	enter("[2001:db8::3%eth0]:1", false) // one host has all of them
	enter("[2001:db8:0:1::3]:1", true)
	for range 3 {
		enter("127.0.0.1:1", true)
	}
	enter("127.0.0.1:1", false)
	enter("198.51.100.1:1", false)
	for range 2 { // leaving twice does not free another's place
		leaves[0]()
	}
	enter("192.0.2.1:5", true)
	enter("127.0.0.1:1", false)
	for _, leave := range leaves {
		if leave != nil {
			leave()
		}
	}
	if c.all != 0 || len(c.from) != 0 {
		t.Errorf("%d are left, %v", c.all, c.from)
	}

	c = newCrowd(8, shares(4, true)) // a proxy stands for all callers
	for range 8 {
		enter("192.0.2.1:1", true)
	}
	enter("192.0.2.1:1", false)
}

// The refusal of a request over the limit names the limit, and one address cannot take all places.
func TestRequestsAtOnce(t *testing.T) {
	s, _ := newServer(t, newFake(t), nil)
	release := make(chan struct{})
	entered := make(chan struct{}, 4)
	handler := s.atOnce(newCrowd(4, 2), func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-release
	})
	from := func(address string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = address
		w := httptest.NewRecorder()
		handler(w, r)
		return w
	}
	for _, address := range []string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:1"} {
		go from(address)
		<-entered
	}
	w := from("192.0.2.1:3")
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "2" || !strings.Contains(w.Body.String(), "answers 4 requests of this kind at once, 2 from one address") {
		t.Errorf("a third of one address: %d %s", w.Code, w.Body)
	}
	go from("192.0.2.3:1")
	<-entered
	if w := from("192.0.2.4:1"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a fifth: %d", w.Code)
	}
	close(release)
}

// pipes is a listener whose connections are in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error   { close(l.done); return nil }
func (l *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// elsewhere is a connection from an address.
type elsewhere struct {
	net.Conn
	address string
}

func (c elsewhere) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", c.address)
	return a
}

func (l *pipes) dial(address string) net.Conn {
	here, there := net.Pipe()
	l.conns <- elsewhere{there, address}
	return here
}

// asked sends a request and reads the status of the answer.
func asked(c net.Conn) (status int, body string, err error) {
	go io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return r.StatusCode, string(b), err
}

// Callers that send a byte at a time hold their connections for five seconds, at most a quarter of
// all from one address. Others are told meanwhile to try again later.
func TestSlowCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		registry := &metrics.Registry{}
		var log strings.Builder
		limited := Limit{Connections: 8, Metrics: registry, Logger: slog.New(slog.NewTextHandler(&log, nil))}.Listener(l)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
		go func() { ended <- Serve(ctx, limited, hello, nil, slog.New(slog.DiscardHandler)) }()

		began := time.Now()
		closed := make(chan time.Duration, 8)
		slow := func(address string) {
			c := l.dial(address)
			go io.Copy(io.Discard, c)
			go func() {
				for _, b := range []byte("GET / HTTP/1.1\r\nX-Slow: yes, very slow indeed\r\n") {
					if _, err := c.Write([]byte{b}); err != nil {
						break
					}
					<-time.After(time.Second)
				}
				closed <- time.Since(began)
			}()
		}
		slow("192.0.2.1:1")
		slow("192.0.2.1:2")
		synctest.Wait()
		status, body, err := asked(l.dial("192.0.2.1:3"))
		var p Problem
		if err != nil || status != http.StatusServiceUnavailable || json.Unmarshal([]byte(body), &p) != nil || !strings.Contains(p.Detail, "has 8 connections open, or 2 from your address, and takes no more (try again") {
			t.Errorf("a third connection of one address: %d %q %v", status, body, err)
		}
		silent := l.dial("192.0.2.1:4") // a caller that sends nothing gets no answer, and is not kept forever
		check(t, silent.SetReadDeadline(time.Now().Add(refuseWithin/2)))
		if n, err := silent.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("before a request: %d bytes, %v", n, err)
		}
		check(t, silent.SetReadDeadline(time.Now().Add(refuseWithin)))
		if n, err := silent.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("after a second without a request: %d bytes, %v", n, err)
		}
		if status, body, err := asked(l.dial("192.0.2.2:1")); err != nil || status != http.StatusOK || body != "hello" {
			t.Errorf("another address meanwhile: %d %q %v", status, body, err)
		}
		synctest.Wait()
		for i := range 6 {
			slow(fmt.Sprintf("127.0.0.1:%d", i))
		}
		synctest.Wait()
		if status, _, err := asked(l.dial("192.0.2.2:2")); err != nil || status != http.StatusServiceUnavailable {
			t.Errorf("with all places taken: %d %v", status, err)
		}
		for range 8 {
			if after := <-closed; after < headersWithin || after > headersWithin+2*time.Second {
				t.Errorf("a slow caller was let go after %v", after)
			}
		}
		synctest.Wait()
		if status, _, err := asked(l.dial("192.0.2.1:4")); err != nil || status != http.StatusOK {
			t.Errorf("after the slow ones: %d %v", status, err)
		}
		if strings.Count(log.String(), "too many are open") != 1 {
			t.Errorf("logged, once a minute:\n%s", log.String())
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		var text strings.Builder
		check(t, registry.Write(&text))
		for _, want := range []string{"\ncosketch_http_connections 0\n", "\ncosketch_http_connections_refused_total 3\n"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%q is not in\n%s", want, text.String())
			}
		}
	})
}

// Over TCP the refusal reaches callers that have already sent a request. Over TLS their connections
// are closed without an answer.
func TestRefusalsReachCallers(t *testing.T) {
	for _, secure := range []bool{false, true} {
		l, _, err := Listen("127.0.0.1:0")
		check(t, err)
		limited := Limit{Connections: 1, Secure: secure, Metrics: &metrics.Registry{}, Logger: slog.New(slog.DiscardHandler)}.Listener(l)
		accepted := make(chan net.Conn)
		go func() {
			defer close(accepted)
			for {
				c, err := limited.Accept()
				if err != nil {
					return
				}
				accepted <- c
			}
		}()
		first, err := net.Dial("tcp", l.Addr().String())
		check(t, err)
		place := <-accepted
		for range 2 * mostRefused {
			c, err := net.Dial("tcp", l.Addr().String())
			check(t, err)
			check(t, c.SetDeadline(time.Now().Add(10*time.Second)))
			status, _, err := asked(c)
			if !secure && (err != nil || status != http.StatusServiceUnavailable) || secure && (err == nil || errors.Is(err, context.DeadlineExceeded)) {
				t.Errorf("TLS %t: %d %v", secure, status, err)
			}
			c.Close()
		}
		place.Close()
		first.Close()
		last, err := net.Dial("tcp", l.Addr().String())
		check(t, err)
		(<-accepted).Close()
		last.Close()
		limited.Close()
		<-accepted
	}
}
