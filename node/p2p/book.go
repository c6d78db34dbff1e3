package p2p

import (
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/record"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	ma "github.com/multiformats/go-multiaddr"
)

// addressBook is libp2p's peer store, except that the addresses to dial are those of the last call only.
//
// libp2p's own store mixes them with the addresses that a peer announces, and drops some when a
// connection to it ends. This node must not dial announced addresses: they may belong to another
// machine here, or bypass a proxy. Clearing libp2p's store before a dial does not help, since a
// peer's announcement may arrive in between.
type addressBook struct {
	peerstore.Peerstore
	peerstore.CertifiedAddrBook
	self peer.ID

	mu   sync.Mutex
	dial map[peer.ID][]ma.Multiaddr // bounded by the peers that this node calls: those its studies list
}

func newBook(self peer.ID) (*addressBook, error) {
	store, err := pstoremem.NewPeerstore()
	if err != nil {
		return nil, err
	}
	return &addressBook{Peerstore: store, CertifiedAddrBook: store, self: self, dial: make(map[peer.ID][]ma.Multiaddr)}, nil
}

// setAddrs replaces the addresses of a peer.
func (b *addressBook) setAddrs(id peer.ID, addrs []ma.Multiaddr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dial[id] = slices.Clone(addrs)
}

// Addrs returns the addresses that libp2p may dial.
func (b *addressBook) Addrs(id peer.ID) []ma.Multiaddr {
	if id == b.self {
		return b.Peerstore.Addrs(id)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.dial[id])
}

// PeerInfo returns the peer with its Addrs.
func (b *addressBook) PeerInfo(id peer.ID) peer.AddrInfo {
	return peer.AddrInfo{ID: id, Addrs: b.Addrs(id)}
}

// Of the addresses that libp2p adds, only those of this node are kept.

// AddAddr keeps an address of this node.
func (b *addressBook) AddAddr(id peer.ID, addr ma.Multiaddr, ttl time.Duration) {
	b.AddAddrs(id, []ma.Multiaddr{addr}, ttl)
}

// AddAddrs keeps addresses of this node.
func (b *addressBook) AddAddrs(id peer.ID, addrs []ma.Multiaddr, ttl time.Duration) {
	if id == b.self {
		b.Peerstore.AddAddrs(id, addrs, ttl)
	}
}

// SetAddr keeps an address of this node.
func (b *addressBook) SetAddr(id peer.ID, addr ma.Multiaddr, ttl time.Duration) {
	b.SetAddrs(id, []ma.Multiaddr{addr}, ttl)
}

// SetAddrs keeps addresses of this node.
func (b *addressBook) SetAddrs(id peer.ID, addrs []ma.Multiaddr, ttl time.Duration) {
	if id == b.self {
		b.Peerstore.SetAddrs(id, addrs, ttl)
	}
}

// ConsumePeerRecord keeps a signed record of this node.
func (b *addressBook) ConsumePeerRecord(signed *record.Envelope, ttl time.Duration) (accepted bool, err error) {
	if !b.self.MatchesPublicKey(signed.PublicKey) {
		return false, nil
	}
	return b.CertifiedAddrBook.ConsumePeerRecord(signed, ttl)
}
