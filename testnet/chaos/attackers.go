package chaos

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node/p2p/raw"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Order tells hostile peers whom to attack, and for how long.
type Order struct {
	Aggregator string   `json:"aggregator"` // its peer id
	Address    string   `json:"address"`    // a multiaddr
	Port       int      `json:"port"`
	Pages      string   `json:"pages"`   // host and port
	Studies    []string `json:"studies"` // study files that list the peers with these seeds
	Seeds      [][]byte `json:"seeds"`
	Unlisted   int      `json:"unlisted"`
	Seconds    float64  `json:"seconds"`
}

// Tally counts calls by attack and outcome.
type Tally map[string]map[string]int

// Limits of what hostile peers do.
const (
	frame      = 8 << 20
	pace       = 20 * time.Millisecond // interval between two calls of one peer
	callTime   = 20 * time.Second
	silent     = 256 // number of silent connections per address
	slowPosts  = 64
	heldSlices = 64 << 10
	strangers  = 40 // per minute and peer
)

// hostile is one hostile peer.
type hostile struct {
	raw     *raw.Peer
	signer  protocol.Signer
	studies []*study.Study
}

func (h *hostile) close() { h.raw.Close() }

func (o Order) peer(seed []byte) (*hostile, error) {
	key := ed25519.NewKeyFromSeed(seed)
	to, err := protocol.ParsePeerID(o.Aggregator)
	if err != nil {
		return nil, err
	}
	h := new(hostile)
	if h.signer, err = protocol.NewSigner(key); err != nil {
		return nil, err
	}
	for _, source := range o.Studies {
		s, err := file.Parse([]byte(source))
		if err != nil {
			return nil, err
		}
		h.studies = append(h.studies, s)
	}
	h.raw, err = raw.New(key, to, o.Address)
	return h, err
}

// listed returns one of the peers that the aggregator lists.
func (o Order) listed(i int) (*hostile, error) { return o.peer(o.Seeds[i]) }

func (o Order) stranger() (*hostile, error) {
	var seed [ed25519.SeedSize]byte
	if _, err := io.ReadFull(rand.Reader, seed[:]); err != nil {
		return nil, fmt.Errorf("drawing a key: %w", err)
	}
	return o.peer(seed[:])
}

// call is one kind of hostile call, which is repeated.
type call struct {
	name string
	send func(context.Context, *hostile) string // returns the outcome
}

// callNames are the names of the nodes' calls, and one that does not exist.
var callNames = []string{"post", "read", "chunk", "progress", "document", "hello", "ledger", "further", "studies", "query", "nosuch"}

// calls are the calls whose cost is measured, and which listed peers make at random.
var calls = func() (out []call) {
	for _, name := range []string{"post", "read", "chunk", "hello", "ledger"} {
		out = append(out, call{"empty fields, 8 MiB: " + name, func(ctx context.Context, h *hostile) string {
			return h.ask(ctx, name, raw.Frame(bytes.Repeat([]byte{0x0a, 0x00}, frame/2)))
		}})
	}
	return append(out,
		call{"random bytes", func(ctx context.Context, h *hostile) string {
			body := make([]byte, mathrand.IntN(4096))
			rand.Read(body)
			return h.ask(ctx, callNames[mathrand.IntN(len(callNames))], raw.Frame(body))
		}},
		call{"flipped bits", func(ctx context.Context, h *hostile) string {
			body := wire.EncodePost([]protocol.Envelope{h.junk(100).Envelope()})
			body[mathrand.IntN(len(body))] ^= 1 << mathrand.IntN(8)
			return h.ask(ctx, "post", raw.Frame(body))
		}},
		call{"length of 4 GiB", func(ctx context.Context, h *hostile) string {
			return h.ask(ctx, "chunk", binary.BigEndian.AppendUint32(nil, 1<<32-1))
		}},
		call{"refused post", func(ctx context.Context, h *hostile) string {
			return h.ask(ctx, "post", raw.Frame(wire.EncodePost([]protocol.Envelope{h.junk(64).Envelope()})))
		}},
		call{"junk of agreement, at its largest", func(ctx context.Context, h *hostile) string {
			return h.ask(ctx, "post", raw.Frame(wire.EncodePost([]protocol.Envelope{h.junk(protocol.MaxPayload).Envelope()})))
		}},
		call{"progress of nothing", func(ctx context.Context, h *hostile) string {
			return h.ask(ctx, "progress", raw.Frame(wire.EncodeProgressRequest(h.study().ID)))
		}},
		call{"chunk before its time, 4 MiB", func(ctx context.Context, h *hostile) string {
			return h.ask(ctx, "chunk", raw.Frame(wire.EncodeChunk(wire.Chunk{Study: h.study().ID, Data: make([]byte, 4<<20)})))
		}},
		call{"board", func(ctx context.Context, h *hostile) string {
			return h.ask(ctx, "read", raw.Frame(wire.EncodeRead(wire.Read{Study: h.study().ID})))
		}},
	)
}()

