package p2p

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
)

// All parties of a large study may come from one address, which libp2p's own
// defaults would not admit; loopback, where other tests run, never shows it.
func TestManyPartiesBehindOneAddress(t *testing.T) {
	const perIP = 70
	for _, addr := range []string{"/ip4/203.0.113.7/tcp/4001", "/ip6/2001:db8::7/tcp/4001"} {
		resources, err := resourceManager(Limits{ConnsPerIP: perIP}.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		from := ma.StringCast(addr)
		for i := range perIP {
			if _, err := resources.OpenConnection(network.DirInbound, true, from); err != nil {
				t.Fatalf("connection %d from %s: %v", i, from, err)
			}
		}
		if _, err := resources.OpenConnection(network.DirInbound, true, from); err == nil {
			t.Errorf("connection %d from %s was admitted", perIP, from)
		}
		resources.Close()
	}
}

func TestDialOrder(t *testing.T) {
	quic, tcp := ma.StringCast("/ip4/192.0.2.1/udp/1/quic-v1"), ma.StringCast("/ip4/192.0.2.1/tcp/1")
	ranked := rankDial([]ma.Multiaddr{quic, tcp})
	if len(ranked) != 2 || !ranked[0].Addr.Equal(tcp) || ranked[0].Delay != 0 || ranked[1].Delay != beforeQUIC {
		t.Errorf("both: %v", ranked)
	}
	if ranked = rankDial([]ma.Multiaddr{quic}); len(ranked) != 1 || ranked[0].Delay != 0 {
		t.Errorf("QUIC alone: %v", ranked)
	}
}
