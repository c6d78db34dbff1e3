package p2p

import (
	"context"
	"fmt"
	"net"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/cosketch/cosketch/protocol"
)

// Reached says what became of one address of a peer.
type Reached struct {
	Name        string   // the host name in the address; empty where it holds an IP address
	Resolved    []string // the IP addresses that the name stands for
	Transport   string   // tcp, websocket or quic-v1; empty where there was no connection
	KeyExchange string   // the group that the connection's keys come from
	Connected   time.Duration
	Answered    time.Duration // from the request to the answer, over the open connection
}

// Probe calls a peer at one of its addresses, over a connection made for it: the
// connection that there may be is closed. It says how far it came, whether or not
// there is an error, which is one of Call's or that of looking up the name.
func (h *Host) Probe(ctx context.Context, to protocol.PeerID, addr, name string, request []byte) (r Reached, response []byte, err error) {
	id, err := toLibp2p(to)
	if err != nil {
		return r, nil, err
	}
	parsed, err := parseAddrs(id, []string{addr})
	if err != nil {
		return r, nil, err
	}
	if r.Name = hostName(parsed[0]); r.Name != "" {
		if r.Resolved, err = net.DefaultResolver.LookupHost(ctx, r.Name); err != nil {
			return r, nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
	}
	h.host.Network().ClosePeer(id)
	begun := time.Now()
	ctx, cancel := h.callContext(ctx)
	defer cancel()
	if err := h.connect(ctx, id, []string{addr}); err != nil {
		return r, nil, err
	}
	r.Connected = time.Since(begun)
	if conns := h.host.Network().ConnsToPeer(id); len(conns) > 0 {
		// With another key exchange it would have been closed before it got here.
		r.Transport, r.KeyExchange = conns[0].ConnState().Transport, keyExchange.String()
	}
	begun = time.Now()
	response, err = h.call(ctx, to, []string{addr}, name, request)
	r.Answered = time.Since(begun)
	return r, response, err
}

func hostName(addr ma.Multiaddr) string {
	if len(addr) == 0 {
		return ""
	}
	switch addr[0].Protocol().Code {
	case ma.P_DNS, ma.P_DNS4, ma.P_DNS6, ma.P_DNSADDR:
		return addr[0].Value()
	}
	return ""
}
