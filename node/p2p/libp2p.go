package p2p

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"net"
	"sync"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/sec"
	tpt "github.com/libp2p/go-libp2p/core/transport"
	basichost "github.com/libp2p/go-libp2p/p2p/host/basic"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/quicreuse"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/p2p/transport/websocket"
	"github.com/quic-go/quic-go"
)

// newLibp2p assembles libp2p's host from its parts. libp2p.New would link every transport and
// service of libp2p, such as WebRTC, even if options turn them off.
func newLibp2p(cfg Config, key crypto.PrivKey, limits Limits, gate *gater) (_ host.Host, _ *addressBook, err error) {
	var undo []func() error // cleanup if a later part fails
	defer func() {
		for i := len(undo) - 1; err != nil && i >= 0; i-- {
			undo[i]()
		}
	}()
	guests := newLobby(gate)
	resources, err := resourceManager(limits, guests, cfg.clock())
	if err != nil {
		return nil, nil, err
	}
	undo = append(undo, resources.Close)
	local, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	known, err := newBook(local)
	if err != nil {
		return nil, nil, err
	}
	undo = append(undo, known.Close)
	if err := known.AddPrivKey(local, key); err != nil {
		return nil, nil, err
	}
	if err := known.AddPubKey(local, key.GetPublic()); err != nil {
		return nil, nil, err
	}
	packets, err := newQUIC(key, resources)
	if err != nil {
		return nil, nil, err
	}
	undo = append(undo, packets.Close)
	bus := eventbus.NewBus()
	conns, err := swarm.NewSwarm(local, known, bus,
		swarm.WithConnectionGater(gate),
		swarm.WithResourceManager(resources),
		swarm.WithDialRanker(rankDial),
		// A node dials few addresses, which its study names: failures to reach them are no reason
		// to give up a whole transport.
		swarm.WithUDPBlackHoleSuccessCounter(nil),
		swarm.WithIPv6BlackHoleSuccessCounter(nil),
	)
	if err != nil {
		return nil, nil, err
	}
	undo = append(undo, conns.Close)
	if err := addTransports(conns, cfg, key, limits, guests, resources, packets); err != nil {
		return nil, nil, err
	}
	basic, err := basichost.NewHost(conns, &basichost.HostOpts{
		EventBus:        bus,
		ConnManager:     connmgr.NullConnMgr{},
		UserAgent:       cfg.agent(),
		ProtocolVersion: cfg.protocol(),
	})
	if err != nil {
		return nil, nil, err
	}
	basic.Start()
	return &closing{Host: basic, packets: packets}, known, nil
}

// addTransports adds TCP and WebSocket, whose callers pass a door, and QUIC.
func addTransports(conns *swarm.Swarm, cfg Config, key crypto.PrivKey, limits Limits, guests *guestLimiter, resources network.ResourceManager, packets *quicreuse.ConnManager) error {
	muxers := []upgrader.StreamMuxer{{ID: yamux.ID, Muxer: yamux.DefaultTransport}}
	secure, err := newHybridTLS(libp2ptls.ID, key, muxers)
	if err != nil {
		return err
	}
	up, err := upgrader.New([]sec.SecureTransport{secure}, muxers, nil, resources, guests.gate)
	if err != nil {
		return err
	}
	callers := limitedUpgrader{up, newDoor(limits.unfinished(), limits.unfinishedPerIP(), guests, cfg.clock())}
	overTCP, err := tcp.NewTCPTransport(callers, resources, nil, tcp.DisableReuseport())
	if err != nil {
		return err
	}
	overWebSocket, err := websocket.New(callers, resources, nil, websocket.WithTLSClientConfig(&tls.Config{RootCAs: cfg.Roots, MinVersion: tls.VersionTLS12}))
	if err != nil {
		return err
	}
	overQUIC, err := libp2pquic.NewTransport(key, packets, nil, guests.gate, resources, libp2pquic.WithTLSIdentityOption(undated(conns.LocalPeer())))
	if err != nil {
		return err
	}
	for _, t := range []tpt.Transport{overTCP, overWebSocket, overQUIC} {
		if err := conns.AddTransport(t); err != nil {
			return err
		}
	}
	return nil
}

// The labels are libp2p's. Keys derived with them outlive the process: after a restart, a peer that
// still takes its QUIC connection for open is told that it is not.
const (
	labelStatelessReset = "libp2p quic stateless reset key"
	labelAddressToken   = "libp2p quic token generator key"
)

// newQUIC returns the owner of the UDP sockets. Every caller is counted before its handshake.
func newQUIC(key crypto.PrivKey, resources network.ResourceManager) (*quicreuse.ConnManager, error) {
	secret, err := key.Raw()
	if err != nil {
		return nil, err
	}
	reset, err := hkdf.Key(sha256.New, secret, nil, labelStatelessReset, len(quic.StatelessResetKey{}))
	if err != nil {
		return nil, err
	}
	token, err := hkdf.Key(sha256.New, secret, nil, labelAddressToken, len(quic.TokenGeneratorKey{}))
	if err != nil {
		return nil, err
	}
	admit := func(ctx context.Context, caller *quic.ClientInfo) (context.Context, error) {
		from, err := quicreuse.ToQuicMultiaddr(caller.RemoteAddr, quic.Version1)
		if err != nil {
			from = nil // the resource manager decides without it
		}
		scope, err := resources.OpenConnection(network.DirInbound, false, from)
		if err != nil {
			return ctx, err
		}
		context.AfterFunc(ctx, scope.Done)
		return network.WithConnManagementScope(ctx, scope), nil
	}
	return quicreuse.NewConnManager(quic.StatelessResetKey(reset), quic.TokenGeneratorKey(token),
		quicreuse.ConnContext(admit),
		quicreuse.VerifySourceAddress(func(from net.Addr) bool { return resources.VerifySourceAddress(from) }))
}

// closing is a host that also closes its UDP sockets, after the connections over them.
type closing struct {
	host.Host
	packets *quicreuse.ConnManager
	once    sync.Once // sockets must not be closed twice
}

// Close may be called more than once.
func (c *closing) Close() error {
	c.once.Do(func() {
		c.Network().Close()
		c.packets.Close()
	})
	return c.Host.Close()
}
