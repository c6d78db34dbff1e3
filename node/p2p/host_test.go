package p2p

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cosketch/cosketch/protocol"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// quicLoopback and tcpLoopback are listen addresses with a port of the system's choice.
const (
	tcpLoopback  = "/ip4/127.0.0.1/tcp/0"
	quicLoopback = "/ip4/127.0.0.1/udp/0/quic-v1"
)

func testKey(n int) ed25519.PrivateKey {
	seed := bytes.Repeat([]byte{byte(n)}, ed25519.SeedSize)
	seed[1] = byte(n >> 8)
	return ed25519.NewKeyFromSeed(seed)
}

// keyOf returns the key of node n as a Config holds it.
func keyOf(n int) func() ed25519.PrivateKey {
	return func() ed25519.PrivateKey { return testKey(n) }
}

func testID(t testing.TB, n int) protocol.PeerID {
	t.Helper()
	id, err := protocol.PeerIDFromKey(testKey(n).Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func everybody(protocol.PeerID) bool { return true }

func only(ids ...protocol.PeerID) func(protocol.PeerID) bool {
	return func(p protocol.PeerID) bool {
		for _, id := range ids {
			if id == p {
				return true
			}
		}
		return false
	}
}

// start runs node n until the test ends.
func start(t testing.TB, n int, change func(*Config)) *Host {
	t.Helper()
	cfg := Config{Key: keyOf(n), Allow: everybody}
	if change != nil {
		change(&cfg)
	}
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func listening(addrs ...string) func(*Config) {
	return func(c *Config) { c.Listen = addrs }
}

// patience returns a context that ends a hanging test; no test comes near its limit.
func patience(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func echo(_ context.Context, _ protocol.PeerID, request []byte) ([]byte, error) {
	return request, nil
}

// waitForEnd is a handler that waits until its context ends.
func waitForEnd(ctx context.Context, _ protocol.PeerID, _ []byte) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestCall(t *testing.T) {
	server := start(t, 1, listening(tcpLoopback))
	client := start(t, 2, nil)
	server.Serve("who", func(_ context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
		return fmt.Appendf(nil, "%s said %s", from, request), nil
	})
	got, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "who", []byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	if want := client.PeerID().String() + " said hello"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(client.Addrs()) != 0 {
		t.Errorf("a node without listen address listens at %q", client.Addrs())
	}
}

func TestFrameSizes(t *testing.T) {
	server := start(t, 1, listening(tcpLoopback))
	client := start(t, 2, nil)
	server.Serve("echo", echo)
	for _, n := range []int{0, 1, slice - 1, slice, slice + 1, 3*slice + 7, 8 << 20} {
		request := bytes.Repeat([]byte{0xa5}, n)
		got, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "echo", request)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if !bytes.Equal(got, request) {
			t.Errorf("%d bytes came back as %d others", n, len(got))
		}
	}
}

func TestTooLarge(t *testing.T) {
	var logged lockedBuffer
	server := start(t, 1, func(c *Config) {
		c.Listen = []string{tcpLoopback}
		c.Limits = Limits{Frame: 1000, FrameOf: map[string]Frames{"wide": {2000, 2000}, "short": {10, 0}}}
		c.Logger = slog.New(slog.NewTextHandler(&logged, nil))
	})
	served := 0
	server.Serve("echo", func(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
		served++
		return echo(ctx, from, request)
	})
	server.Serve("wide", echo)
	server.Serve("short", echo)
	server.Serve("grow", func(context.Context, protocol.PeerID, []byte) ([]byte, error) { return make([]byte, 1001), nil })
	client := start(t, 2, nil) // has the larger default limit
	call := func(h *Host, name string, n int) error {
		_, err := h.Call(patience(t), server.PeerID(), server.Addrs(), name, make([]byte, n))
		return err
	}

	for _, n := range []int{1001, 8 << 20} { // the larger one exceeds the stream's window
		wantRefusal(t, call(client, "echo", n), CodeTooLarge)
	}
	if served != 0 {
		t.Errorf("the handler saw %d oversize requests", served)
	}
	if err := call(client, "wide", 2000); err != nil {
		t.Error(err)
	}
	wantRefusal(t, call(client, "wide", 2001), CodeTooLarge)
	wantRefusal(t, call(client, "short", 11), CodeTooLarge)
	wantRefusal(t, call(client, "short", 1), CodeInternal) // the answer must be empty
	wantRefusal(t, call(client, "grow", 0), CodeInternal)
	if !strings.Contains(logged.String(), "response of 1001 bytes") {
		t.Errorf("the oversize response was not logged: %s", logged.String())
	}

	narrow := start(t, 3, func(c *Config) { c.Limits = Limits{Frame: 10} })
	if err := call(narrow, "wide", 11); err == nil || !strings.Contains(err.Error(), "at most 10") {
		t.Errorf("own oversize request: %v", err)
	}
	narrow2 := start(t, 4, func(c *Config) { c.Limits = Limits{Frame: 500} })
	if err := call(narrow2, "grow", 0); err == nil { // the server already refuses 1001 bytes
		t.Error("no error")
	}
	server.Serve("reply", func(context.Context, protocol.PeerID, []byte) ([]byte, error) { return make([]byte, 501), nil })
	mute := start(t, 5, func(c *Config) { c.Limits = Limits{FrameOf: map[string]Frames{"reply": {}}} })
	if err := call(mute, "reply", 0); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an answer where none is wanted: %v", err)
	}
	if err := call(narrow2, "reply", 0); !errors.Is(err, ErrTooLarge) {
		t.Errorf("oversize answer: %v", err)
	}
}

func wantRefusal(t *testing.T, err error, code Code) *Refusal {
	t.Helper()
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Fatalf("got %v, want refusal %q", err, code)
	}
	return refusal
}

func TestHandlerErrors(t *testing.T) {
	var logged lockedBuffer
	server := start(t, 1, func(c *Config) {
		c.Listen = []string{tcpLoopback}
		c.Logger = slog.New(slog.NewTextHandler(&logged, nil))
	})
	client := start(t, 2, nil)
	call := func(result error) error {
		server.Serve("fail", func(context.Context, protocol.PeerID, []byte) ([]byte, error) { return []byte("x"), result })
		_, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "fail", nil)
		return err
	}

	refusal := wantRefusal(t, call(fmt.Errorf("looking: %w", Refuse(CodeUnknownStudy, "study %s", "1234abcd"))), CodeUnknownStudy)
	if refusal.Message != "study 1234abcd" {
		t.Errorf("message %q", refusal.Message)
	}
	if got, want := refusal.Error(), "unknown study: study 1234abcd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	refusal = wantRefusal(t, call(&Refusal{Code: CodeInvalid, Message: "a\x1b[31m\n" + strings.Repeat("ü", 400)}), CodeInvalid)
	if len(refusal.Message) > maxMessage || strings.ContainsAny(refusal.Message, "\x1b\n") || !strings.HasPrefix(refusal.Message, "a·[31m·ü") {
		t.Errorf("message %q", refusal.Message)
	}
	refusal = wantRefusal(t, call(errors.New("password 1234 is wrong")), CodeInternal)
	if refusal.Message != "" || strings.Contains(refusal.Error(), "1234") {
		t.Errorf("an internal error leaked: %v", refusal)
	}
	if !strings.Contains(logged.String(), "password 1234 is wrong") {
		t.Error("an internal error was not logged")
	}
	wantRefusal(t, call(&Refusal{Code: 0, Message: "looks like success"}), CodeInternal)

	server.Serve("panic", func(context.Context, protocol.PeerID, []byte) ([]byte, error) { panic("oh") })
	_, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "panic", nil)
	wantRefusal(t, err, CodeInternal)
	if !strings.Contains(logged.String(), "handler panicked: oh") {
		t.Error("a panic was not logged")
	}

	_, err = client.Call(patience(t), server.PeerID(), server.Addrs(), "nobody-serves-this", nil)
	if !errors.Is(err, ErrInterrupted) { // the same version knows the call unless it is shutting down
		t.Errorf("a call that the same version does not answer: %v", err)
	}
}

