package p2p

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
)

// Memory is reserved as bytes arrive, not for the announced length.
func TestReservedAsBytesArrive(t *testing.T) {
	const size = 8 << 20
	for _, sent := range []int{0, 1, slice, slice + 1, 10 * slice, size/2 + 1, size} {
		reserved := 0
		body, err := framerOver(bytes.NewReader(make([]byte, sent)), nil).readBody(binary.BigEndian.AppendUint32(nil, size), size, func(n int) error {
			reserved += n
			return nil
		})
		if most := 2*sent + slice; reserved > most || reserved > size {
			t.Errorf("%d of %d bytes came, and %d are reserved, want at most %d", sent, size, reserved, most)
		}
		if sent == size && (err != nil || len(body) != size || cap(body) != reserved) {
			t.Errorf("the whole frame: %d bytes in %d, %d reserved, %v", len(body), cap(body), reserved, err)
		}
		if sent < size && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			t.Errorf("%d of %d bytes: %v", sent, size, err)
		}
	}
}

// Two parties that announce large requests, or send most of one and stop, leave memory for a third.
func TestHeldRequestsLeaveRoom(t *testing.T) {
	const memory, frame, chunk = 64 << 20, 8 << 20, 4 << 20
	for name, sent := range map[string]int{"promised": slice, "all but whole": frame - 1} {
		t.Run(name, func(t *testing.T) {
			server := start(t, 1, func(c *Config) {
				c.Listen, c.Limits.Memory = []string{tcpLoopback}, memory
			})
			server.Serve("echo", echo)
			id, err := toLibp2p(server.PeerID())
			if err != nil {
				t.Fatal(err)
			}
			for n := range 2 {
				client := start(t, 10+n, nil)
				if _, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "echo", nil); err != nil {
					t.Fatal(err)
				}
				for range 27 {
					s, err := client.host.NewStream(network.WithNoDial(patience(t), ""), id, client.stream("echo"))
					if err != nil {
						break
					}
					s.SetWriteDeadline(time.Now().Add(20 * time.Second))
					s.Write(append(binary.BigEndian.AppendUint32(nil, frame), make([]byte, sent)...)) // or it is refused
				}
			}
			third := start(t, 20, nil)
			calls := 40
			if testing.Short() {
				calls = 20
			}
			for range calls { // each gets what the one before returned: in sum more than there is
				if _, err := third.Call(patience(t), server.PeerID(), server.Addrs(), "echo", make([]byte, chunk)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// As much as a peer holds stays free for others, and what it returns is free again.
func TestRation(t *testing.T) {
	r := newRation[string](12)
	for _, c := range []struct {
		who string
		n   int64
		ok  bool
	}{{"a", 6, true}, {"a", 1, false}, {"b", 3, true}, {"b", 1, false}, {"c", 1, true}, {"c", 1, false}, {"d", 1, true}, {"e", 1, false}} {
		if ok := r.acquire(c.who, c.n); ok != c.ok {
			t.Errorf("%s takes %d: %v", c.who, c.n, ok)
		}
	}
	r.release("a", 6)
	r.release("b", 3)
	r.release("c", 1)
	r.release("d", 1)
	if r.free != 12 || len(r.held) != 0 {
		t.Errorf("%d are free, %v", r.free, r.held)
	}
}

// Peers that open as many streams as they can leave some for others.
func TestStreamsAreDivided(t *testing.T) {
	resources, err := resourceManager(Limits{Memory: 64 << 20}.withDefaults(), nobodyElse(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer resources.Close()
	open := func(n int) (network.StreamManagementScope, error) {
		id, err := toLibp2p(testID(t, n))
		if err != nil {
			t.Fatal(err)
		}
		return resources.OpenStream(id, network.DirInbound)
	}
	var all []network.StreamManagementScope
	for n := range 3 {
		for {
			s, err := open(n)
			if err != nil {
				break
			}
			all = append(all, s)
		}
	}
	for range 4 {
		if _, err := open(4); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range all {
		s.Done()
		s.Done()
	}
	if r := resources.(limitedResources).inbound; len(r.held) != 1 {
		t.Errorf("after all but one peer's streams have ended: %v", r.held)
	}
}
