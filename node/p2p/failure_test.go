package p2p

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/libp2p/go-libp2p/p2p/net/swarm"
)

// Something else that answers at a peer's address is reported as such.
func TestAWrongPortIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		answer   string
		says     string
		stranger bool
	}{
		"another service":   {"HTTP/1.1 400 Bad Request\r\n\r\n", "not a node of a study", true},
		"one that hangs up": {"", "closed the connection at once", false},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go func() {
				for {
					c, err := listener.Accept()
					if err != nil {
						return
					}
					c.Write([]byte(tc.answer))
					c.Read(make([]byte, 1000))
					c.Close()
				}
			}()
			addr := "/ip4/127.0.0.1/tcp/" + strings.TrimPrefix(listener.Addr().String(), "127.0.0.1:")
			_, err = start(t, 1, nil).Call(patience(t), testID(t, 2), []string{addr}, "echo", nil)
			if !errors.Is(err, ErrUnreachable) || errors.Is(err, ErrWrongPeer) != tc.stranger || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("calling it says: %v", err)
			}
		})
	}
}

// An error about an address that cannot be listened at says what to do, and what the system says.
// libp2p returns no error values, and leaks goroutines if it cannot start.
func TestListeningFailuresAreExplained(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := strings.TrimPrefix(taken.Addr().String(), "127.0.0.1:")
	libp2ps := errors.New("failed to listen on any addresses: [words]")
	for addr, says := range map[string]string{
		"/ip4/127.0.0.1/tcp/" + port:             "in another process",
		"/ip4/127.0.0.1/tcp/" + port + "/ws":     "in another process",
		"/ip4/127.0.0.1/tcp/" + port + "/tls/ws": "in another process",
		"/ip4/127.0.0.1/tcp/80000":               "not a multiaddr such as",
		"/ip4/192.0.2.7/tcp/7424":                "this machine has no such address",
		"127.0.0.1:7424":                         "127.0.0.1:7424 is /ip4/127.0.0.1/tcp/7424",
		"/ip4/127.0.0.1/udp/7424/quic-v1":        libp2ps.Error(),
	} {
		if err := listenError([]string{addr}, libp2ps); !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	denied := &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EACCES)}
	if err := listenCause([]string{"/ip4/127.0.0.1/tcp/80"}, denied, libp2ps); !strings.Contains(err.Error(), "below 1024") {
		t.Errorf("port 80: %v", err)
	}
}

// Kinds of wrong certificates are distinguished by error values, on which the doctor's advice
// depends.
func TestWrongCertificatesAreKinds(t *testing.T) {
	outer := fmt.Errorf("websocket: %w", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}})
	for _, c := range []struct{ cause, kind error }{
		{outer, ErrUncertified},
		{&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, ErrDates},
		{errors.New(securing + "certificate verification failed: x509: certificate has expired or is not yet valid: current time"), ErrDates},
		{errors.New(securing + "remote error: tls: bad certificate"), ErrDates},
		{errors.New("no route"), nil},
	} {
		_, kind := dialCause(c.cause)
		if kind != c.kind {
			t.Errorf("%v is %v, want %v", c.cause, kind, c.kind)
		}
		err := dialError(&swarm.DialError{DialErrors: []swarm.TransportError{{Cause: c.cause}}}, nil)
		if !errors.Is(err, ErrUnreachable) || c.kind != nil && !errors.Is(err, c.kind) || errors.Is(err, ErrWrongPeer) {
			t.Errorf("%v", err)
		}
	}
}
