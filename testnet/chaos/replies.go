package chaos

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/testnet/network"
)

// Reply says how a party handled hostile replies to one of its calls.
type Reply struct {
	Call    string  `json:"call"`
	Payload string  `json:"payload"`
	Asked   int     `json:"asked"` // number of times that the party made the call
	Exit    string  `json:"exit"`
	Said    string  `json:"said,omitempty"` // last line of the party's stderr
	Seconds float64 `json:"seconds"`
	Memory  int64   `json:"memory_bytes"` // peak resident memory of the party
}

// Limits of a party with a hostile aggregator.
const (
	partyMemory = 256 << 20
	partyWait   = 8 * time.Second
	partyEnd    = partyWait + 10*time.Second // at the end it reads its state
)

// payloads returns the worst replies of a size: messages that take far more memory than bytes on
// the wire. It also returns one that is larger than allowed.
func payloads(size int) map[string][]byte {
	out := map[string][]byte{"zeros": make([]byte, size), "groups": bytes.Repeat([]byte{0x0b}, size), "too much": make([]byte, frame)}
	for number := byte(1); number <= mostFields; number++ {
		tag := number<<3 | 2 // type of a field of bytes, texts, messages or packed numbers
		out[fmt.Sprintf("empty fields %d", number)] = bytes.Repeat([]byte{tag, 0}, size/2)
		one := binary.AppendUvarint([]byte{tag}, uint64(size-5))
		out[fmt.Sprintf("one field %d", number)] = append(one, make([]byte, size-5)...)
	}
	return out
}

// mostFields is the highest field number of a reply with a payload.
const mostFields = 3

// replyCalls are the calls of a party that runs a study, with the largest reply that each accepts
// (SPEC, section 18.1).
var replyCalls = []struct {
	name string
	size int
}{{"hello", 1 << 10}, {"read", 4<<20 + 4<<10}, {"post", 8}, {"ledger", 1 << 10}, {"progress", 1 << 10}, {"chunk", 8}, {"document", 4<<20 + 1<<10}}

