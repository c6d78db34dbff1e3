package node_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

// many gives party c a number of records and the others forty, of columns x and y.
func many(ofC int) func(int) string {
	return func(party int) string {
		records := 40
		if party == 2 {
			records = ofC
		}
		var s strings.Builder
		s.WriteString("id,x,y\n")
		for i := range records {
			fmt.Fprintf(&s, "%d-%d,%.3f,%.3f\n", party, i, float64(i%97)/97, float64(i%89)/89)
		}
		return s.String()
	}
}

// rows is a study whose releases grow with their records.
func rows() terms {
	w := clustered
	w.sketches, w.privacy, w.caps = "[{side: records, family: rademacher, k: 16}]", "{unit: attribute, mechanism: laplace, epsilon: 1000}", "{attribute: {epsilon: 1000}}"
	return w
}

// A party with many more records than the aggregator can compute with is told so when its release's
// header arrives, before any chunk. The others get their result.
func TestAReleaseBeyondTheQuota(t *testing.T) {
	for what, quotas := range map[string]analysis.Quotas{"memory": {Memory: 250 << 10}, "disk": {Disk: 3 << 16}} { // less memory than passes over records on disk need
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := rows()
			w.sketches = strings.Replace(w.sketches, "k: 16", "k: 64", 1)
			b := newBench(t, w, many(3000))
			var chunks, taken atomic.Int64
			b.tune = func(o *aggregator.Options) {
				o.Quotas = aggregator.Quotas{Quotas: quotas}
				o.Observe = func(h event.Event) {
					switch h.What {
					case event.ChunkKept:
						chunks.Add(1)
					case event.ReleaseTaken:
						taken.Add(1)
					}
				}
			}
			stop := b.serve()
			defer stop()
			ctx := b.context()
			var all sync.WaitGroup
			for _, name := range []string{"a", "b"} {
				all.Go(func() {
					if err := b.run(ctx, name, nil); err != nil {
						t.Errorf("party %s: %v", name, err)
					}
				})
			}
			err := b.run(ctx, "c", nil)
			var refusal *p2p.Refusal
			if !errors.As(err, &refusal) || refusal.Code != p2p.CodeTooLarge || !strings.Contains(refusal.Message, "3000 records of c, whose share of the quota is ") || !strings.Contains(refusal.Message, "of "+what) {
				t.Errorf("party c: %v", err)
			}
			b.until(func() bool { return taken.Load() == 2 })
			b.skew.Store(7201)
			all.Wait()
			if n := chunks.Load(); n != 2 {
				t.Errorf("%d chunks were taken, want one of each of two parties", n)
			}
		})
	}
}

// nearlyFull is a disk with a number of bytes left.
type nearlyFull struct {
	*store.Store
	free *atomic.Int64
}

func (f nearlyFull) Free() (int64, error) { return f.free.Load(), nil }

// waitForRoom runs a study at an aggregator whose disk has bytes free, of which 990 must stay free.
// Once a party has been told says, it makes room.
func (b *bench) waitForRoom(bytes int64, says string) {
	var free atomic.Int64
	free.Store(bytes)
	b.tune = func(o *aggregator.Options) {
		o.Store, o.Quotas.Free = nearlyFull{o.Store.(*store.Store), &free}, 990
	}
	stop := b.serve()
	defer stop()
	var told sync.Once
	var all sync.WaitGroup
	for _, name := range b.parties {
		all.Go(func() {
			if err := b.run(b.context(), name, func(p event.Progress) {
				var refusal *p2p.Refusal
				if errors.As(p.Err, &refusal) && refusal.Code == p2p.CodeBusy && strings.Contains(refusal.Message, says) {
					told.Do(func() { free.Store(1 << 30) })
				}
			}); err != nil {
				b.t.Errorf("party %s: %v", name, err)
			}
		})
	}
	all.Wait()
	if free.Load() == bytes {
		b.t.Error("nobody was told that there is no room")
	}
}

// The reserve on the disk stays free: parties retry until there is room.
func TestNoRoomForAnUpload(t *testing.T) {
	b := newBench(t, clustered, points)
	b.waitForRoom(1000, "has no room for")
}

// dying is the state of a node that is killed once it has recorded that it computes: no later write
// succeeds.
type dying struct{ failing }

func (d dying) PutResult(study protocol.StudyID, name string, data []byte) error {
	err := d.failing.PutResult(study, name, data)
	if name == "computing.json" {
		d.writes.broken.Store(true)
	}
	return err
}

