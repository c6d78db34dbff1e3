package p2p

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// A node dials the addresses that it was given and no others: those at which a peer
// says that it listens may lie behind a proxy, or be another machine here.
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
	for range 3 { // the first may meet the connection that is breaking
		_, err = client.Call(patience(t), server.PeerID(), given, "echo", nil)
		if errors.Is(err, ErrUnreachable) {
			return
		}
	}
	t.Errorf("without the proxy: %v, want %v", err, ErrUnreachable)
}
