package node_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
)

// hostile is a listed party that says what it likes.
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

// post sends one message and returns the refusal's code; 0 is none.
func (h *hostile) post(ctx context.Context, kind protocol.Kind, attempt uint32, payload []byte) p2p.Code {
	h.t.Helper()
	e := protocol.Envelope{Study: h.study.ID, Sender: h.signer.ID(), Kind: kind, Attempt: attempt, Payload: payload}
	if v, err := h.signer.Seal(e.Study, e.Kind, e.Attempt, e.Payload); err == nil {
		e = v.Envelope()
	} else {
		e.Signature = make([]byte, 64) // nobody gets as far as to look
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

// await reads the board until a kind is on it.
func (h *hostile) await(ctx context.Context, kind protocol.Kind) {
	h.t.Helper()
	for from := uint64(0); ; {
		raw, err := h.call(ctx, "read", wire.EncodeRead(wire.Read{Study: h.study.ID, From: from, Wait: 10}))
		check(h.t, err)
		reply, err := wire.DecodeBoardReply(raw, h.study.ID)
		check(h.t, err)
		for _, e := range reply.Envelopes {
			if e.Kind == kind {
				return
			}
		}
		from += uint64(len(reply.Envelopes))
	}
}

// A member whose message of the agreement is as large as a message may be costs itself its
// place: what the aggregator shows of it can be read by all, also after a restart.
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
	c.await(ctx, protocol.KindRoster)
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
	if _, err := node.Taken(st, b.study); err != nil {
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