// If an aggregator ended while it computed a result, it does not begin with that at the next start.
// It serves the study, reports what happened, and retries after a pause that grows each time.
func TestAComputationThatEndsTheNode(t *testing.T) {
	b := newBench(t, clustered, points)
	ctx := b.context()
	var clock atomic.Int64
	clock.Store(int64(now()))
	var deaths []*writes
	b.tune = func(o *aggregator.Options) {
		o.Now, o.Tick = func() protocol.Instant { return protocol.Instant(clock.Load()) }, time.Millisecond
		w := &writes{}
		deaths = append(deaths, w)
		o.Store = dying{failing{o.Store.(*store.Store), w}}
	}
	var all sync.WaitGroup
	for _, name := range b.parties {
		all.Go(func() {
			if err := b.run(ctx, name, nil); err != nil {
				t.Errorf("party %s: %v", name, err)
			}
		})
	}
	status := func() stored.Snapshot {
		st := b.open("agg")
		defer st.Close()
		return b.status(st.Status)
	}
	stop := b.serve()
	b.until(deaths[0].broken.Load)
	stop()
	for i, pause := range []int64{5, 20, 80} {
		stop = b.serve()
		w := deaths[len(deaths)-1]
		b.until(func() bool { return b.logged("the result is not computed yet") == i+1 })
		clock.Add(pause - 1)
		looks := w.looks.Load()
		b.until(func() bool { return w.looks.Load() > looks+20 })
		if w.broken.Load() {
			t.Fatalf("it computed before %d s had passed", pause)
		}
		b.until(func() bool { return strings.Contains(status().Trouble, "while it computed the result") })
		if s := status(); s.State != string(session.Computing) || i == 1 && !strings.Contains(s.Trouble, "this node stopped 2 times in a row while") {
			t.Errorf("status %+v", s)
		}
		clock.Add(1)
		b.until(w.broken.Load)
		stop()
	}
	b.tune = nil // it dies no more
	b.skew.Store(clock.Load() - int64(now()))
	stop = b.serve()
	defer stop()
	b.until(func() bool { return b.logged("the result is not computed yet") == 4 })
	b.skew.Add(320)
	all.Wait()
	stop()
	st := b.open("agg")
	defer st.Close()
	if _, err := st.Result(b.study.ID, "computing.json"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the mark is still there: %v", err)
	}
}

// Records that do not fit into memory are gathered in files, and so are their labels. Parties get
// exactly the same bytes as from memory, in the result and in a later answer.
func TestRecordsOnTheDisk(t *testing.T) {
	w := rows()
	w.analyses = "[{kind: k-means, clusters: 2}, {kind: neighbors, neighbors: 3}, {kind: outliers, neighbors: 3}]"
	b := newBench(t, w, many(1500))
	const little, plenty = 1 << 20, 1 << 30
	b.tune = func(o *aggregator.Options) { o.Quotas.Memory = little }
	stop := b.serve()
	b.runAll(b.context(), b.parties...)
	stop()
	st := b.open("agg")
	defer st.Close()
	result, _, err := stored.Result(st, b.study.ID)
	check(t, err)
	for i, asked := range b.study.Analyses {
		if why := result.Analyses[i].Undefined; why != "" {
			t.Fatalf("analysis %d: %s", i, why)
		}
		var told [2]bytes.Buffer
		var answers [2]aggregator.Further
		for at, memory := range []int64{little, plenty} {
			answers[at], err = aggregator.Analyze(b.context(), b.deskOptions(st), b.study, asked, memory)
			check(t, err)
			for _, l := range answers[at].Labels {
				if asked.Kind != study.Neighbors { // whose handles are drawn again
					check(t, l.Encode(&told[at], " "))
				}
			}
		}
		if !bytes.Equal(answers[0].Raw, answers[1].Raw) || !bytes.Equal(told[0].Bytes(), told[1].Bytes()) || len(answers[0].Labels) != 3 {
			t.Errorf("analysis %d: from the disk %s\nfrom memory %s", i, answers[0].Raw, answers[1].Raw)
		}
		for _, a := range answers {
			signed, err := aggregator.Publish(b.deskOptions(st), b.study, a)
			check(t, err)
			if len(signed.PerParty) != 3 {
				t.Errorf("analysis %d: %d parties are told", i, len(signed.PerParty))
			}
			check(t, a.Close())
		}
	}
	left, err := filepath.Glob(filepath.Join(st.Dir(), "scratch-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
}
