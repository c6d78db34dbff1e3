package p2p

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// Guests are peers that no study lists, while somebody may still become a party. A stranger with many keys is a guest, too,
// as often as it likes: so all guests together have few places, each for a short time, and what they can make this node
// hold is bounded beside what parties have.
//
// A connection of a guest has at most guestStreams streams. A stream begins with a window, and as no more than twice the
// largest request is read of one, its window grows to four of them at most. So guests hold no more than
// mostGuests · guestStreams · 4 windows, which is 64 MiB, and a request for each stream, 16 MiB, all of it within Limits.Memory.
const (
	mostGuests   = 16
	guestsPerIP  = 4
	guestStreams = 4
	guestTime    = 30 * time.Second
)

// rank is what a peer may do here.
type rank int

const (
	stranger rank = iota // nothing
	guest                // one call
	party                // every call
)

// lobby has the places of guests. A guest has one for as long as its connection is there.
type lobby struct {
	gate *gater

	mu   sync.Mutex
	all  int
	held map[netip.Prefix]int
}

func newLobby(g *gater) *lobby { return &lobby{gate: g, held: map[netip.Prefix]int{}} }

// enter takes a place for a peer that is a guest, and returns what gives it back. A peer of another rank needs none.
func (l *lobby) enter(id peer.ID, from netip.Prefix) (leave func(), err error) {
	if _, who := l.gate.rank(id); who != guest {
		return func() {}, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= mostGuests || l.held[from] >= guestsPerIP {
		l.gate.strangers.Warn("", "guests are turned away: their places are taken", "places", mostGuests, "of_one_address", guestsPerIP)
		return nil, fmt.Errorf("connection from %s: %w", from, errCrowded)
	}
	l.all++
	l.held[from]++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all--
		if l.held[from]--; l.held[from] == 0 {
			delete(l.held, from)
		}
	}), nil
}

// showOut closes the connections of peers that are not parties once they are guestTime old, until the host closes.
func (h *Host) showOut(now func() time.Time) {
	ticker := time.NewTicker(guestTime / 30)
	defer ticker.Stop()
	since := map[string]time.Time{} // by connection
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-ticker.C:
		}
		before := since
		since = map[string]time.Time{}
		for _, c := range h.host.Network().Conns() {
			if _, who := h.gate.rank(c.RemotePeer()); who == party || c.Stat().Direction == network.DirOutbound {
				continue
			}
			came, known := before[c.ID()]
			if !known {
				came = now()
			}
			if since[c.ID()] = came; now().Sub(came) >= guestTime {
				c.Close()
			}
		}
	}
}
