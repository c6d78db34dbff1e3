package p2p

import (
	"context"
	"fmt"
	"net"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/cosketch/cosketch/protocol"
)

// Reached is the result of probing one address of a peer.
type Reached struct {
	Name        string   // the host name in the address; empty if it holds an IP address
	Resolved    []string // the IP addresses of Name
	Transport   string   // tcp, websocket or quic-v1; empty without a connection
	KeyExchange string   // the key exchange group
	Connected   time.Duration
	Answered    time.Duration // from the request to the answer, over the open connection
}

// Probe calls a peer at one of its addresses over a new connection; it closes an existing one
// first. r says how far it came, even if there is an error. The error is one of Call's, or that of
// resolving the name.
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
		// Any other key exchange would have closed the connection.
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
