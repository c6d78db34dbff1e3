package p2p

import (
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/cosketch/cosketch/node/seldom"
	"github.com/cosketch/cosketch/protocol"
)

// gater enforces the allow-list at libp2p's checkpoints.
type gater struct {
	allow     func(protocol.PeerID) bool
	guests    func(protocol.PeerID) bool // nil: no guests
	strangers *seldom.Log
}

// A peer's refusals are logged once per period quiet, and for at most maxLogged peers at a time, so
// that a stranger with many keys cannot fill a disk.
const (
	quiet     = time.Hour
	maxLogged = 64
)

func newGater(allow, guests func(protocol.PeerID) bool, log *slog.Logger, clock func() time.Duration) *gater {
	return &gater{allow: allow, guests: guests, strangers: seldom.New(log, clock, quiet, maxLogged)}
}

// rank returns a peer's identity and what it may do.
func (g *gater) rank(id peer.ID) (protocol.PeerID, rank) {
	p, err := fromLibp2p(id)
	switch {
	case err != nil:
		return protocol.PeerID{}, stranger
	case g.allow(p):
		return p, party
	case g.guests != nil && g.guests(p):
		return p, guest
	}
	return p, stranger
}

// InterceptPeerDial allows dialling parties only; guests call, and are not called.
func (g *gater) InterceptPeerDial(id peer.ID) bool {
	_, who := g.rank(id)
	return who == party
}

// InterceptAddrDial allows every address of an admitted peer.
func (g *gater) InterceptAddrDial(peer.ID, ma.Multiaddr) bool { return true }

// InterceptAccept admits every address: the handshake will identify the peer.
func (g *gater) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured closes the connections of strangers as soon as the handshake has identified
// them.
func (g *gater) InterceptSecured(_ network.Direction, id peer.ID, addrs network.ConnMultiaddrs) bool {
	_, who := g.rank(id)
	if who == stranger {
		g.strangers.Warn(id.String(), "refused a peer that no study lists", "from", addrs.RemoteMultiaddr().String())
	}
	return who != stranger
}

// InterceptUpgraded closes QUIC connections without the hybrid key exchange.
func (g *gater) InterceptUpgraded(conn network.Conn) (bool, control.DisconnectReason) {
	return hybridQUIC(conn), 0
}
