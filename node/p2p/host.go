package p2p

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/gologshim"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/p2p/transport/websocket"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/cosketch/cosketch/node/seldom"
	"github.com/cosketch/cosketch/protocol"
)

// Host is a node on the network. Its methods may be called concurrently.
type Host struct {
	id     protocol.PeerID
	agent  string // what this program calls itself
	speaks string // the protocol's version
	limits Limits
	log    *slog.Logger
	said   *seldom.Log // what peers cause to be said
	gate   *gater
	book   *book
	host   host.Host

	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	mu      sync.Mutex
	closing bool
	serving map[protocol.PeerID]int // calls being served, per caller
	calls   sync.WaitGroup          // the same calls

	requests *ration[protocol.PeerID] // bytes of the requests of these calls
}

// New starts a node: it listens at Config.Listen at once and serves nothing
// until Serve. An address that cannot be listened at is an error.
func New(cfg Config) (*Host, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("starting the network node: %w", err)
	}
	key, err := crypto.UnmarshalEd25519PrivateKey(cfg.Key())
	if err != nil {
		return nil, fmt.Errorf("starting the network node: identity key: %w", err)
	}
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	gologshim.SetDefaultHandler(warnings{log.Handler()})

	h := &Host{
		limits:  cfg.Limits.withDefaults(),
		log:     log,
		agent:   cfg.agent(),
		speaks:  cfg.protocol(),
		said:    seldom.New(log, seldom.Clock(cfg.clock()), time.Minute, 256),
		gate:    newGater(cfg.Allow, log, seldom.Clock(cfg.clock())),
		serving: make(map[protocol.PeerID]int),
	}
	h.requests = newRation[protocol.PeerID](h.limits.requests())
	if h.id, err = protocol.PeerIDFromKey(cfg.Key().Public().(ed25519.PublicKey)); err != nil {
		return nil, fmt.Errorf("starting the network node: identity key: %w", err)
	}
	if h.host, h.book, err = newLibp2p(cfg, key, h.limits, h.gate); err != nil {
		return nil, fmt.Errorf("starting the network node: %w", err)
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	for name, handler := range cfg.Handlers {
		h.Serve(name, handler)
	}
	if err := h.listen(cfg.Listen); err != nil {
		h.Close()
		return nil, fmt.Errorf("starting the network node: %w", err)
	}
	return h, nil
}

// listen begins to listen. By then the host answers calls: a peer that comes at once is not told that it knows none.
func (h *Host) listen(at []string) error {
	if len(at) == 0 {
		return nil
	}
	var addrs []ma.Multiaddr
	for _, text := range at {
		addr, err := ma.NewMultiaddr(text)
		if err != nil {
			return listenError(at, err)
		}
		addrs = append(addrs, addr)
	}
	if err := h.host.Network().Listen(addrs...); err != nil {
		return listenError(at, err)
	}
	return h.listensEverywhere(at)
}

func newLibp2p(cfg Config, key crypto.PrivKey, limits Limits, gate *gater) (host.Host, *book, error) {
	resources, err := resourceManager(limits, cfg.clock())
	if err != nil {
		return nil, nil, err
	}
	local, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	known, err := newBook(local)
	if err != nil {
		resources.Close()
		return nil, nil, err
	}
	streams := newDoor(limits.unfinished(), limits.unfinishedPerIP(), cfg.clock())
	h, err := libp2p.New(
		libp2p.Identity(key),
		libp2p.Peerstore(known),
		libp2p.NoListenAddrs, // see listen
		libp2p.Transport(throughDoor(streams, tcp.NewTCPTransport, tcp.DisableReuseport())),
		libp2p.Transport(throughDoor(streams, websocket.New, websocket.WithTLSClientConfig(&tls.Config{RootCAs: cfg.Roots, MinVersion: tls.VersionTLS12}))),
		libp2p.Transport(libp2pquic.NewTransport, libp2pquic.WithTLSIdentityOption(undated(local))),
		libp2p.Security(libp2ptls.ID, newHybridTLS),
		libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
		libp2p.ConnectionGater(gate),
		libp2p.ResourceManager(resources),
		libp2p.ConnectionManager(connmgr.NullConnMgr{}),
		libp2p.SwarmOpts(swarm.WithDialRanker(rankDial)),
		libp2p.UserAgent(cfg.agent()),
		libp2p.ProtocolVersion(cfg.protocol()),
		libp2p.Ping(false),
		libp2p.DisableRelay(),
		libp2p.DisableMetrics(),
		libp2p.DisableIdentifyAddressDiscovery(),
		libp2p.ForceReachabilityPrivate(), // asks nobody whether it can be reached
		// A node dials few addresses, which its study names: failures to reach them
		// are no reason to give up on a whole transport.
		libp2p.UDPBlackHoleSuccessCounter(nil),
		libp2p.IPv6BlackHoleSuccessCounter(nil),
	)
	if err != nil {
		resources.Close() // libp2p may have failed before it took them over
		known.Close()
		return nil, nil, err
	}
	return h, known, nil
}

// listensEverywhere reports an address that could not be listened at; libp2p is
// content when one of several works.
func (h *Host) listensEverywhere(want []string) error {
	if got := h.host.Network().ListenAddresses(); len(got) < len(want) {
		return fmt.Errorf("listening at %q: only %d of %d addresses are free: %q", want, len(got), len(want), got)
	}
	return nil
}

// PeerID returns the node's identity.
func (h *Host) PeerID() protocol.PeerID { return h.id }

// Addrs returns the multiaddrs at which the node listens, with real ports and,
// where it listens at all interfaces, one address per interface.
func (h *Host) Addrs() []string {
	addrs, err := h.host.Network().InterfaceListenAddresses()
	if err != nil {
		addrs = h.host.Network().ListenAddresses()
	}
	texts := make([]string, len(addrs))
	for i, addr := range addrs {
		texts[i] = addr.String()
	}
	slices.Sort(texts)
	return texts
}

// Close ends the contexts of all handlers, closes every connection and waits
// until the handlers have returned.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closing = true
	h.mu.Unlock()
	h.cancel()
	err := h.host.Close()
	h.calls.Wait()
	h.said.Close()
	h.gate.strangers.Close()
	return err
}
