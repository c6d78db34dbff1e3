package p2p

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peerstore"
	ma "github.com/multiformats/go-multiaddr"
)

// A node dials only the addresses that it was given. Those that a peer announces may lie behind a
// proxy, or be another machine here.
func TestOnlyGivenAddressesAreDialled(t *testing.T) {
	server := start(t, 1, listening(tcpLoopback))
	server.Serve("echo", echo)
	port := strings.Split(server.Addrs()[0], "/")[4]
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	through := make(chan net.Conn, 1)
	go func() {
		in, err := proxy.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			in.Close()
			return
		}
		go io.Copy(out, in)
		through <- in
		io.Copy(in, out)
	}()
	given := []string{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", proxy.Addr().(*net.TCPAddr).Port)}
	client := start(t, 2, nil)
	if _, err := client.Call(patience(t), server.PeerID(), given, "echo", nil); err != nil {
		t.Fatal(err)
	}
	proxy.Close()
	(<-through).Close()
	for range 3 { // the first may use the breaking connection
		_, err = client.Call(patience(t), server.PeerID(), given, "echo", nil)
		if errors.Is(err, ErrUnreachable) {
			return
		}
	}
	t.Errorf("without the proxy: %v, want %v", err, ErrUnreachable)
}

// libp2p changes a peer's addresses when the peer announces some or a connection ends, possibly
// just before a dial. That must not change the addresses that are dialled.
func TestAddressesAreThoseOfTheCallAlone(t *testing.T) {
	server, client := start(t, 1, listening(tcpLoopback)), start(t, 2, nil)
	id, err := toLibp2p(server.PeerID())
	if err != nil {
		t.Fatal(err)
	}
	given, err := parseAddrs(id, server.Addrs())
	if err != nil {
		t.Fatal(err)
	}
	told, err := parseAddrs(id, []string{"/ip4/192.0.2.1/tcp/4001"})
	if err != nil {
		t.Fatal(err)
	}
	client.book.setAddrs(id, given)
	store := client.host.Peerstore()
	store.AddAddrs(id, told, peerstore.ConnectedAddrTTL)
	store.AddAddr(id, told[0], peerstore.PermanentAddrTTL)
	store.SetAddrs(id, told, peerstore.ConnectedAddrTTL)
	store.SetAddr(id, told[0], peerstore.ConnectedAddrTTL)
	certified, _ := peerstore.GetCertifiedAddrBook(server.host.Peerstore())
	own, _ := peerstore.GetCertifiedAddrBook(store)
	signed := certified.GetPeerRecord(id)
	if signed == nil {
		t.Fatal("a node that listens signs no record of it")
	}
	if accepted, err := own.ConsumePeerRecord(signed, peerstore.PermanentAddrTTL); accepted || err != nil {
		t.Errorf("another node's record: %v, %v", accepted, err)
	}
	for _, ttl := range []time.Duration{peerstore.RecentlyConnectedAddrTTL, peerstore.ConnectedAddrTTL, peerstore.PermanentAddrTTL} {
		store.UpdateAddrs(id, ttl, peerstore.TempAddrTTL)
	}
	store.UpdateAddrs(id, peerstore.TempAddrTTL, 0)
	if got := store.PeerInfo(id).Addrs; len(got) != len(given) || !slices.EqualFunc(got, given, ma.Multiaddr.Equal) {
		t.Errorf("to be dialled are %v, want %v", got, given)
	}
	if _, err := client.host.Network().DialPeer(patience(t), id); err != nil {
		t.Error(err)
	}
}