// A host answers the calls in Config.Handlers as soon as it listens.
func TestHandlersComeBeforeListening(t *testing.T) {
	server := start(t, 1, func(c *Config) {
		c.Listen, c.Handlers = []string{tcpLoopback}, map[string]Handler{"echo": echo}
	})
	got, err := start(t, 2, nil).Call(patience(t), server.PeerID(), server.Addrs(), "echo", []byte("x"))
	if err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
}

// Nodes of different versions do not understand each other; the error names both versions.
func TestOtherVersion(t *testing.T) {
	for name, listen := range map[string]string{"tcp": tcpLoopback, "quic": quicLoopback} {
		t.Run(name, func(t *testing.T) {
			server := start(t, 1, func(c *Config) {
				c.Listen, c.speaks, c.Version = []string{listen}, "cosketch/2", "v2.1"
			})
			server.Serve("echo", echo)
			client := start(t, 2, nil)
			_, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "echo", nil)
			wantRefusal(t, err, CodeVersion)
			var d *protocol.Disagreement
			if !errors.As(err, &d) || d.On != protocol.OnVersion || d.Theirs != "cosketch/2, cosketch/v2.1" || d.Ours != "cosketch/1, cosketch/dev" {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestStrangers(t *testing.T) {
	for _, listen := range []string{tcpLoopback, quicLoopback} {
		t.Run(listen, func(t *testing.T) {
			var logged lockedBuffer
			server := start(t, 1, func(c *Config) {
				c.Listen = []string{listen}
				c.Allow = only(testID(t, 2))
				c.Logger = slog.New(slog.NewTextHandler(&logged, nil))
			})
			served := 0
			server.Serve("echo", func(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
				served++
				return echo(ctx, from, request)
			})
			stranger := start(t, 3, nil)
			for range 3 {
				_, err := stranger.Call(patience(t), server.PeerID(), server.Addrs(), "echo", nil)
				if !errors.Is(err, ErrRefusedPeer) || !strings.Contains(err.Error(), stranger.PeerID().String()) {
					t.Fatalf("stranger: %v", err)
				}
			}
			if served != 0 {
				t.Error("a stranger was served")
			}
			if n := strings.Count(logged.String(), "refused a peer"); n != 1 {
				t.Errorf("three refusals were logged %d times", n)
			}

			friend := start(t, 2, func(c *Config) { c.Allow = only(testID(t, 9)) })
			_, err := friend.Call(patience(t), server.PeerID(), server.Addrs(), "echo", nil)
			if err == nil || errors.Is(err, ErrRefusedPeer) || !strings.Contains(err.Error(), "no study of this node lists") {
				t.Errorf("calling a peer that the caller does not list: %v", err)
			}
		})
	}
}

// A peer that is removed from the list is cut off at its next call, connected or not.
func TestRevoked(t *testing.T) {
	var mu sync.Mutex
	allowed := true
	server := start(t, 1, func(c *Config) {
		c.Listen = []string{tcpLoopback}
		c.Allow = func(protocol.PeerID) bool { mu.Lock(); defer mu.Unlock(); return allowed }
	})
	server.Serve("echo", echo)
	client := start(t, 2, nil)
	if _, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "echo", nil); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	allowed = false
	mu.Unlock()
	if _, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "echo", nil); err == nil {
		t.Error("served a peer that is no longer listed")
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", l.Addr().(*net.TCPAddr).Port)
	l.Close()
	client := start(t, 2, nil)
	for range 2 { // the second attempt must not meet a backoff
		_, err = client.Call(patience(t), testID(t, 1), []string{dead}, "echo", nil)
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), dead) || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("dead address: %v", err)
		}
	}
	if _, err = client.Call(patience(t), testID(t, 1), nil, "echo", nil); !errors.Is(err, ErrUnreachable) {
		t.Errorf("no address: %v", err)
	}
	for _, bad := range []string{"localhost:4001", "/ip4/127.0.0.1/tcp/4001/p2p/" + testID(t, 3).String(), "/p2p/" + testID(t, 1).String()} {
		if _, err = client.Call(patience(t), testID(t, 1), []string{bad}, "echo", nil); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("address %q: %v", bad, err)
		}
	}
	// Another node answers at the address.
	other := start(t, 5, listening(tcpLoopback))
	_, err = client.Call(patience(t), testID(t, 1), other.Addrs(), "echo", nil)
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), other.PeerID().String()) {
		t.Errorf("another peer at the address: %v", err)
	}
}

