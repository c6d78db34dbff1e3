package p2p

import (
	"crypto/rand"
	"crypto/x509"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/quic-go/quic-go"
)

// A peer's clock may be years off: it never finds a certificate of this node too young or too old.
func TestCertificatesHaveNoDates(t *testing.T) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own, err := newHybridTLS(libp2ptls.ID, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	config, _ := own.identity.ConfigForPeer("")
	cert, err := x509.ParseCertificate(config.Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	mustBeUndated(t, cert)
	id, err := libp2ptls.PubKeyFromCertChain([]*x509.Certificate{cert})
	if err != nil || !id.Equals(key.GetPublic()) {
		t.Errorf("the key that it proves: %v", err)
	}
}

// The same holds over QUIC, on either side.
func TestCertificatesOfQUICHaveNoDates(t *testing.T) {
	server, client := start(t, 1, listening(quicLoopback)), start(t, 2, nil)
	server.Serve("echo", echo)
	if _, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "echo", nil); err != nil {
		t.Fatal(err)
	}
	for _, side := range []struct{ of, peer *Host }{{client, server}, {server, client}} {
		id, err := toLibp2p(side.peer.PeerID())
		if err != nil {
			t.Fatal(err)
		}
		conns := side.of.host.Network().ConnsToPeer(id)
		var q *quic.Conn
		if len(conns) == 0 || !conns[0].As(&q) {
			t.Fatalf("%d connections, over QUIC: %v", len(conns), q != nil)
		}
		mustBeUndated(t, q.ConnectionState().TLS.PeerCertificates[0])
	}
}

func mustBeUndated(t *testing.T, cert *x509.Certificate) {
	t.Helper()
	if cert.NotBefore.Year() > 1970 || cert.NotAfter.Before(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("valid from %v to %v", cert.NotBefore, cert.NotAfter)
	}
}