// Replies lets a party run studies with an aggregator that answers one of its calls with a payload:
// each call in turn, with each payload that take selects. It returns the measurements, and an error
// for the first violation.
func Replies(ctx context.Context, dir string, take func(call, payload string) bool, log io.Writer) (out []Reply, err error) {
	n := 0
	for _, to := range replyCalls {
		call, all := to.name, payloads(to.size)
		for _, name := range slices.Sorted(func(yield func(string) bool) {
			for name := range all {
				if take(call, name) && !yield(name) {
					return
				}
			}
		}) {
			n++
			r, err := reply(ctx, dir, n, call, all[name])
			r.Payload = name
			if err != nil {
				return out, fmt.Errorf("%s answered with %s: %w", call, name, err)
			}
			out = append(out, r)
			fmt.Fprintf(log, "%s answered with %s: asked %d times, %s after %.1f s, %d MiB; %s\n", call, name, r.Asked, r.Exit, r.Seconds, r.Memory>>20, r.Said)
			if err := r.judge(); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

func (r Reply) judge() error {
	switch {
	case r.Asked == 0:
		return fmt.Errorf("the party never made the call %s", r.Call)
	case r.Memory > partyMemory:
		return fmt.Errorf("%s answered with %s: the party had %d MiB resident, at most %d allowed", r.Call, r.Payload, r.Memory>>20, partyMemory>>20)
	case r.Seconds > partyEnd.Seconds():
		return fmt.Errorf("%s answered with %s: the party ended after %.1f s, where --wait was %v", r.Call, r.Payload, r.Seconds, partyWait)
	}
	return nil
}

// between is a proxy: an aggregator for the parties, and each party for the real aggregator. It
// forwards calls, but answers one call of one party with a payload.
type between struct {
	host    *p2p.Host
	clients map[protocol.PeerID]*p2p.Host
	behind  string // address of the real aggregator
	own     protocol.PeerID

	victim  protocol.PeerID
	call    string
	payload []byte

	mu    sync.Mutex
	asked int
}

// newBetween listens at a port with the aggregator's identity.
func newBetween(s *site, port int) (b *between, err error) {
	b = &between{clients: map[protocol.PeerID]*p2p.Host{}, behind: network.Loopback(s.port)}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	everybody := func(protocol.PeerID) bool { return true }
	host := func(n *network.Node, listen ...string) (*p2p.Host, protocol.PeerID, error) {
		key, err := store.ReadKey(filepath.Join(n.StateDir(), "identity.key"))
		if err != nil {
			return nil, protocol.PeerID{}, err
		}
		id, err := protocol.PeerIDFromKey(key.Public().(ed25519.PublicKey))
		if err != nil {
			return nil, id, err
		}
		h, err := p2p.New(p2p.Config{Key: func() ed25519.PrivateKey { return key }, Listen: listen, Allow: everybody})
		return h, id, err
	}
	for _, party := range s.Parties {
		h, id, err := host(party)
		if err != nil {
			return nil, err
		}
		b.clients[id] = h
	}
	if b.host, b.own, err = host(s.Aggregator, network.Loopback(port)); err != nil {
		return nil, err
	}
	for _, name := range callNames {
		b.host.Serve(name, func(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
			return b.answer(ctx, name, from, request)
		})
	}
	return b, nil
}

func (b *between) answer(ctx context.Context, name string, from protocol.PeerID, request []byte) ([]byte, error) {
	if name == b.call && from == b.victim {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.asked++
		return b.payload, nil
	}
	client, ok := b.clients[from]
	if !ok {
		return nil, p2p.Refuse(p2p.CodeRefused, "a stranger")
	}
	return client.Call(ctx, b.own, []string{b.behind}, name, request)
}

func (b *between) close() {
	if b.host != nil {
		b.host.Close()
	}
	for _, c := range b.clients {
		c.Close()
	}
}

// reply runs one study with a hostile reply.
func reply(ctx context.Context, dir string, n int, call string, payload []byte) (r Reply, err error) {
	r.Call = call
	behind, err := network.FreePort()
	if err != nil {
		return r, err
	}
	port, err := network.FreePort()
	if err != nil {
		return r, err
	}
	scene, err := laboratories(1 << 8)
	if err != nil {
		return r, err
	}
	s, err := newSite(ctx, dir, filepath.Join(dir, fmt.Sprintf("reply-%d", n)), port, behind, scene)
	if err != nil {
		return r, err
	}
	serving, err := s.Aggregator.Serve(ctx, behind, nil)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, serving.Kill()) }()
	b, err := newBetween(s, port)
	if err != nil {
		return r, err
	}
	defer b.close()
	b.call, b.payload = call, payload
	if b.victim, err = protocol.ParsePeerID(s.Parties[0].ID); err != nil {
		return r, err
	}
	id, err := s.propose(ctx)
	if err != nil {
		return r, err
	}
	var running []*network.Started
	began := time.Now()
	for _, p := range s.Parties {
		started, err := p.Start("run", id, "--wait", partyWait.String())
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, started.Kill()) }()
		running = append(running, started)
	}
	ctx, cancel := context.WithTimeout(ctx, 6*partyEnd)
	defer cancel()
	r.Exit = "no end"
	r.Memory = watch(ctx, running[0])
	r.Seconds = time.Since(began).Seconds()
	select {
	case <-running[0].Ended():
		r.Exit = fmt.Sprintf("exit %d", running[0].Code())
		if err := running[0].Err(); err != nil {
			r.Said = running[0].Says()
		}
	default:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r.Asked = b.asked
	return r, nil
}

// watch waits until a process ends and returns its peak resident memory. It must be measured
// meanwhile, as the system's figure afterwards includes the program that started the process.
func watch(ctx context.Context, p *network.Started) (peak int64) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case <-p.Ended():
			return peak
		case <-ctx.Done():
			return peak
		case <-ticker.C:
			peak = max(peak, p.Resident().Peak)
		}
	}
}

// WriteReplies prints the measurements for people.
func WriteReplies(w io.Writer, all []Reply) error {
	var most Reply
	for _, r := range all {
		if r.Memory > most.Memory {
			most = r
		}
	}
	_, err := fmt.Fprintf(w, "%d hostile replies: the party had at most %d MiB resident (%s answered with %s; %d MiB allowed), and always ended in time.\n",
		len(all), most.Memory>>20, most.Call, most.Payload, int64(partyMemory)>>20)
	if err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
