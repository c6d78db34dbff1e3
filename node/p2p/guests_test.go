package p2p

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/cosketch/cosketch/node/seldom"
	"github.com/cosketch/cosketch/protocol"
)

// nobodyElse returns the lobby of a host without guests.
func nobodyElse() *guestLimiter {
	return newLobby(newGater(everybody, nil, slog.New(slog.DiscardHandler), seldom.Clock(time.Now)))
}

func mustPeer(t *testing.T, id protocol.PeerID) peer.ID {
	t.Helper()
	p, err := toLibp2p(id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const mostIntroduced = 1000

// inviting returns a host that admits node 2, and guests while open is true.
func inviting(t *testing.T, open *atomic.Bool, change func(*Config)) *Host {
	t.Helper()
	return start(t, 1, func(c *Config) {
		c.Listen, c.Allow = []string{tcpLoopback, quicLoopback}, only(testID(t, 2))
		c.Guests, c.GuestCall = func(protocol.PeerID) bool { return open.Load() }, "introduce"
		c.Handlers = map[string]Handler{"introduce": echo, "echo": echo}
		c.Limits.FrameOf = map[string]Frames{"introduce": {mostIntroduced, mostIntroduced}}
		if change != nil {
			change(c)
		}
	})
}

func opened() *atomic.Bool {
	var open atomic.Bool
	open.Store(true)
	return &open
}

// A guest may make one call only; a party may make both. Once guests are no longer admitted, a
// guest is a stranger.
func TestGuestsHaveOneCall(t *testing.T) {
	for _, by := range []string{"tcp", "quic"} {
		t.Run(by, func(t *testing.T) {
			open := opened()
			server := inviting(t, open, nil)
			at := []string{addrOf(t, server, by)}
			visitor, listed := start(t, 3, nil), start(t, 2, nil)
			if got, err := visitor.Call(patience(t), server.PeerID(), at, "introduce", []byte("me")); err != nil || string(got) != "me" {
				t.Errorf("%q, %v", got, err)
			}
			_, err := visitor.Call(patience(t), server.PeerID(), at, "echo", []byte("me"))
			if r := wantRefusal(t, err, CodeUnknownStudy); !strings.Contains(r.Message, "no study here lists this node") {
				t.Errorf("%v", r)
			}
			for _, name := range []string{"introduce", "echo"} {
				if _, err := listed.Call(patience(t), server.PeerID(), at, name, nil); err != nil {
					t.Errorf("a party calls %s: %v", name, err)
				}
			}
			if _, err := server.Call(patience(t), visitor.PeerID(), nil, "echo", nil); err == nil || !strings.Contains(err.Error(), "no study of this node lists that peer") {
				t.Errorf("a guest is called: %v", err)
			}
			open.Store(false)
			if _, err := visitor.Call(patience(t), server.PeerID(), at, "introduce", nil); err == nil {
				t.Error("a guest is served when nobody is invited any more")
			}
			if _, err := start(t, 4, nil).Call(patience(t), server.PeerID(), at, "introduce", nil); !errors.Is(err, ErrRefusedPeer) {
				t.Errorf("a stranger: %v", err)
			}
		})
	}
}

// A guest's request that exceeds the size of its call is refused before it is read.
func TestGuestsSendLittle(t *testing.T) {
	server := inviting(t, opened(), nil)
	visitor := start(t, 3, nil)
	_, err := visitor.Call(patience(t), server.PeerID(), server.Addrs(), "introduce", make([]byte, mostIntroduced+1))
	wantRefusal(t, err, CodeTooLarge)
	if _, err := visitor.Call(patience(t), server.PeerID(), server.Addrs(), "introduce", make([]byte, 4<<20)); err == nil {
		t.Error("4 MiB were taken")
	}
	if _, err := visitor.Call(patience(t), server.PeerID(), server.Addrs(), "introduce", make([]byte, mostIntroduced)); err != nil {
		t.Error(err)
	}
}

// Strangers take only the places of guests, whatever they hold open. A party can call meanwhile,
// and another guest can once they have been disconnected. The log says so once.
func TestStrangersTakeGuestsPlacesAlone(t *testing.T) {
	var clock later
	var logged lockedBuffer
	arrived := make(chan struct{})
	server := inviting(t, opened(), func(c *Config) {
		c.now, c.Logger = clock.now, slog.New(slog.NewTextHandler(&logged, nil))
		c.Handlers["introduce"] = func(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
			arrived <- struct{}{}
			return waitForEnd(ctx, from, request)
		}
	})
	ctx := patience(t)
	var waiting []<-chan struct{}
	for n := range 3 * guestsPerIP { // all of them from one address
		crowd, ended := start(t, 100+n, nil), make(chan struct{})
		go func() {
			defer close(ended)
			crowd.Call(ctx, server.PeerID(), []string{addrOf(t, server, "tcp")}, "introduce", nil)
		}()
		select {
		case <-arrived:
			waiting = append(waiting, ended)
		case <-ended: // turned away
		}
	}
	if len(waiting) != guestsPerIP {
		t.Errorf("%d guests of one address are there, want %d", len(waiting), guestsPerIP)
	}
	if _, err := start(t, 2, nil).Call(patience(t), server.PeerID(), server.Addrs(), "echo", nil); err != nil {
		t.Errorf("a party is kept out: %v", err)
	}
	if n := strings.Count(logged.String(), "guests are refused"); n != 1 {
		t.Errorf("the log says %d times that guests are refused", n)
	}
	for { // the host checks connection times once a second
		clock.by.Add(int64(guestTime))
		if _, err := start(t, 3, nil).Call(ctx, server.PeerID(), server.Addrs(), "echo", nil); errors.As(err, new(*Refusal)) {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("guests are never shown out")
		}
	}
	for _, ended := range waiting {
		select {
		case <-ended:
		case <-ctx.Done():
			t.Fatal("a guest that says nothing is never shown out")
		}
	}
}

// A guest may open few streams; those of parties are counted separately.
func TestGuestsHaveFewStreams(t *testing.T) {
	parties := only(testID(t, 2))
	gate := newGater(parties, everybody, slog.New(slog.DiscardHandler), seldom.Clock(time.Now))
	resources, err := resourceManager(Limits{Memory: LeastMemory}.withDefaults(), newLobby(gate), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer resources.Close()
	opened := func(n int) (count int) {
		for {
			if _, err := resources.OpenStream(mustPeer(t, testID(t, n)), network.DirInbound); err != nil {
				return count
			}
			count++
		}
	}
	alone := opened(2)
	var taken []int
	for n := range mostGuests {
		taken = append(taken, opened(100+n))
	}
	if most := slices.Max(taken); most != guestStreams {
		t.Errorf("a guest has %d streams, want %d", most, guestStreams)
	}
	fresh, err := resourceManager(Limits{Memory: LeastMemory}.withDefaults(), newLobby(gate), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	resources = fresh
	for n := range mostGuests {
		opened(100 + n)
	}
	if n := opened(2); n != alone {
		t.Errorf("beside guests a party opens %d streams, alone %d", n, alone)
	}
}

// A lobby takes each place back once.
func TestLobby(t *testing.T) {
	l := newLobby(newGater(only(), everybody, slog.New(slog.DiscardHandler), seldom.Clock(time.Now)))
	var leave []func()
	enter := func(n int, from string) bool {
		out, err := l.enter(mustPeer(t, testID(t, n)), origin(mustAddr(t, "/ip4/"+from+"/tcp/1")))
		if err == nil {
			leave = append(leave, out)
		}
		return err == nil
	}
	for n := range mostGuests {
		if from := string(rune('1' + n/guestsPerIP)); !enter(n, "192.0.2."+from) {
			t.Errorf("guest %d finds no place", n)
		}
	}
	if enter(50, "192.0.2.9") {
		t.Error("there is a place beyond all")
	}
	for range 2 {
		leave[0]()
	}
	if !enter(51, "192.0.2.1") || enter(52, "192.0.2.1") {
		t.Error("one place was given back, and is there once")
	}
	leave[5]()
	if enter(53, "192.0.2.1") || !enter(54, "192.0.2.9") {
		t.Error("an address has its share, and no more")
	}
	for _, out := range leave {
		out()
	}
	if l.all != 0 || len(l.held) != 0 {
		t.Errorf("%d places are held by %d addresses after all have left", l.all, len(l.held))
	}
}