func TestCancelReachesHandler(t *testing.T) {
	for _, listen := range []string{tcpLoopback, quicLoopback} {
		t.Run(listen, func(t *testing.T) {
			server := start(t, 1, listening(listen))
			client := start(t, 2, nil)
			entered, ended := make(chan struct{}), make(chan error, 1)
			server.Serve("wait", func(ctx context.Context, _ protocol.PeerID, _ []byte) ([]byte, error) {
				close(entered)
				<-ctx.Done()
				ended <- ctx.Err()
				return nil, ctx.Err()
			})
			ctx, cancel := context.WithCancel(patience(t))
			go func() { <-entered; cancel() }()
			if _, err := client.Call(ctx, server.PeerID(), server.Addrs(), "wait", nil); !errors.Is(err, context.Canceled) {
				t.Errorf("caller: %v", err)
			}
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("handler: %v", err)
			}
		})
	}
}

func TestDisconnectReachesHandler(t *testing.T) {
	server := start(t, 1, listening(tcpLoopback))
	client := start(t, 2, nil)
	entered, ended := make(chan struct{}), make(chan struct{})
	server.Serve("wait", func(ctx context.Context, _ protocol.PeerID, _ []byte) ([]byte, error) {
		close(entered)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	})
	go func() { <-entered; client.Close() }()
	if _, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "wait", nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("caller that closes: %v", err)
	}
	<-ended
}

