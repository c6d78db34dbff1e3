package p2p

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/cosketch/cosketch/protocol"
)

// crowd opens n connections to a host from another address of this machine, and sends say on each,
// and nothing more.
func crowd(t *testing.T, addr, from string, n int, say string) {
	t.Helper()
	_, at, err := manet.DialArgs(mustAddr(t, strings.TrimSuffix(addr, "/ws")))
	if err != nil {
		t.Fatal(err)
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	for range n {
		c, err := dialer.DialContext(patience(t), "tcp", at)
		if err != nil {
			t.Skipf("cannot connect from %s here: %v", from, err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := c.Write([]byte(say)); err != nil && say != "" {
			continue // closed in favour of a later one
		}
	}
}

// addrOf returns the address of a host for a transport.
func addrOf(t *testing.T, h *Host, kind string) string {
	t.Helper()
	for _, addr := range h.Addrs() {
		web, quic := strings.HasSuffix(addr, "/ws"), strings.HasSuffix(addr, "/quic-v1")
		if kind == "ws" && web || kind == "quic" && quic || kind == "tcp" && !web && !quic {
			return addr
		}
	}
	t.Fatalf("no %s among %q", kind, h.Addrs())
	return ""
}

// Connections that stay silent keep nobody out, from another address or their own.
func TestSilentConnections(t *testing.T) {
	const half = "GET / HTTP/1.1\r\nHost: localhost\r\n"
	for _, c := range []struct{ crowded, say, from, by string }{
		{"tcp", "", "127.0.0.2", "tcp"}, {"tcp", "", "127.0.0.2", "quic"}, {"tcp", "", "127.0.0.2", "ws"}, {"tcp", "", "127.0.0.1", "tcp"},
		{"ws", half, "127.0.0.2", "ws"}, {"ws", half, "127.0.0.2", "tcp"}, {"ws", half, "127.0.0.2", "quic"}, {"ws", half, "127.0.0.1", "ws"}, // as through a proxy
	} {
		t.Run(fmt.Sprintf("%s at %s, calling by %s", c.crowded, c.from, c.by), func(t *testing.T) {
			server := start(t, 1, func(conf *Config) {
				conf.Listen, conf.Allow = []string{tcpLoopback, webSocketLoopback, quicLoopback}, only(testID(t, 2))
			})
			server.Serve("echo", echo)
			crowd(t, addrOf(t, server, c.crowded), c.from, 256, c.say)
			client := start(t, 2, nil)
			if _, err := client.Call(patience(t), server.PeerID(), []string{addrOf(t, server, c.by)}, "echo", nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// later is a clock that the test moves.
type later struct{ by atomic.Int64 }

func (l *later) now() time.Time { return time.Unix(0, l.by.Load()) }

// Several addresses together take all places for unfinished handshakes. All parties, which come at
// once from one address, still get through.
func TestPartiesBehindOneAddressUnderAttack(t *testing.T) {
	var parties []protocol.PeerID
	for n := range manyAtOnce {
		parties = append(parties, testID(t, 100+n))
	}
	for _, by := range []string{"tcp", "quic"} {
		t.Run(by, func(t *testing.T) {
			var clock later
			server := start(t, 1, func(c *Config) {
				c.Listen, c.Allow, c.now = []string{tcpLoopback, quicLoopback}, only(parties...), clock.now
				c.Limits.Conns = manyAtOnce
			})
			server.Serve("echo", echo)
			clients := make([]*Host, manyAtOnce)
			for n := range clients {
				clients[n] = start(t, 100+n, nil)
			}
			for n := range 5 {
				crowd(t, addrOf(t, server, "tcp"), fmt.Sprintf("127.0.1.%d", n+1), manyAtOnce, "")
			}
			clock.by.Store(int64(slow))
			ctx := patience(t)
			var together sync.WaitGroup
			for n, client := range clients {
				together.Go(func() {
					_, err := client.Call(ctx, server.PeerID(), []string{addrOf(t, server, by)}, "echo", nil)
					for again := 0; by == "quic" && err != nil && again < 20; again++ { // quicreuse queues 16 and drops more
						_, err = client.Call(ctx, server.PeerID(), []string{addrOf(t, server, by)}, "echo", nil)
					}
					if err != nil {
						t.Errorf("party %d: %v", n, err)
					}
				})
			}
			together.Wait()
		})
	}
}

// Unfinished QUIC handshakes cannot be ended from outside. The more places are taken, the fewer one
// address may have.
func TestUnfinishedHandshakes(t *testing.T) {
	resources, err := resourceManager(Limits{}.withDefaults(), nobodyElse(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer resources.Close()
	open := func(addr string) (network.ConnManagementScope, bool) {
		scope, err := resources.OpenConnection(network.DirInbound, false, ma.StringCast(addr))
		return scope, err == nil
	}
	fill := func(addr string) (n int) {
		for ; n <= manyAtOnce; n++ {
			if _, ok := open(addr); !ok {
				return n
			}
		}
		t.Fatalf("%s may hold %d", addr, n)
		return n
	}
	if n := fill("/ip4/203.0.113.1/udp/1/quic-v1"); n != manyAtOnce {
		t.Errorf("one address holds %d, want %d", n, manyAtOnce)
	}
	for n := range 16 {
		fill(fmt.Sprintf("/ip4/203.0.113.%d/udp/1/quic-v1", 100+n))
		fill(fmt.Sprintf("/ip6/2001:db8:1:%x00::1/udp/1/quic-v1", n)) // all are one customer's
	}
	party, ok := open("/ip4/192.0.2.1/udp/1/quic-v1")
	if !ok {
		t.Fatal("eighteen others keep an address out")
	}
	id, err := toLibp2p(testID(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	if err := party.SetPeer(id); err != nil {
		t.Fatal(err)
	}
	if resources.(limitedResources).packets.held[origin(ma.StringCast("/ip4/192.0.2.1/udp/1"))] != nil {
		t.Error("a handshake that has ended keeps its place")
	}
	party.Done()
}

// The connection that is closed for another is the oldest of the address that holds most. It is
// closed once.
func TestDoorMakesRoom(t *testing.T) {
	var clock later
	d := newDoor(4, 2, nobodyElse(), clock.now)
	var ended []string
	enter := func(name, ip string) *pendingConn {
		t.Helper()
		v, err := d.enter(&network.NullScope{}, ma.StringCast("/ip4/"+ip+"/tcp/1"), func() { ended = append(ended, name) })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := func(names ...string) {
		t.Helper()
		if fmt.Sprint(ended) != fmt.Sprint(names) {
			t.Fatalf("ended %q, want %q", ended, names)
		}
	}
	a1, _ := enter("a1", "192.0.2.1"), enter("a2", "192.0.2.1")
	want()
	enter("a3", "192.0.2.1") // more than its share
	want("a1")
	b1 := enter("b1", "192.0.2.2")
	c1 := enter("c1", "192.0.2.3") // the last place
	want("a1")
	enter("d1", "192.0.2.4") // a holds most
	want("a1", "a2")
	enter("d2", "192.0.2.4") // all hold one
	want("a1", "a2", "a3")
	enter("d3", "192.0.2.4")
	want("a1", "a2", "a3", "d1")
	if err := a1.SetPeer("x"); err == nil {
		t.Error("who had to go comes in")
	}
	a1.Done()
	clock.by.Store(int64(slow))
	enter("e1", "192.0.2.5") // d holds most, but b1 is slow
	want("a1", "a2", "a3", "d1", "b1")
	for _, v := range []*pendingConn{b1, c1} {
		v.SetPeer("x")
		v.Done()
		v.Done()
	}
	if d.all.Len() != 3 || len(d.held) != 2 {
		t.Errorf("%d places of %d addresses are taken, want d2, d3 and e1", d.all.Len(), len(d.held))
	}
}
