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

// Host is a node on the network. It is safe for concurrent use.
type Host struct {
	id         protocol.PeerID
	agent      string // user agent
	asks       string // the call that guests may make
	speaks     string // the protocol version
	limits     Limits
	log        *slog.Logger
	limitedLog *seldom.Log // rate-limited log of what peers cause
	gate       *gater
	book       *addressBook
	host       host.Host

	ctx    context.Context // cancelled by Close
	cancel context.CancelFunc

	mu      sync.Mutex
	closing bool
	serving map[protocol.PeerID]int // calls being served, per caller
	calls   sync.WaitGroup          // the same calls
	beside  sync.WaitGroup          // other goroutines of the host

	requests *fairShare[protocol.PeerID] // bytes of the requests being served
}

// New starts a node: it serves Config.Handlers and then listens at Config.Listen. It returns an
// error if it cannot listen at one of the addresses.
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
		limits:     cfg.Limits.withDefaults(),
		log:        log,
		agent:      cfg.agent(),
		asks:       cfg.GuestCall,
		speaks:     cfg.protocol(),
		limitedLog: seldom.New(log, seldom.Clock(cfg.clock()), time.Minute, 256),
		gate:       newGater(cfg.Allow, cfg.Guests, log, seldom.Clock(cfg.clock())),
		serving:    make(map[protocol.PeerID]int),
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
		h.beside.Go(func() { h.closeGuests(cfg.clock()) })
	}
	if err := h.listen(cfg.Listen); err != nil {
		h.Close()
		return nil, fmt.Errorf("starting the network node: %w", err)
	}
	return h, nil
}

// listen starts to listen. Handlers must be set before, so that an early peer does not find a call
// unknown.
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

// listensEverywhere returns an error if the host does not listen at every address; libp2p is
// satisfied if one of several works.
func (h *Host) listensEverywhere(want []string) error {
	if got := h.host.Network().ListenAddresses(); len(got) < len(want) {
		return fmt.Errorf("listening at %q: only %d of %d addresses are free: %q", want, len(got), len(want), got)
	}
	return nil
}

func (h *Host) PeerID() protocol.PeerID { return h.id }

// Addrs returns the multiaddrs at which the node listens, with actual ports. An address of all
// interfaces becomes one address per interface.
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

// Close cancels the contexts of all handlers, closes every connection and waits until the handlers
// have returned.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closing = true
	h.mu.Unlock()
	h.cancel()
	err := h.host.Close()
	h.calls.Wait()
	h.beside.Wait()
	h.limitedLog.Close()
	h.gate.strangers.Close()
	return err
}