func TestServerCloses(t *testing.T) {
	for _, listen := range []string{tcpLoopback, quicLoopback} {
		t.Run(listen, func(t *testing.T) {
			server := start(t, 1, listening(listen))
			client := start(t, 2, nil)
			entered := make(chan struct{})
			returned := false
			server.Serve("wait", func(ctx context.Context, _ protocol.PeerID, _ []byte) ([]byte, error) {
				close(entered)
				<-ctx.Done()
				returned = true
				return nil, ctx.Err()
			})
			closed := make(chan bool)
			go func() { <-entered; server.Close(); closed <- returned }()
			_, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "wait", nil)
			if !errors.Is(err, ErrInterrupted) {
				t.Errorf("caller: %v", err)
			}
			if !<-closed {
				t.Error("Close did not wait for the handler")
			}
		})
	}
}

func TestDeadlines(t *testing.T) {
	server := start(t, 1, func(c *Config) {
		c.Listen = []string{tcpLoopback}
		c.Limits.Call = 50 * time.Millisecond
	})
	server.Serve("wait", waitForEnd)
	client := start(t, 2, nil)
	_, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "wait", nil)
	wantRefusal(t, err, CodeBusy)
	hasty := start(t, 3, func(c *Config) { c.Limits.Call = 20 * time.Millisecond })
	server2 := start(t, 4, listening(tcpLoopback))
	server2.Serve("wait", waitForEnd)
	server2.Serve("echo", echo)
	if _, err := client.Call(patience(t), server2.PeerID(), server2.Addrs(), "echo", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := hasty.Call(context.Background(), server2.PeerID(), server2.Addrs(), "wait", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("call without deadline: %v", err)
	}
}

// A handler may wait for news far longer than the idle timeout of a frame.
func TestLongWait(t *testing.T) {
	const idle = 150 * time.Millisecond
	for _, listen := range []string{tcpLoopback, quicLoopback} {
		server := start(t, 1, func(c *Config) {
			c.Listen = []string{listen}
			c.Limits.Idle = idle
		})
		server.Serve("wait", func(ctx context.Context, _ protocol.PeerID, request []byte) ([]byte, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(3 * idle):
				return request, nil
			}
		})
		client := start(t, 2, func(c *Config) { c.Limits.Idle = idle })
		if _, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "wait", []byte("news?")); err != nil {
			t.Errorf("%s: %v", listen, err)
		}
		server.Close()
	}
}

