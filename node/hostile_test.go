package node_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
)

// hostile is a listed party that sends what it likes.
type hostile struct {
	*bench
	signer protocol.Signer
	host   *p2p.Host
}

// hostile takes the identity of a party of the bench.
func (b *bench) hostile(name string) *hostile {
	b.t.Helper()
	st := b.open(name)
	b.t.Cleanup(func() { st.Close() })
	signer, err := protocol.NewSigner(st.Identity())
	check(b.t, err)
	host, err := p2p.New(p2p.Config{Key: st.Identity, Allow: func(protocol.PeerID) bool { return true }})
	check(b.t, err)
	b.t.Cleanup(func() { host.Close() })
	return &hostile{b, signer, host}
}

func (h *hostile) call(ctx context.Context, name string, request []byte) ([]byte, error) {
	return h.host.Call(ctx, h.study.Aggregator.ID, h.study.Aggregator.Addrs, name, request)
}

// post sends one message and returns the refusal's code, or 0.
func (h *hostile) post(ctx context.Context, kind protocol.Kind, attempt uint32, payload []byte) p2p.Code {
	h.t.Helper()
	e := protocol.Envelope{Study: h.study.ID, Sender: h.signer.ID(), Kind: kind, Attempt: attempt, Payload: payload}
	if v, err := h.signer.Seal(e.Study, e.Kind, e.Attempt, e.Payload); err == nil {
		e = v.Envelope()
	} else {
		e.Signature = make([]byte, 64) // it is refused before anybody checks
	}
	_, err := h.call(ctx, "post", wire.EncodePost([]protocol.Envelope{e}))
	var refusal *p2p.Refusal
	if err != nil && !errors.As(err, &refusal) {
		h.t.Fatal(err)
	}
	if refusal == nil {
		return 0
	}
	return refusal.Code
}

// await reads the board until it has so many messages of a kind.
func (h *hostile) await(ctx context.Context, kind protocol.Kind, times int) {
	h.t.Helper()
	for from := uint64(0); ; {
		raw, err := h.call(ctx, "read", wire.EncodeRead(wire.Read{Study: h.study.ID, From: from, Wait: 10}))
		check(h.t, err)
		reply, err := wire.DecodeBoardReply(raw, h.study.ID)
		check(h.t, err)
		for _, e := range reply.Envelopes {
			if e.Kind == kind {
				times--
			}
		}
		if times <= 0 {
			return
		}
		from += uint64(len(reply.Envelopes))
	}
}

// A member that sends the largest possible message of the agreement loses only its own place.
// Everybody can read what the aggregator shows of it, also after a restart.
func TestLargeEvidenceCostsItsSenderAlone(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	c := b.hostile("c")
	ctx := b.context()
	var others sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		others.Go(func() {
			if err := b.run(ctx, name, nil); err != nil {
				t.Errorf("party %s: %v", name, err)
			}
		})
	}
	if code := c.post(ctx, protocol.KindApprove, 0, wire.EncodeApprove(protocol.Approve{Meaning: b.study.Meaning})); code != 0 {
		t.Fatalf("the approval was refused: %s", code)
	}
	c.await(ctx, protocol.KindCommit, 2) // those of the others, which then are in time
	if code := c.post(ctx, protocol.KindCommit, 1, make([]byte, protocol.MaxPayload)); code != p2p.CodeInvalid {
		t.Errorf("a commit of 1 MiB: %s", code)
	}
	if code := c.post(ctx, protocol.KindCommit, 1, bytes.Repeat([]byte{0xff}, protocol.KindCommit.MaxPayload())); code != p2p.CodeInvalid {
		t.Errorf("the largest commit: %s", code)
	}
	others.Wait()
	b.inResult("a", 2, "c")
	b.inResult("b", 2, "c")
	stop()
	st := b.open("agg")
	defer st.Close()
	if _, err := stored.Taken(st, b.study); err != nil {
		t.Errorf("the stored board: %v", err)
	}
	raws, err := st.Board(b.study.ID, 0, 100)
	check(t, err)
	faults := 0
	for _, raw := range raws {
		e, err := wire.DecodeEnvelope(raw)
		check(t, err)
		if e.Kind == protocol.KindFault {
			faults++
		}
	}
	if faults != 1 {
		t.Errorf("%d faults on the board", faults)
	}
}

// took is the memory that is allocated while a function runs.
func took(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A request larger than its call needs is refused before it is read. One with forbidden repetitions
// is refused before it is decoded. Neither costs the aggregator memory.
func TestRequestsAreNoAmplifiers(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	c := b.hostile("c")
	ctx := b.context()
	for call, most := range map[string]int{
		"post": 4 << 20, "read": 1 << 10, "chunk": 4<<20 + 1<<10, "progress": 1 << 10, "document": 1 << 10,
		"hello": 1 << 10, "ledger": 1 << 10, "further": 1 << 10, "query": 4<<20 + 1<<10, "studies": 0, "introduce": 256 << 10,
	} {
		for size, want := range map[int][]p2p.Code{most: {p2p.CodeInvalid, p2p.CodeUnknownStudy}, most + 2: {p2p.CodeTooLarge}} {
			if size == 0 {
				continue
			}
			request := bytes.Repeat([]byte{0x0a, 0}, size/2)
			var err error
			cost := took(func() { _, err = c.call(ctx, call, request) })
			var refusal *p2p.Refusal
			if !errors.As(err, &refusal) || !slices.Contains(want, refusal.Code) {
				t.Errorf("%s of %d bytes: %v", call, size, err)
			}
			if limit := uint64(8*size + 4<<20); cost > limit {
				t.Errorf("%s of %d bytes: %d bytes of memory, at most %d", call, size, cost, limit)
			}
		}
	}
}

// An aggregator's answers have limits, like a party's requests.
func TestAnswersAreNoAmplifiers(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	agg := b.open("agg")
	defer agg.Close()
	aggregator, err := protocol.NewSigner(agg.Identity())
	check(t, err)
	for name, size := range map[string]int{"of two-byte envelopes": 4 << 20, "too large": 4<<20 + 4<<10 + 2} {
		t.Run(name, func(t *testing.T) {
			host, err := p2p.New(p2p.Config{Key: agg.Identity, Listen: []string{b.addr}, Allow: func(protocol.PeerID) bool { return true }})
			check(t, err)
			defer host.Close()
			host.Serve("hello", func(context.Context, protocol.PeerID, []byte) ([]byte, error) {
				return wire.EncodeHello(wire.Hello{Now: now()}), nil
			})
			host.Serve("ledger", func(_ context.Context, _ protocol.PeerID, request []byte) ([]byte, error) {
				h, err := wire.DecodeLedgerHead(request)
				return wire.EncodeLedgerHead(aggregator.Countersign(h)), err
			})
			host.Serve("post", func(context.Context, protocol.PeerID, []byte) ([]byte, error) { return nil, nil })
			answer := bytes.Repeat([]byte{0x12, 0}, size/2)
			reads := 0
			ctx, cancel := context.WithCancel(b.context())
			defer cancel()
			host.Serve("read", func(context.Context, protocol.PeerID, []byte) ([]byte, error) {
				if reads++; reads > 3 {
					cancel()
				}
				return answer, nil
			})
			cost := took(func() { err = b.run(ctx, "a", nil) })
			if err == nil {
				t.Error("the party took it")
			}
			if limit := uint64(8*(size*max(reads, 1)) + 16<<20); cost > limit {
				t.Errorf("%d bytes of memory for %d answers, at most %d: %v", cost, reads, limit, err)
			}
			t.Logf("%d bytes of memory for %d answers: %v", cost, reads, err)
		})
	}
}
