package p2p

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

const webSocketLoopback = "/ip4/127.0.0.1/tcp/0/ws"

func mustAddr(t *testing.T, text string) ma.Multiaddr {
	t.Helper()
	addr, err := ma.NewMultiaddr(text)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func TestWebSocket(t *testing.T) {
	server := start(t, 1, listening(webSocketLoopback))
	server.Serve("echo", echo)
	client := start(t, 2, nil)
	if _, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "echo", make([]byte, 5<<20)); err != nil {
		t.Fatal(err)
	}
	if got := transportTo(t, client, server); got != "websocket" {
		t.Errorf("over %s", got)
	}
}

// An aggregator behind a proxy that ends TLS on 443 is reached by its name there. Its identity is
// proved inside, so the proxy's certificate only decides about the outer layer.
func TestWebSocketBehindProxy(t *testing.T) {
	server := start(t, 1, listening(webSocketLoopback))
	server.Serve("echo", echo)
	port, err := mustAddr(t, server.Addrs()[0]).ValueForProtocol(ma.P_TCP)
	if err != nil {
		t.Fatal(err)
	}
	behind, err := url.Parse("http://127.0.0.1:" + port)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(behind))
	proxy.Config.ErrorLog = log.New(io.Discard, "", 0) // the test has a client refuse the certificate
	proxy.StartTLS()
	t.Cleanup(proxy.Close)
	outside := []string{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d/tls/sni/example.com/ws", proxy.Listener.Addr().(*net.TCPAddr).Port)}

	certified := start(t, 2, func(c *Config) {
		c.Roots = x509.NewCertPool()
		c.Roots.AddCert(proxy.Certificate())
	})
	if _, err := certified.Call(patience(t), server.PeerID(), outside, "echo", make([]byte, 5<<20)); err != nil {
		t.Fatal(err)
	}
	if got := transportTo(t, certified, server); got != "websocket" {
		t.Errorf("over %s", got)
	}

	_, err = start(t, 3, nil).Call(patience(t), server.PeerID(), outside, "echo", nil)
	if !errors.Is(err, ErrUnreachable) || !errors.Is(err, ErrUncertified) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a proxy that nobody certified: %v", err)
	}
	_, err = certified.Call(patience(t), testID(t, 9), outside, "echo", nil)
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), server.PeerID().String()) {
		t.Errorf("another node behind the proxy: %v", err)
	}
}
