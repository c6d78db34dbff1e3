package node_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/wire"
)

// liar is a party's state that stores another release than it was given, and then ends the run. Its
// last entry is out of range, and its header matches it.
type liar struct{ *store.Store }

var errLied = errors.New("it has lied")

func (l liar) SaveRelease(study protocol.StudyID, made store.Release) error {
	e, err := wire.DecodeEnvelope(made.Header)
	if err != nil {
		return err
	}
	header, err := wire.DecodeRelease(e.Payload)
	if err != nil {
		return err
	}
	h := &header.Sketches[0]
	s, err := release.Decode(*h, made.Files["sketch-0.bin"])
	if err != nil {
		return err
	}
	s.Data[len(s.Data)-1] = 1 << 61
	data, err := s.Encode(8)
	if err != nil {
		return err
	}
	h.Width, h.Chunks = 8, []protocol.Digest{sha256.Sum256(data)}
	signer, err := protocol.NewSigner(l.Identity())
	if err != nil {
		return err
	}
	made.Header = wire.EncodeEnvelope(protocoltest.Sealed(signer.Seal(study, e.Kind, e.Attempt, wire.EncodeRelease(header))).Envelope())
	made.Files = map[string]io.Reader{"sketch-0.bin": bytes.NewReader(data)}
	return errors.Join(l.Store.SaveRelease(study, made), errLied)
}

// unhurried is an aggregator's state in which reading chunks is blocked until the test opens it.
type unhurried struct {
	*store.Store
	reads *atomic.Int64
	now   chan struct{}
}

func (s unhurried) Chunk(study protocol.StudyID, party protocol.PeerID, sketch, index int) ([]byte, error) {
	s.reads.Add(1)
	<-s.now
	return s.Store.Chunk(study, party, sketch, index)
}

// A complete but unacceptable release is read once, however often its party asks for the outcome.
// Meanwhile the study's other parties get answers.
func TestAnUnacceptableReleaseIsCheckedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	var reads, refused atomic.Int64
	read := make(chan struct{})
	b.tune = func(o *aggregator.Options) {
		o.Store = unhurried{o.Store.(*store.Store), &reads, read}
		o.Observe = func(h event.Event) {
			if h.What == event.ReleaseRefused {
				refused.Add(1)
			}
		}
	}
	stop := b.serve()
	defer stop()
	ctx, cancel := context.WithCancel(b.context())
	defer cancel()
	var others sync.WaitGroup
	for _, name := range []string{"b", "c"} {
		others.Go(func() {
			b.run(ctx, name, func(p event.Progress) {
				if p.Milestone == event.Stored { // and sends nothing
					<-ctx.Done()
				}
			})
		})
	}
	defer others.Wait()
	defer cancel()
	st := b.open("a")
	defer st.Close()
	lying := func(state node.PartyState) error {
		p, err := party.New(partyOptions(state, b.path("a.yaml"), nil, b.logger()))
		check(t, err)
		defer p.Close()
		return p.Run(ctx, b.study.ID)
	}
	if err := lying(liar{st}); !errors.Is(err, errLied) {
		t.Fatalf("party a: %v", err)
	}
	first := make(chan error, 1)
	go func() { first <- lying(st) }()
	b.until(func() bool { return reads.Load() == 1 })

	calls := func(of *store.Store) (call func(name string, request []byte) error, end func()) {
		host, err := p2p.New(p2p.Config{Key: of.Identity, Allow: func(protocol.PeerID) bool { return true }})
		check(t, err)
		return func(name string, request []byte) error {
			_, err := host.Call(ctx, b.study.Aggregator.ID, b.study.Aggregator.Addrs, name, request)
			return err
		}, func() { host.Close() }
	}
	other, err := store.Open(b.path("b"), store.Party, store.Options{ReadOnly: true})
	check(t, err)
	defer other.Close()
	call, end := calls(other)
	check(t, call("read", wire.EncodeRead(wire.Read{Study: b.study.ID}))) // while a's release is read
	end()
	close(read)
	isRefused := func(err error) {
		t.Helper()
		var refusal *p2p.Refusal
		if !errors.As(err, &refusal) || refusal.Code != p2p.CodeInvalid || !strings.Contains(refusal.Message, "an entry is out of range") {
			t.Errorf("party a: %v", err)
		}
	}
	isRefused(<-first)
	var asked sync.WaitGroup
	call, end = calls(st)
	for range 10 {
		asked.Go(func() { isRefused(call("progress", wire.EncodeProgressRequest(b.study.ID))) })
	}
	asked.Wait()
	end()
	isRefused(lying(st))
	if n, said := reads.Load(), refused.Load(); n != 1 || said != 1 || b.logged("refused a release") != 1 {
		t.Errorf("the release was read %d times, %d refusals were observed and %d logged, want 1 each", n, said, b.logged("refused a release"))
	}
}
