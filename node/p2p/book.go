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

// book is libp2p's store of peers, where the addresses to dial are those of the last call alone.
//
// libp2p's own store mixes them with the addresses at which a peer says that it listens, and drops
// some as it sees a connection to it end. What a peer says is not for this node to dial: it may be
// another machine's address here, and go round a proxy. A store that holds both can be cleared
// before a dial, but what a peer says may arrive between the two.
type book struct {
	peerstore.Peerstore
	peerstore.CertifiedAddrBook
	self peer.ID

	mu   sync.Mutex
	dial map[peer.ID][]ma.Multiaddr // as many peers as this node calls: those that its studies list
}

func newBook(self peer.ID) (*book, error) {
	store, err := pstoremem.NewPeerstore()
	if err != nil {
		return nil, err
	}
	return &book{Peerstore: store, CertifiedAddrBook: store, self: self, dial: make(map[peer.ID][]ma.Multiaddr)}, nil
}

// dialOnly sets the addresses of a peer, in place of those of the call before.
func (b *book) dialOnly(id peer.ID, addrs []ma.Multiaddr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dial[id] = slices.Clone(addrs)
}

// Addrs returns what libp2p may dial.
func (b *book) Addrs(id peer.ID) []ma.Multiaddr {
	if id == b.self {
		return b.Peerstore.Addrs(id)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.dial[id])
}

// PeerInfo is Addrs with the name of the peer.
func (b *book) PeerInfo(id peer.ID) peer.AddrInfo { return peer.AddrInfo{ID: id, Addrs: b.Addrs(id)} }

// What libp2p adds of its own or by a peer's word is kept for this node alone.

// AddAddr keeps an address of this node.
func (b *book) AddAddr(id peer.ID, addr ma.Multiaddr, ttl time.Duration) {
	b.AddAddrs(id, []ma.Multiaddr{addr}, ttl)
}

// AddAddrs keeps addresses of this node.
func (b *book) AddAddrs(id peer.ID, addrs []ma.Multiaddr, ttl time.Duration) {
	if id == b.self {
		b.Peerstore.AddAddrs(id, addrs, ttl)
	}
}

// SetAddr keeps an address of this node.
func (b *book) SetAddr(id peer.ID, addr ma.Multiaddr, ttl time.Duration) {
	b.SetAddrs(id, []ma.Multiaddr{addr}, ttl)
}

// SetAddrs keeps addresses of this node.
func (b *book) SetAddrs(id peer.ID, addrs []ma.Multiaddr, ttl time.Duration) {
	if id == b.self {
		b.Peerstore.SetAddrs(id, addrs, ttl)
	}
}

// ConsumePeerRecord keeps a signed record of this node.
func (b *book) ConsumePeerRecord(signed *record.Envelope, ttl time.Duration) (accepted bool, err error) {
	if !b.self.MatchesPublicKey(signed.PublicKey) {
		return false, nil
	}
	return b.CertifiedAddrBook.ConsumePeerRecord(signed, ttl)
}
