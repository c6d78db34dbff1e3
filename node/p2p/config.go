package p2p

import (
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cosketch/cosketch/protocol"
)

// Config describes a Host.
type Config struct {
	// Key returns the node's identity. Required. It is a function because fmt never prints
	// what a function holds, whatever the verb and wherever the Config is.
	Key func() ed25519.PrivateKey

	// Listen holds the multiaddrs to listen at, such as /ip4/0.0.0.0/tcp/4001,
	// /ip4/0.0.0.0/udp/4001/quic-v1 and, for a proxy that terminates TLS in front of
	// it, /ip4/127.0.0.1/tcp/8080/ws. Empty: the host never listens and only dials.
	Listen []string

	// Handlers answer calls by their names, from the first moment at which the host listens.
	Handlers map[string]Handler

	// Roots are who may certify the outer TLS of a WebSocket address that is dialled
	// (/dns4/NAME/tcp/443/tls/ws). Default: the system's. They have no say in who a
	// peer is: inside, both sides prove their identities to each other as everywhere.
	Roots *x509.CertPool

	// Allow says who may be spoken to. It is asked before every dial, after every
	// security handshake and at every call, from several goroutines, and must not
	// block. Required.
	Allow func(protocol.PeerID) bool

	// Guests says who may make GuestCall, the one call of peers that Allow does not admit. It is asked as Allow is,
	// and after it. Default: nobody.
	Guests func(protocol.PeerID) bool

	// GuestCall is the name of that call.
	GuestCall string

	// Version goes into the user agent, "cosketch/VERSION", which a peer of another
	// protocol version is told. Default: "dev".
	Version string

	// Logger takes this package's lines and, from level warning up, libp2p's. The
	// first Host of a process decides where libp2p logs to. Default: nothing is logged.
	Logger *slog.Logger

	// Limits bounds what peers may occupy.
	Limits Limits

	speaks string           // protocol version; another than protocol.Version in tests alone
	now    func() time.Time // the clock; another than the machine's in tests alone
}

// clock tells how old a handshake is, and when the log may say something again.
func (c Config) clock() func() time.Time {
	if c.now == nil {
		return time.Now
	}
	return c.now
}

// agent names the program to its peers.
func (c Config) agent() string {
	if c.Version == "" {
		return "cosketch/dev"
	}
	return "cosketch/" + c.Version
}

// protocol is the version that the names of all calls begin with.
func (c Config) protocol() string {
	if c.speaks != "" {
		return c.speaks
	}
	return protocol.Version
}

// Limits bounds what peers may occupy. They do not depend on the machine. Zero
// fields take their defaults.
type Limits struct {
	// Frame is the largest request or response in bytes. Default: 8 MiB, room for
	// a chunk of 4 MiB and its wrapping.
	Frame int

	// FrameOf overrides Frame for single call names. Both sides of a call should
	// agree on it.
	FrameOf map[string]Frames

	// CallsPerPeer is how many calls of one peer are served at once; the next is
	// refused as busy. Default: 32.
	CallsPerPeer int

	// ConnsPerIP is how many connections one IPv4 address or IPv6 /48 may hold, and
	// how many it may open in a burst. An aggregator must admit all parties behind
	// one address. A quarter of them, and at least 64, may be in the middle of their
	// handshakes. Default: 256.
	ConnsPerIP int

	// Conns is how many connections there may be in all, beside those whose handshake
	// has not ended: half as many (and at least 320) by TCP, and by QUIC. Default: 1024.
	Conns int

	// Memory is how many bytes all connections and frames may occupy: requests that
	// arrive or are answered take half, the rest is for what connections buffer.
	// Whatever one peer has of a half, as much is left for the others.
	// Default: 512 MiB; at least LeastMemory.
	Memory int64

	// Dial bounds making a connection. Default: 20 s.
	Dial time.Duration

	// Idle bounds how long a frame that has begun may make no progress.
	// Default: 30 s.
	Idle time.Duration

	// Call bounds a whole call, on the caller's side where its context has no
	// deadline and always on the answering side. It must exceed the longest wait
	// for news. Default: 5 min.
	Call time.Duration
}

// LeastMemory is what Limits.Memory has to be: room for a few of the largest requests and for
// the streams of a few peers.
const LeastMemory = 64 << 20

// Frames are the largest request and the largest response of a call, in bytes. Where one is
// zero, that one is empty.
type Frames struct{ Request, Response int }

func (l Limits) withDefaults() Limits {
	positive := func(v *int, value int) {
		if *v <= 0 {
			*v = value
		}
	}
	lasting := func(v *time.Duration, value time.Duration) {
		if *v <= 0 {
			*v = value
		}
	}
	positive(&l.Frame, 8<<20)
	positive(&l.CallsPerPeer, 32)
	positive(&l.ConnsPerIP, 256)
	positive(&l.Conns, 1024)
	if l.Memory <= 0 {
		l.Memory = 512 << 20
	}
	lasting(&l.Dial, 20*time.Second)
	lasting(&l.Idle, 30*time.Second)
	lasting(&l.Call, 5*time.Minute)
	return l
}

// frames returns the largest frames of calls with this name.
func (l Limits) frames(name string) Frames {
	if own, ok := l.FrameOf[name]; ok {
		return own
	}
	return Frames{l.Frame, l.Frame}
}

// manyAtOnce is how many parties behind one address may connect at the same time.
const manyAtOnce = 64

// unfinishedPerIP is how many handshakes of one address may be under way.
func (l Limits) unfinishedPerIP() int { return min(l.ConnsPerIP, max(manyAtOnce, l.ConnsPerIP/4)) }

// unfinished is how many handshakes may be under way by TCP and WebSocket, and as many by QUIC,
// where one address may begin as many as a quarter of what is free.
func (l Limits) unfinished() int { return max(5*manyAtOnce, l.Conns/2) }

// requests is how many bytes the requests of all peers may take.
func (l Limits) requests() int64 { return l.Memory / 2 }

// windows is how many bytes all connections may buffer.
func (l Limits) windows() int64 { return l.Memory - l.requests() }

func (c *Config) check() error {
	if c.Key == nil {
		return errors.New("no identity key")
	}
	if key := c.Key(); len(key) != ed25519.PrivateKeySize {
		return fmt.Errorf("identity key of %d bytes, want %d", len(key), ed25519.PrivateKeySize)
	}
	if c.Allow == nil {
		return errors.New("no rule says who may be spoken to")
	}
	return nil
}

// DefaultLimits are those of a node that is told none.
func DefaultLimits() Limits { return Limits{}.withDefaults() }
