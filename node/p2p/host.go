package p2p

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/gologshim"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/cosketch/cosketch/node/seldom"
	"github.com/cosketch/cosketch/protocol"
)

// Host is a node on the network. Its methods may be called concurrently.
type Host struct {
	id     protocol.PeerID
	agent  string // what this program calls itself
	asks   string // the call of guests
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
	beside  sync.WaitGroup          // what runs for as long as the host

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
		asks:    cfg.GuestCall,
		speaks:  cfg.protocol(),
		said:    seldom.New(log, seldom.Clock(cfg.clock()), time.Minute, 256),
		gate:    newGater(cfg.Allow, cfg.Guests, log, seldom.Clock(cfg.clock())),
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
	if cfg.Guests != nil {
		h.beside.Go(func() { h.showOut(cfg.clock()) })
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

// listensEverywhere reports an address that could not be listened at; libp2p is
// content when one of several works.
func (h *Host) listensEverywhere(want []string) error {
	if got := h.host.Network().ListenAddresses(); len(got) < len(want) {
		return fmt.Errorf("listening at %q: only %d of %d addresses are free: %q", want, len(got), len(want), got)
	}
	return nil
}

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
	h.beside.Wait()
	h.said.Close()
	h.gate.strangers.Close()
	return err
}
