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

// Before its handshake nobody knows who a caller is: a party of a study looks like a
// stranger. A door bounds the connections whose handshake has not ended, and divides that
// room between addresses, so that callers who connect and say nothing keep out nobody else.

// What is one address to the limits: a host in IPv4, and in IPv6 what a provider gives one
// customer at most.
const (
	bits4 = 32
	bits6 = 48
)

// errCrowded reports that a connection was closed in the middle of its handshake, or before:
// too many others are not through theirs.
var errCrowded = errors.New("too many unfinished handshakes")

// slow is how long a handshake may take when room is short.
const slow = 2 * time.Second

// door holds the unfinished handshakes of one kind of transport: at most room, and at most share
// of one address.
//
// Connections that can be ended make room for newer ones. An address that has its share gives up
// its own oldest. Where all room is taken, the oldest of all goes if it is slow, which a caller who
// says nothing soon is, and else the oldest of the address that holds most. Those that cannot be
// ended stay, and so an address may take no more than a quarter of what is free.
type door struct {
	room, share int
	now         func() time.Time
	guests      *lobby // where those go on whom no study lists

	mu   sync.Mutex
	all  *list.List                  // of *visitor, oldest first
	held map[netip.Prefix]*list.List // the same by address; none is empty
}

func newDoor(room, share int, guests *lobby, now func() time.Time) *door {
	return &door{room: max(1, room), share: max(1, share), now: now, guests: guests, all: list.New(), held: make(map[netip.Prefix]*list.List)}
}

// visitor is one connection whose handshake has not ended.
type visitor struct {
	network.ConnManagementScope
	door  *door
	from  netip.Prefix
	since time.Time
	end   func() // ends the connection; nil: it cannot be ended from outside

	inAll, inHeld *list.Element // nil: it has left; guarded by door.mu

	mu    sync.Mutex
	ended bool   // guarded by mu
	place func() // gives a guest's place back; nil: none is held; guarded by mu
}

// enter takes a place for a connection, if need be that of another. It returns the scope that
// gives the place back when the peer is known or the connection ends.
func (d *door) enter(scope network.ConnManagementScope, from ma.Multiaddr, end func()) (*visitor, error) {
	v := &visitor{ConnManagementScope: scope, door: d, from: origin(from), since: d.now(), end: end}
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

// admit puts a visitor in, and returns who had to go for it.
func (d *door) admit(v *visitor) (out *visitor, err error) {
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

func oldest(l *list.List) *visitor { return l.Front().Value.(*visitor) }

// ofLargest returns the oldest of the address that holds most.
func (d *door) ofLargest() (out *visitor) {
	most := 0
	for e := d.all.Front(); e != nil; e = e.Next() {
		v := e.Value.(*visitor)
		if n := d.held[v.from].Len(); n > most {
			out, most = v, n
		}
	}
	return out
}

// remove takes a visitor out, and reports whether it was still in.
func (d *door) remove(v *visitor) bool {
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

// leave gives a visitor's place back, and reports whether it still had one.
func (v *visitor) leave() bool {
	v.door.mu.Lock()
	defer v.door.mu.Unlock()
	return v.door.remove(v)
}

// SetPeer is called once the handshake has shown an admitted peer.
func (v *visitor) SetPeer(id peer.ID) error {
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
func (v *visitor) Done() {
	v.leave()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended = true; v.place != nil {
		v.place()
	}
	v.ConnManagementScope.Done()
}

// origin is the address of a caller as the limits count it. Callers without an IP address
// count as one.
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

// watched is a resource manager at whose door callers by QUIC wait, and which divides streams
// between peers. Connections by QUIC are made out of reach: who comes too much is refused.
type watched struct {
	network.ResourceManager
	packets *door
	inbound *ration[peer.ID] // streams that parties have opened
	guests  *ration[peer.ID] // and guests, beside those
	gate    *gater
}

// OpenConnection makes the scope of a connection; a caller by TCP, who holds a file descriptor,
// passes the other door.
func (w watched) OpenConnection(dir network.Direction, usefd bool, endpoint ma.Multiaddr) (network.ConnManagementScope, error) {
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

// porter is an upgrader at whose door callers by TCP and WebSocket wait.
type porter struct {
	tpt.Upgrader
	streams *door
}

// GateMaListener returns a listener whose connections have passed the door.
func (p porter) GateMaListener(l manet.Listener) tpt.GatedMaListener {
	return guarded{p.Upgrader.GateMaListener(l), p.streams}
}

// UpgradeListener returns a listener of upgraded connections that have passed the door.
func (p porter) UpgradeListener(t tpt.Transport, l manet.Listener) tpt.Listener {
	return p.UpgradeGatedMaListener(t, p.GateMaListener(l))
}

type guarded struct {
	tpt.GatedMaListener
	streams *door
}

// Accept returns the next connection that finds a place.
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