func (h *hostile) study() *study.Study { return h.studies[mathrand.IntN(len(h.studies))] }

// junk returns an envelope of the seed agreement with an invalid payload of the given size, but at
// most the largest of its kind.
func (h *hostile) junk(size int) protocol.Verified {
	kind := []protocol.Kind{protocol.KindCommit, protocol.KindShare, protocol.KindConfirm}[mathrand.IntN(3)]
	e, err := h.signer.Seal(h.study().ID, kind, 1, bytes.Repeat([]byte{0xff}, min(size, kind.MaxPayload())))
	if err != nil {
		panic(err) // cannot fail for a known kind and a valid size
	}
	return e
}

// ask makes a call and returns the outcome.
func (h *hostile) ask(ctx context.Context, name string, sent []byte) string {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	code, _, err := h.raw.Send(ctx, name, sent)
	switch {
	case err != nil && ctx.Err() != nil:
		return "no answer in time"
	case errors.Is(err, raw.ErrConnecting):
		return "not connected"
	case err != nil:
		return "cut off"
	}
	return fmt.Sprintf("code %d", code)
}

// attackers are all hostile peers of an order.
type attackers struct {
	Order
	mu    sync.Mutex
	tally Tally
}

// PlayAttackers attacks an aggregator on this machine until the order's time is over.
func PlayAttackers(ctx context.Context, o Order) (Tally, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(o.Seconds*float64(time.Second)))
	defer cancel()
	a := &attackers{Order: o, tally: Tally{}}
	var running sync.WaitGroup
	for i := range o.Seeds {
		h, err := o.listed(i)
		if err != nil {
			return nil, err
		}
		defer h.close()
		running.Go(func() { a.spoil(ctx, h) })
		running.Go(func() { a.hold(ctx, h) })
	}
	for i := range o.Unlisted {
		switch i % 4 {
		case 0:
			running.Go(func() { a.silence(ctx, fmt.Sprintf("127.0.0.%d", 2+i)) })
		case 1:
			running.Go(func() { a.sign(ctx) })
		case 2:
			running.Go(func() { a.browse(ctx) })
		default:
			running.Go(func() { a.knock(ctx) })
		}
	}
	running.Wait()
	return a.tally, nil
}

func (a *attackers) count(attack, answer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tally[attack] == nil {
		a.tally[attack] = map[string]int{}
	}
	a.tally[attack][answer]++
}

