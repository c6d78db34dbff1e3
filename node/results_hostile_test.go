package node_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// forger signs another document than the computed one.
type forger struct {
	*store.Store
	document []byte
	done     *atomic.Bool
}

func (f forger) AppendBoard(study protocol.StudyID, from uint64, raws [][]byte, head []byte) error {
	for i, raw := range raws {
		e, err := wire.DecodeEnvelope(raw)
		if err != nil || e.Kind != protocol.KindResult {
			continue
		}
		r, err := wire.DecodeResult(e.Payload)
		if err != nil {
			return err
		}
		signer, err := protocol.NewSigner(f.Identity())
		if err != nil {
			return err
		}
		r.Document, r.PerParty = protocol.Document{Hash: sha256.Sum256(f.document), Size: int64(len(f.document))}, nil
		if err := f.PutResult(study, "result.json", f.document); err != nil {
			return err
		}
		raws[i] = wire.EncodeEnvelope(protocoltest.Sealed(signer.Seal(study, e.Kind, e.Attempt, wire.EncodeResult(r))).Envelope())
		defer f.done.Store(true)
	}
	return f.Store.AppendBoard(study, from, raws, head)
}

// A result that would take much memory costs a party little of it. The party does not fetch it
// again: it blames the aggregator, and does so again at the next start.
func TestAHostileResult(t *testing.T) {
	many := func(begin, again, end string, size int) []byte {
		return []byte(begin + strings.Repeat(again+",", (size-len(begin)-len(end))/(len(again)+1)-1) + again + end)
	}
	for name, c := range map[string]struct {
		document func(b analysis.Bounds) []byte
		says     string
	}{
		"too large":     {func(analysis.Bounds) []byte { return many(`{"analyses":[`, `{}`, `]}`, 12_000_000) }, "a document of 1"},
		"many analyses": {func(b analysis.Bounds) []byte { return many(`{"analyses":[`, `{}`, `]}`, int(b.Document)) }, "no result has so many"},
		"many pairs": {func(b analysis.Bounds) []byte {
			return many(`{"analyses":[{"pairs":[`, `{"estimate":0.1234567,"low":1}`, `]}]}`, int(b.Document))
		}, "it has 1 analyses"},
		"another": {func(analysis.Bounds) []byte { return []byte(`{}`) }, "it has 0 analyses"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, smallSketch, uniform(50))
			bounds := analysis.BoundsOf(b.study)
			document := c.document(bounds)
			var forged atomic.Bool
			b.tune = func(o *aggregator.Options) { o.Store = forger{o.Store.(*store.Store), document, &forged} }
			stop := b.serve()
			var all sync.WaitGroup
			for _, party := range b.parties {
				all.Go(func() {
					ctx, cancel := context.WithCancel(b.context())
					defer cancel()
					b.run(ctx, party, func(p event.Progress) {
						if p.Milestone == event.Uploaded {
							cancel()
						}
					})
				})
			}
			all.Wait()
			b.until(forged.Load)
			stop()

			var fetched atomic.Int64
			b.tune = func(o *aggregator.Options) {
				o.Observe = func(h event.Event) {
					if h.Call == "document" {
						fetched.Add(1)
					}
				}
			}
			stop = b.serve()
			defer stop()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			first := b.run(b.context(), "a", nil)
			runtime.ReadMemStats(&after)
			var bad *party.BadResultError
			if !errors.As(first, &bad) || bad.Aggregator != b.study.Aggregator.ID || !strings.Contains(first.Error(), c.says) {
				t.Fatalf("party a: %v", first)
			}
			const besides = 64 << 20
			if took, most := int64(after.TotalAlloc-before.TotalAlloc), analysis.MemoryPerByte*bounds.Document+besides; took > most {
				t.Errorf("%d bytes were allocated for a document of %d, want at most %d", took, len(document), most)
			}
			calls := fetched.Load()
			if again := b.run(b.context(), "a", nil); !errors.As(again, &bad) || again.Error() != first.Error() {
				t.Errorf("at the next start: %v, before: %v", again, first)
			}
			if n := fetched.Load() - calls; n != 0 {
				t.Errorf("the same document was fetched again in %d pieces", n)
			}
		})
	}
}

// Further results are checked against the study like its own, and against what a party keeps of all
// together.
func TestHostileFurtherResults(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	b.runAll(b.context(), b.parties...)
	publish := func(raw string) {
		st := b.open("agg")
		defer st.Close()
		_, err := aggregator.Publish(aggregator.Options{Env: node.AggregatorEnv{Now: b.now}, Store: st}, b.study, aggregator.Further{Raw: []byte(raw)})
		check(t, err)
	}
	fetch := func() (int, error) {
		st := b.open("a")
		defer st.Close()
		p, err := party.New(partyOptions(st, b.path("a.yaml"), nil, b.logger()))
		check(t, err)
		defer p.Close()
		return p.FetchFurther(b.context(), b.study.ID)
	}
	size := analysis.FurtherBounds(b.study).Document
	publish(`{"analyses":[` + strings.Repeat(`{},`, int(size)/3) + `{}]}`)
	st := b.open("agg")
	answer, err := aggregator.Analyze(t.Context(), b.deskOptions(st), b.study, study.Analysis{Kind: study.Cosine}, 1<<30)
	check(t, err)
	check(t, st.Close())
	publish(string(answer.Raw))
	if n, err := fetch(); n != 1 || err == nil || !strings.Contains(err.Error(), "one of this study has at most") {
		t.Errorf("a large one, and one as it should be: %d, %v", n, err)
	}
	if n, err := fetch(); n != 0 {
		t.Errorf("what is here is fetched again: %d, %v", n, err)
	}
	st = b.open("a")
	defer st.Close()
	kept, _, err := stored.FurtherResults(st, b.study)
	check(t, err)
	b.spoilFurther(st, "further-"+kept[0].Statement.Document.Hash.String()[:16], func() {
		if n, err := fetch(); n != 1 {
			t.Errorf("what is damaged here: %d are fetched, %v", n, err)
		}
	})
}
