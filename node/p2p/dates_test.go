package p2p

import (
	"crypto/rand"
	"crypto/x509"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
)

// A peer's clock may be years off: no certificate of this node is too young or too old for it.
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
	if cert.NotBefore.Year() > 1970 || cert.NotAfter.Before(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("valid from %v to %v", cert.NotBefore, cert.NotAfter)
	}
	id, err := libp2ptls.PubKeyFromCertChain([]*x509.Certificate{cert})
	if err != nil || !id.Equals(key.GetPublic()) {
		t.Errorf("the key that it proves: %v", err)
	}
}
