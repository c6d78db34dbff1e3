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
	// Key returns the node's identity. Required. It is a function so that fmt never prints the key,
	// whatever the verb and wherever the Config is embedded.
	Key func() ed25519.PrivateKey

	// Listen holds the multiaddrs to listen at, such as /ip4/0.0.0.0/tcp/4001,
	// /ip4/0.0.0.0/udp/4001/quic-v1, or /ip4/127.0.0.1/tcp/8080/ws behind a proxy that terminates
	// TLS. If empty, the host never listens and only dials.
	Listen []string

	// Handlers answer calls by name, from the moment the host listens.
	Handlers map[string]Handler

	// Roots are the certificate authorities for the outer TLS of WebSocket addresses that are
	// dialled (/dns4/NAME/tcp/443/tls/ws). Default: the system's. They do not decide who a peer is:
	// inside that TLS both sides prove their identities as on every transport.
	Roots *x509.CertPool

	// Allow reports whether this host may communicate with a peer. It is called before every dial,
	// after every security handshake and at every call. It must be safe for concurrent use and must
	// not block. Required.
	Allow func(protocol.PeerID) bool

	// Guests reports whether a peer that Allow refuses may make GuestCall, and no other call. It is
	// called when Allow is, after it, and under the same conditions. Default: nobody.
	Guests func(protocol.PeerID) bool

	// GuestCall is the name of the call that guests may make.
	GuestCall string

	// Version is part of the user agent, "cosketch/VERSION", which peers of another protocol
	// version see. Default: "dev".
	Version string

	// Logger receives this package's log lines and libp2p's from level warning up. The first Host
	// of a process determines where libp2p logs. Default: no logging.
	Logger *slog.Logger

	// Limits bounds the resources that peers may use.
	Limits Limits

	speaks string           // protocol version; differs from protocol.Version only in tests
	now    func() time.Time // the clock; differs from time.Now only in tests
}

// clock returns the clock for the age of handshakes and for limiting log lines.
func (c Config) clock() func() time.Time {
	if c.now == nil {
		return time.Now
	}
	return c.now
}

// agent returns the user agent.
func (c Config) agent() string {
	if c.Version == "" {
		return "cosketch/dev"
	}
	return "cosketch/" + c.Version
}

// protocol returns the version that prefixes the names of all calls.
func (c Config) protocol() string {
	if c.speaks != "" {
		return c.speaks
	}
	return protocol.Version
}

// Limits bounds the resources that peers may use. The defaults do not depend on the machine. Zero
// fields take their defaults.
type Limits struct {
	// Frame is the largest request or response in bytes. Default: 8 MiB, which fits a chunk of 4
	// MiB with its envelope.
	Frame int

	// FrameOf overrides Frame for single call names. Both sides of a call should
	// agree on it.
	FrameOf map[string]Frames

	// CallsPerPeer bounds the concurrent calls of one peer; further ones are refused with CodeBusy.
	// Default: 32.
	CallsPerPeer int

	// ConnsPerIP bounds the connections of one IPv4 address or IPv6 /48, and how many it may open
	// in a burst. An aggregator must admit all parties behind one address. A quarter of them, and
	// at least 64, may be in the middle of their handshakes. Default: 256.
	ConnsPerIP int

	// Conns bounds all connections. Unfinished handshakes are extra: half as many (and at least
	// 320) by TCP, and as many by QUIC. Default: 1024.
	Conns int

	// Memory bounds the bytes of all connections and frames. Half is for requests being received or
	// answered, half for the buffers of connections. Of each half, one peer may hold at most as
	// much as it leaves free for others. Default: 512 MiB; at least LeastMemory.
	Memory int64

	// Dial is the timeout for connecting. Default: 20 s.
	Dial time.Duration

	// Idle is the timeout for progress within a frame that has begun. Default: 30 s.
	Idle time.Duration

	// Call is the timeout of a whole call: at the caller if its context has no deadline, at the
	// answering side always. It must exceed the longest wait for news. Default: 5 min.
	Call time.Duration
}

// LeastMemory is the minimum of Limits.Memory: room for a few of the largest requests and for the
// streams of a few peers.
const LeastMemory = 64 << 20

// Frames are the largest request and the largest response of a call, in bytes. Zero means that it
// must be empty.
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

// frames returns the frame limits of calls with this name.
func (l Limits) frames(name string) Frames {
	if own, ok := l.FrameOf[name]; ok {
		return own
	}
	return Frames{l.Frame, l.Frame}
}

// manyAtOnce is how many parties behind one address may connect at once.
const manyAtOnce = 64

// unfinishedPerIP bounds the unfinished handshakes of one address.
func (l Limits) unfinishedPerIP() int { return min(l.ConnsPerIP, max(manyAtOnce, l.ConnsPerIP/4)) }

// unfinished bounds the unfinished handshakes by TCP and WebSocket together, and those by QUIC
// separately. By QUIC, one address may also hold no more than a quarter of the free places.
func (l Limits) unfinished() int { return max(5*manyAtOnce, l.Conns/2) }

// requests bounds the bytes of all peers' requests.
func (l Limits) requests() int64 { return l.Memory / 2 }

// windows bounds the bytes that all connections may buffer.
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

// DefaultLimits returns the limits with all defaults.
func DefaultLimits() Limits { return Limits{}.withDefaults() }
