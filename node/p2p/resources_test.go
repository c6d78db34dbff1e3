package p2p

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
)

// All parties of a large study may come from one address, which libp2p's default limits would not
// admit. Tests over loopback, which is exempt, cannot show that.
func TestManyPartiesBehindOneAddress(t *testing.T) {
	const perIP = 70
	for _, addr := range []string{"/ip4/203.0.113.7/tcp/4001", "/ip6/2001:db8::7/tcp/4001"} {
		resources, err := resourceManager(Limits{ConnsPerIP: perIP}.withDefaults(), nobodyElse(), time.Now)
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
	web, other := ma.StringCast("/dns4/host.example/tcp/443/tls/ws"), ma.StringCast("/ip4/192.0.2.2/tcp/1")
	for _, c := range []struct {
		addrs  []ma.Multiaddr
		order  []int
		delays []time.Duration
	}{
		{[]ma.Multiaddr{quic, tcp}, []int{1, 0}, []time.Duration{0, betweenKinds}},
		{[]ma.Multiaddr{quic}, []int{0}, []time.Duration{0}},
		{[]ma.Multiaddr{quic, web}, []int{1, 0}, []time.Duration{0, betweenKinds}},
		{[]ma.Multiaddr{quic, web, tcp, other}, []int{2, 3, 1, 0}, []time.Duration{0, betweenAddrs, betweenAddrs + betweenKinds, betweenAddrs + 2*betweenKinds}},
	} {
		ranked := rankDial(c.addrs)
		if len(ranked) != len(c.order) {
			t.Fatalf("%v: ranked %v", c.addrs, ranked)
		}
		for i, r := range ranked {
			if want := c.addrs[c.order[i]]; !r.Addr.Equal(want) || r.Delay != c.delays[i] {
				t.Errorf("%v: attempt %d is %v after %v, want %v after %v", c.addrs, i, r.Addr, r.Delay, want, c.delays[i])
			}
		}
	}
}
