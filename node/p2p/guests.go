package p2p

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// Guests are peers that no study lists, admitted while new parties may still join. A stranger with
// many keys can be any number of guests. So all guests together have few places, each for a short
// time, and the memory they can occupy is bounded separately from that of parties.
//
// A connection of a guest has at most guestStreams streams. Each starts with one window. At most
// twice the largest request is read from it, so the window grows to at most four times its initial
// size. Guests thus hold at most mostGuests · guestStreams · 4 windows, which is 64 MiB, and a
// request for each stream, 16 MiB, all within Limits.Memory.
const (
	mostGuests   = 16
	guestsPerIP  = 4
	guestStreams = 4
	guestTime    = 30 * time.Second
)

// rank says what a peer may do here.
type rank int

const (
	stranger rank = iota // nothing
	guest                // one call
	party                // every call
)

// guestLimiter counts the places of guests. A guest holds one as long as its connection exists.
type guestLimiter struct {
	gate *gater

	mu   sync.Mutex
	all  int
	held map[netip.Prefix]int
}

func newLobby(g *gater) *guestLimiter { return &guestLimiter{gate: g, held: map[netip.Prefix]int{}} }

// enter takes a place for a guest and returns a function that gives it back. Other peers need no
// place.
func (l *guestLimiter) enter(id peer.ID, from netip.Prefix) (leave func(), err error) {
	if _, who := l.gate.rank(id); who != guest {
		return func() {}, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= mostGuests || l.held[from] >= guestsPerIP {
		l.gate.strangers.Warn("", "guests are refused: all guest places are taken, or all of one address", "places", mostGuests, "of_one_address", guestsPerIP)
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

// closeGuests closes incoming connections of peers that are not parties once they are guestTime old. It
// returns when the host closes.
func (h *Host) closeGuests(now func() time.Time) {
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
