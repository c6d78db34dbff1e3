package p2p

import (
	"errors"
	"net"
	"strings"
	"testing"
)

// What answers at a peer's address and is not the peer is named as such.
func TestAWrongPortIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		answer   string
		says     string
		stranger bool
	}{
		"another service":   {"HTTP/1.1 400 Bad Request\r\n\r\n", "no node of a study", true},
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
			if !errors.Is(err, ErrUnreachable) || errors.Is(err, ErrStranger) != tc.stranger || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("calling it says: %v", err)
			}
		})
	}
}

// An address that cannot be listened at is answered by what to do. The texts are libp2p's:
// it hands no error values on, and keeps goroutines when it cannot start, so that it is the
// scripts of package cmd that meet them.
func TestListeningFailuresAreExplained(t *testing.T) {
	for cause, says := range map[string]string{
		"failed to listen on any addresses: [listen tcp4 127.0.0.1:7424: bind: address already in use]":          "in another process",
		`failed to parse multiaddr "/ip4/127.0.0.1/tcp/80000": invalid value "80000" for protocol tcp`:           "not a multiaddr such as",
		"failed to listen on any addresses: [listen tcp4 192.0.2.7:7424: bind: cannot assign requested address]": "this machine has no such address",
		"failed to listen on any addresses: [listen tcp4 127.0.0.1:80: bind: permission denied]":                 "below 1024",
		`failed to parse multiaddr "127.0.0.1:7424": must begin with /`:                                          "127.0.0.1:7424 is /ip4/127.0.0.1/tcp/7424",
	} {
		if err := listenError([]string{"127.0.0.1:7424"}, errors.New(cause)); !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", cause, err)
		}
	}
}
