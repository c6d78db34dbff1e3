package p2p

import (
	"crypto/tls"
	"net"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/multiformats/go-multistream"
	"github.com/quic-go/quic-go"
)

// handshake dials a listener as libp2p does, with the client's own choice of groups.
func handshake(t *testing.T, server *Host, groups ...tls.CurveID) (*tls.Conn, error) {
	t.Helper()
	addr, err := ma.NewMultiaddr(server.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	target, err := manet.ToNetAddr(addr)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", target.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := multistream.SelectOneOf([]string{libp2ptls.ID}, conn); err != nil {
		t.Fatal(err)
	}
	key, err := crypto.UnmarshalEd25519PrivateKey(testKey(2))
	if err != nil {
		t.Fatal(err)
	}
	identity, err := libp2ptls.NewIdentity(key)
	if err != nil {
		t.Fatal(err)
	}
	id, err := toLibp2p(server.PeerID())
	if err != nil {
		t.Fatal(err)
	}
	config, _ := identity.ConfigForPeer(id)
	config.NextProtos = []string{"/yamux/1.0.0"}
	config.CurvePreferences = groups
	secure := tls.Client(conn, config)
	return secure, secure.HandshakeContext(patience(t))
}

// The listener negotiates the hybrid group with a client that offers Go's default groups, and
// closes the connection of one that offers only X25519.
func TestTCPIsPostQuantum(t *testing.T) {
	server := start(t, 1, listening(tcpLoopback))
	conn, err := handshake(t, server)
	if err != nil {
		t.Fatal(err)
	}
	state := conn.ConnectionState()
	if state.CurveID != tls.X25519MLKEM768 || state.Version != tls.VersionTLS13 {
		t.Errorf("negotiated %s, TLS %x", state.CurveID, state.Version)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the multiplexer's first bytes
		t.Errorf("hybrid connection: %v", err)
	}

	conn, err = handshake(t, server, tls.X25519)
	if err == nil {
		_, err = conn.Read(make([]byte, 1))
	}
	if err == nil {
		t.Errorf("a connection under %s was accepted", conn.ConnectionState().CurveID)
	}
}

func TestQUICIsPostQuantum(t *testing.T) {
	server := start(t, 1, listening(quicLoopback))
	server.Serve("echo", echo)
	client := start(t, 2, nil)
	if _, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "echo", nil); err != nil {
		t.Fatal(err)
	}
	id, err := toLibp2p(server.PeerID())
	if err != nil {
		t.Fatal(err)
	}
	var conn *quic.Conn
	if !client.host.Network().ConnsToPeer(id)[0].As(&conn) {
		t.Fatal("the connection is not QUIC")
	}
	if group := conn.ConnectionState().TLS.CurveID; group != tls.X25519MLKEM768 {
		t.Errorf("negotiated %s", group)
	}
}