func TestBusy(t *testing.T) {
	server := start(t, 1, func(c *Config) {
		c.Listen = []string{tcpLoopback}
		c.Limits.CallsPerPeer = 2
	})
	client, other := start(t, 2, nil), start(t, 3, nil)
	entered, release := make(chan struct{}, 2), make(chan struct{})
	server.Serve("wait", func(ctx context.Context, _ protocol.PeerID, _ []byte) ([]byte, error) {
		entered <- struct{}{}
		<-release
		return nil, nil
	})
	server.Serve("echo", echo)
	ctx := patience(t)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if _, err := client.Call(ctx, server.PeerID(), server.Addrs(), "wait", nil); err != nil {
				t.Error(err)
			}
		})
		<-entered
	}
	_, err := client.Call(ctx, server.PeerID(), server.Addrs(), "echo", nil)
	wantRefusal(t, err, CodeBusy)
	if _, err := other.Call(ctx, server.PeerID(), server.Addrs(), "echo", nil); err != nil {
		t.Errorf("another caller: %v", err)
	}
	close(release)
	wg.Wait()
	if _, err := client.Call(ctx, server.PeerID(), server.Addrs(), "echo", nil); err != nil {
		t.Errorf("after the others were done: %v", err)
	}
}

func TestTwentyCallers(t *testing.T) {
	server := start(t, 1, listening(tcpLoopback))
	server.Serve("sum", func(_ context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
		return append(request, from[:]...), nil
	})
	ctx := patience(t)
	var wg sync.WaitGroup
	for n := range 20 {
		client := start(t, 100+n, nil)
		for i := range 5 {
			wg.Go(func() {
				request := bytes.Repeat([]byte{byte(n), byte(i)}, 50_000)
				got, err := client.Call(ctx, server.PeerID(), server.Addrs(), "sum", request)
				id := client.PeerID()
				if err != nil || !bytes.Equal(got, append(request, id[:]...)) {
					t.Errorf("call %d of %d: %v, %d bytes", i, n, err, len(got))
				}
			})
		}
	}
	wg.Wait()
}

func TestQUICFallback(t *testing.T) {
	server := start(t, 1, listening(tcpLoopback, quicLoopback))
	server.Serve("echo", echo)
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and stays silent
	if err != nil {
		t.Fatal(err)
	}
	dead := fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", l.Addr().(*net.TCPAddr).Port)
	l.Close()
	addrs := []string{dead}
	for _, addr := range server.Addrs() {
		if strings.Contains(addr, "quic") {
			addrs = append(addrs, addr)
		}
	}
	client := start(t, 2, nil)
	if _, err := client.Call(patience(t), server.PeerID(), addrs, "echo", nil); err != nil {
		t.Fatal(err)
	}
	if got := transportTo(t, client, server); got != "quic-v1" {
		t.Errorf("over %s", got)
	}
	direct := start(t, 3, nil)
	if _, err := direct.Call(patience(t), server.PeerID(), server.Addrs(), "echo", nil); err != nil {
		t.Fatal(err)
	}
	if got := transportTo(t, direct, server); got != "tcp" {
		t.Errorf("with both addresses: over %s, want tcp first", got)
	}
}

func transportTo(t *testing.T, from, to *Host) string {
	t.Helper()
	id, err := toLibp2p(to.PeerID())
	if err != nil {
		t.Fatal(err)
	}
	conns := from.host.Network().ConnsToPeer(id)
	if len(conns) != 1 {
		t.Fatalf("%d connections", len(conns))
	}
	return conns[0].ConnState().Transport
}

func TestNewRefuses(t *testing.T) {
	taken := start(t, 1, listening(tcpLoopback))
	for name, cfg := range map[string]Config{
		"no key":     {Allow: everybody},
		"no rule":    {Key: keyOf(1)},
		"bad addr":   {Key: keyOf(1), Allow: everybody, Listen: []string{"0.0.0.0:4001"}},
		"taken addr": {Key: keyOf(2), Allow: everybody, Listen: []string{taken.Addrs()[0], tcpLoopback}},
	} {
		if h, err := New(cfg); err == nil {
			h.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	for _, listen := range []string{tcpLoopback, quicLoopback} {
		for _, size := range []int{100, 4 << 20} {
			b.Run(fmt.Sprintf("%s/%d", strings.Split(listen, "/")[3], size), func(b *testing.B) {
				server, client := start(b, 1, listening(listen)), start(b, 2, nil)
				server.Serve("take", func(context.Context, protocol.PeerID, []byte) ([]byte, error) { return nil, nil })
				b.SetBytes(int64(size))
				for range b.N {
					if _, err := client.Call(context.Background(), server.PeerID(), server.Addrs(), "take", make([]byte, size)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// lockedBuffer is a log buffer for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
