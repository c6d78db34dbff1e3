package p2p

import (
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/cosketch/cosketch/protocol"
)

// toLibp2p converts an identity to libp2p's form.
func toLibp2p(p protocol.PeerID) (peer.ID, error) {
	key, err := crypto.UnmarshalEd25519PublicKey(p[:])
	if err != nil {
		return "", err
	}
	return peer.IDFromPublicKey(key)
}

// fromLibp2p converts an identity from libp2p's form. It refuses all but valid Ed25519 keys.
func fromLibp2p(id peer.ID) (protocol.PeerID, error) {
	key, err := id.ExtractPublicKey()
	if err != nil {
		return protocol.PeerID{}, err
	}
	if key.Type() != crypto.Ed25519 {
		return protocol.PeerID{}, fmt.Errorf("key of type %s", key.Type())
	}
	raw, err := key.Raw()
	if err != nil {
		return protocol.PeerID{}, err
	}
	return protocol.PeerIDFromKey(raw)
}

// parseAddrs parses the addresses at which a peer is expected to listen. A trailing /p2p/ID is
// accepted if it names that peer.
func parseAddrs(id peer.ID, addrs []string) ([]ma.Multiaddr, error) {
	parsed := make([]ma.Multiaddr, 0, len(addrs))
	for _, text := range addrs {
		addr, err := ma.NewMultiaddr(text)
		if err != nil {
			return nil, fmt.Errorf("parsing address %q: %w (write it like /dns4/host.example.org/tcp/4001)", text, err)
		}
		transport, named := peer.SplitAddr(addr)
		if named != "" && named != id {
			return nil, fmt.Errorf("address %q names another peer than %s", text, id)
		}
		if transport == nil {
			return nil, fmt.Errorf("address %q names no host", text)
		}
		parsed = append(parsed, transport)
	}
	return parsed, nil
}

// CheckAddr returns an error if text is not the multiaddr of a host, or if it names a peer.
func CheckAddr(text string) error {
	addr, err := ma.NewMultiaddr(text)
	if err != nil {
		return err
	}
	if transport, named := peer.SplitAddr(addr); named != "" || transport == nil {
		return errors.New("it is to name a host and a port, and nothing behind them")
	}
	return nil
}

// Delays between the attempts of a dial: plain TCP first, then another transport if the one before
// has not connected.
const (
	betweenAddrs = 250 * time.Millisecond
	betweenKinds = time.Second
)

// rankDial orders the attempts of one dial: plain TCP, WebSocket, QUIC.
func rankDial(addrs []ma.Multiaddr) []network.AddrDelay {
	ranked := make([]network.AddrDelay, 0, len(addrs))
	for _, kind := range []transport{plainTCP, webSocket, overUDP} {
		pause := betweenKinds
		for _, addr := range addrs {
			if transportOf(addr) != kind {
				continue
			}
			var delay time.Duration
			if n := len(ranked); n > 0 {
				delay = ranked[n-1].Delay + pause
			}
			ranked = append(ranked, network.AddrDelay{Addr: addr, Delay: delay})
			pause = betweenAddrs
		}
	}
	return ranked
}

// transport is the kind of transport of an address.
type transport int

const (
	plainTCP transport = iota
	webSocket
	overUDP
)

func transportOf(addr ma.Multiaddr) transport {
	for _, part := range addr {
		switch part.Protocol().Code {
		case ma.P_UDP:
			return overUDP
		case ma.P_WS, ma.P_WSS:
			return webSocket
		}
	}
	return plainTCP
}