// every calls do at this interval until ctx ends.
func every(ctx context.Context, pause time.Duration, do func()) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for ctx.Err() == nil {
		do()
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// spoil approves all studies, so that they begin, and then makes hostile calls.
func (a *attackers) spoil(ctx context.Context, h *hostile) {
	for _, s := range h.studies {
		e, err := h.signer.Seal(s.ID, protocol.KindApprove, 0, wire.EncodeApprove(protocol.Approve{Meaning: s.Meaning}))
		if err != nil {
			continue
		}
		a.count("approve", h.ask(ctx, "post", raw.Frame(wire.EncodePost([]protocol.Envelope{e.Envelope()}))))
	}
	every(ctx, pace, func() {
		c := calls[mathrand.IntN(len(calls))]
		if answer := c.send(ctx, h); ctx.Err() == nil {
			a.count(c.name, answer)
		}
	})
}

// hold opens calls that announce a large frame, send a small part of it and stay open.
func (a *attackers) hold(ctx context.Context, h *hostile) {
	var open []raw.Stream
	defer func() {
		for _, s := range open {
			s.Reset()
		}
	}()
	const most = 27
	every(ctx, 200*time.Millisecond, func() {
		if len(open) == most {
			open[0].Reset()
			open = open[1:]
		}
		s, err := h.raw.Open(ctx, "chunk", append(binary.BigEndian.AppendUint32(nil, frame-1), make([]byte, heldSlices)...))
		if err != nil {
			a.count("held calls", "refused")
			return
		}
		a.count("held calls", "opened")
		open = append(open, s)
	})
}

// silence opens connections from one address and sends nothing.
func (a *attackers) silence(ctx context.Context, from string) {
	var held sync.WaitGroup
	for range silent {
		held.Go(func() {
			every(ctx, 200*time.Millisecond, func() {
				dialer := net.Dialer{Timeout: 3 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
				conn, err := dialer.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", a.Port))
				if err != nil {
					a.count("silent connections", "refused")
					return
				}
				a.count("silent connections", "opened")
				defer context.AfterFunc(ctx, func() { conn.Close() })()
				io.Copy(io.Discard, conn) // until the other side closes
				conn.Close()
			})
		})
	}
	held.Wait()
}

// knock connects repeatedly, as a new stranger each time.
func (a *attackers) knock(ctx context.Context) {
	every(ctx, time.Minute/strangers, func() {
		h, err := a.stranger()
		if err != nil {
			a.count("strangers", "not made")
			return
		}
		defer h.close()
		if answer := h.ask(ctx, "hello", raw.Frame(nil)); ctx.Err() == nil {
			a.count("strangers", answer)
		}
	})
}

// sign posts forms whose bodies are never complete.
func (a *attackers) sign(ctx context.Context) {
	var held sync.WaitGroup
	for range slowPosts {
		held.Go(func() {
			every(ctx, time.Second, func() {
				conn, err := new(net.Dialer).DialContext(ctx, "tcp", a.Pages)
				if err != nil {
					a.count("slow forms", "refused")
					return
				}
				defer context.AfterFunc(ctx, func() { conn.Close() })()
				fmt.Fprintf(conn, "POST /signin HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 60\r\n\r\ntoken=", a.Pages)
				answer, _ := io.ReadAll(io.LimitReader(conn, 64))
				conn.Close()
				a.count("slow forms", status(answer))
			})
		})
	}
	held.Wait()
}

// status returns the status in a response's first line.
func status(answer []byte) string {
	fields := strings.Fields(string(answer))
	if len(fields) < 2 {
		return "cut off"
	}
	return "status " + fields[1]
}

// browse requests pages that need a token, with an invalid one.
func (a *attackers) browse(ctx context.Context) {
	client := http.Client{Timeout: callTime}
	defer client.CloseIdleConnections()
	paths := []string{"/", "/api/v1/studies", "/api/v1/openapi.json", "/metrics", "/studies/../../identity.key", "/api/v1/studies/" + strings.Repeat("0", 64)}
	every(ctx, pace, func() {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.Pages+paths[mathrand.IntN(len(paths))], nil)
		if err != nil {
			return
		}
		request.Header.Set("Authorization", "Bearer "+strings.Repeat("x", mathrand.IntN(200)))
		answer, err := client.Do(request)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			a.count("pages without a token", "no answer")
		default:
			answer.Body.Close()
			a.count("pages without a token", fmt.Sprintf("status %d", answer.StatusCode))
		}
	})
}
