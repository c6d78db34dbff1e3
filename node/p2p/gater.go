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

// gater holds the allow-list at libp2p's checkpoints.
type gater struct {
	allow     func(protocol.PeerID) bool
	strangers *seldom.Log
}

// Refusals are logged once per peer and quiet, for at most maxLogged peers at a
// time, so that a stranger with many keys cannot fill a disk.
const (
	quiet     = time.Hour
	maxLogged = 64
)

func newGater(allow func(protocol.PeerID) bool, log *slog.Logger, clock func() time.Duration) *gater {
	return &gater{allow: allow, strangers: seldom.New(log, clock, quiet, maxLogged)}
}

// admit returns the peer's identity and whether it may be spoken to.
func (g *gater) admit(id peer.ID) (protocol.PeerID, bool) {
	p, err := fromLibp2p(id)
	if err != nil {
		return protocol.PeerID{}, false
	}
	return p, g.allow(p)
}

// InterceptPeerDial refuses to dial strangers.
func (g *gater) InterceptPeerDial(id peer.ID) bool {
	_, ok := g.admit(id)
	return ok
}

// InterceptAddrDial admits every address of an admitted peer.
func (g *gater) InterceptAddrDial(peer.ID, ma.Multiaddr) bool { return true }

// InterceptAccept admits every address: who it is shows in the handshake.
func (g *gater) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured closes the connections of strangers as soon as the handshake
// has shown who they are.
func (g *gater) InterceptSecured(_ network.Direction, id peer.ID, addrs network.ConnMultiaddrs) bool {
	_, ok := g.admit(id)
	if !ok {
		g.strangers.Warn(id.String(), "refused a peer that no study lists", "from", addrs.RemoteMultiaddr().String())
	}
	return ok
}

// InterceptUpgraded closes QUIC connections without the hybrid key exchange.
func (g *gater) InterceptUpgraded(conn network.Conn) (bool, control.DisconnectReason) {
	return hybridQUIC(conn), 0
}
