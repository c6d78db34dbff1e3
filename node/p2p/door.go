package p2p

import (
	"container/list"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	tpt "github.com/libp2p/go-libp2p/core/transport"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Before its handshake a caller is anonymous: parties and strangers look alike. A door bounds the
// connections with unfinished handshakes and divides the places between addresses, so that callers
// who connect and stay silent keep nobody else out.

// Prefix lengths that count as one address: a host in IPv4; in IPv6 the most that a provider gives
// one customer.
const (
	bits4 = 32
	bits6 = 48
)

// errCrowded reports that a connection was closed during or before its handshake, because too many
// other handshakes are unfinished.
var errCrowded = errors.New("too many unfinished handshakes")

// slow is how long a handshake may take when places are scarce.
const slow = 2 * time.Second

// handshakeLimiter holds the unfinished handshakes of one kind of transport: at most room in all, and at most
// share for one address.
//
// Connections that can be closed make way for newer ones. An address at its share loses its own
// oldest one. If all places are taken, the oldest of all is closed if it is slow, as silent callers
// soon are; otherwise the oldest of the address that holds most. Connections that cannot be closed
// stay; so for them one address may hold at most a quarter of the free places.
type handshakeLimiter struct {
	room, share int
	now         func() time.Time
	guests      *guestLimiter // where guests go next

	mu   sync.Mutex
	all  *list.List                  // of *visitor, oldest first
	held map[netip.Prefix]*list.List // the same by address; none is empty
}

func newDoor(room, share int, guests *guestLimiter, now func() time.Time) *handshakeLimiter {
	return &handshakeLimiter{room: max(1, room), share: max(1, share), now: now, guests: guests, all: list.New(), held: make(map[netip.Prefix]*list.List)}
}

// pendingConn is one connection whose handshake has not ended.
type pendingConn struct {
	network.ConnManagementScope
	door  *handshakeLimiter
	from  netip.Prefix
	since time.Time
	end   func() // closes the connection; nil: it cannot be closed from outside

	inAll, inHeld *list.Element // nil after leaving; guarded by door.mu

	mu    sync.Mutex
	ended bool   // guarded by mu
	place func() // gives back a guest's place; nil if none is held; guarded by mu
}

// enter takes a place for a connection, if necessary that of another. It returns a scope that gives
// the place back when the peer is known or the connection ends.
func (d *handshakeLimiter) enter(scope network.ConnManagementScope, from ma.Multiaddr, end func()) (*pendingConn, error) {
	v := &pendingConn{ConnManagementScope: scope, door: d, from: origin(from), since: d.now(), end: end}
	out, err := d.admit(v)
	if err != nil {
		return nil, fmt.Errorf("connection from %s: %w", v.from, err)
	}
	if out != nil {
		out.end()
		out.ConnManagementScope.Done()
	}
	return v, nil
}

// admit adds a visitor and returns the one that must leave for it, if any.
func (d *handshakeLimiter) admit(v *pendingConn) (out *pendingConn, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	own := d.held[v.from]
	switch {
	case v.end == nil:
		if length(own) >= min(d.share, (d.room-d.all.Len())/4) {
			return nil, errCrowded
		}
	case length(own) >= d.share:
		out = oldest(own)
	case d.all.Len() >= d.room:
		if out = oldest(d.all); v.since.Sub(out.since) < slow {
			out = d.ofLargest()
		}
	}
	if out != nil {
		d.remove(out)
	}
	if d.held[v.from] == nil {
		d.held[v.from] = list.New()
	}
	v.inAll, v.inHeld = d.all.PushBack(v), d.held[v.from].PushBack(v)
	return out, nil
}

func length(l *list.List) int {
	if l == nil {
		return 0
	}
	return l.Len()
}

func oldest(l *list.List) *pendingConn { return l.Front().Value.(*pendingConn) }

// ofLargest returns the oldest visitor of the address that holds most.
func (d *handshakeLimiter) ofLargest() (out *pendingConn) {
	most := 0
	for e := d.all.Front(); e != nil; e = e.Next() {
		v := e.Value.(*pendingConn)
		if n := d.held[v.from].Len(); n > most {
			out, most = v, n
		}
	}
	return out
}

// remove removes a visitor and reports whether it was still in.
func (d *handshakeLimiter) remove(v *pendingConn) bool {
	if v.inAll == nil {
		return false
	}
	l := d.held[v.from]
	l.Remove(v.inHeld)
	d.all.Remove(v.inAll)
	v.inAll, v.inHeld = nil, nil
	if l.Len() == 0 {
		delete(d.held, v.from)
	}
	return true
}

// leave gives back a visitor's place and reports whether it still had one.
func (v *pendingConn) leave() bool {
	v.door.mu.Lock()
	defer v.door.mu.Unlock()
	return v.door.remove(v)
}

// SetPeer is called once the handshake has identified an admitted peer.
func (v *pendingConn) SetPeer(id peer.ID) error {
	if !v.leave() {
		return errCrowded
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		return errCrowded
	}
	place, err := v.door.guests.enter(id, v.from)
	if err != nil {
		return err
	}
	v.place = place
	return v.ConnManagementScope.SetPeer(id)
}

// Done is called when the connection has ended.
func (v *pendingConn) Done() {
	v.leave()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended = true; v.place != nil {
		v.place()
	}
	v.ConnManagementScope.Done()
}

// origin returns a caller's address as the limits count it. All callers without an IP address count
// as one.
func origin(from ma.Multiaddr) netip.Prefix {
	ip, err := manet.ToIP(from)
	if err != nil {
		return netip.Prefix{}
	}
	addr, _ := netip.AddrFromSlice(ip)
	addr = addr.Unmap()
	bits := bits6
	if addr.Is4() {
		bits = bits4
	}
	prefix, _ := addr.Prefix(bits)
	return prefix
}

// limitedResources is a resource manager that counts QUIC handshakes at a door and divides streams between
// peers. QUIC connections cannot be closed from here, so excess callers are refused.
type limitedResources struct {
	network.ResourceManager
	packets *handshakeLimiter
	inbound *fairShare[peer.ID] // streams that parties opened
	guests  *fairShare[peer.ID] // streams that guests opened, counted separately
	gate    *gater
}

// OpenConnection creates the scope of a connection. TCP callers, which use a file descriptor, pass
// porter's door instead.
func (w limitedResources) OpenConnection(dir network.Direction, usefd bool, endpoint ma.Multiaddr) (network.ConnManagementScope, error) {
	scope, err := w.ResourceManager.OpenConnection(dir, usefd, endpoint)
	if err != nil || usefd || dir == network.DirOutbound {
		return scope, err
	}
	v, err := w.packets.enter(scope, endpoint, nil)
	if err != nil {
		scope.Done()
		return nil, err
	}
	return v, nil
}

// limitedUpgrader is an upgrader that counts TCP and WebSocket handshakes at a door.
type limitedUpgrader struct {
	tpt.Upgrader
	streams *handshakeLimiter
}

// GateMaListener returns a listener whose connections have passed the door.
func (p limitedUpgrader) GateMaListener(l manet.Listener) tpt.GatedMaListener {
	return guarded{p.Upgrader.GateMaListener(l), p.streams}
}

// UpgradeListener returns a listener of upgraded connections that have passed the door.
func (p limitedUpgrader) UpgradeListener(t tpt.Transport, l manet.Listener) tpt.Listener {
	return p.UpgradeGatedMaListener(t, p.GateMaListener(l))
}

type guarded struct {
	tpt.GatedMaListener
	streams *handshakeLimiter
}

// Accept returns the next connection that gets a place.
func (g guarded) Accept() (manet.Conn, network.ConnManagementScope, error) {
	for {
		conn, scope, err := g.GatedMaListener.Accept()
		if err != nil {
			return nil, nil, err
		}
		v, err := g.streams.enter(scope, conn.RemoteMultiaddr(), func() { conn.Close() })
		if err == nil {
			return conn, v, nil
		}
		conn.Close()
		scope.Done()
	}
}
