package job_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// world is a node in memory. What it has made durable survives every crash.
type world struct {
	t *testing.T

	// durable
	entries []ledger.Entry
	saved   *job.Sealed
	taken   []byte
	held    []release.Exact // nil: nothing is held
	decided bool            // whether the steward has released it
	drops   int
	saves   int

	// for one run
	ids    [][]byte
	values []int64 // the values of every record, used for each sketch
	calls  []string
	fail   func(call string, done bool) error // called before and after each call takes effect
	shown  [][]byte                           // headers returned by a run
}

func (w *world) call(name string, do func() error) error {
	w.calls = append(w.calls, name)
	if w.fail != nil {
		if err := w.fail(name, false); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	if w.fail != nil {
		return w.fail(name, true)
	}
	return nil
}

func (w *world) Stored() (header []byte, err error) {
	return header, w.call("stored", func() error {
		if w.saved != nil {
			header = w.saved.Header()
		}
		return nil
	})
}

func (w *world) Look(_ context.Context, looks []*release.Look) (int64, error) {
	return int64(len(w.ids)), w.call("look", func() error {
		for _, l := range looks {
			if l == nil {
				continue
			}
			if err := l.Add(w.values); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) Exact(_ context.Context, builders []*release.Builder) (out job.Records, err error) {
	out.Count, out.IDs = int64(len(w.ids)), w.ids
	return out, w.call("exact", func() error {
		if w.held != nil {
			if !w.decided {
				return job.ErrUndecided
			}
			for _, one := range w.held {
				one.Sketch.Data = slices.Clone(one.Sketch.Data)
				out.Held = append(out.Held, one)
			}
			return nil
		}
		for _, b := range builders {
			if err := b.AddRead(w.ids, w.values); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) Debit(_ context.Context, due func([]ledger.Entry) ([]ledger.Entry, error)) error {
	return w.call("debit", func() error {
		next, err := due(w.entries)
		if err != nil {
			return err
		}
		for _, e := range next {
			if e, err = ledger.Append(w.entries, e); err != nil {
				return err
			}
			w.entries = append(w.entries, e)
		}
		return nil
	})
}

func (w *world) Countersign(context.Context) error {
	return w.call("vouch", func() error { return nil })
}

func (w *world) StoredLook() (data []byte, err error) {
	return w.taken, w.call("taken look", func() error { return nil })
}

func (w *world) StoreLook(data []byte) error {
	return w.call("keep look", func() error { w.taken = data; return nil })
}

func (w *world) Drop() error {
	return w.call("drop", func() error { w.saved = nil; w.drops++; return nil })
}

func (w *world) Save(s job.Sealed) error {
	return w.call("save", func() error {
		if w.saved != nil {
			return errors.New("a second release")
		}
		w.saved, w.saves = &s, w.saves+1
		return nil
	})
}

func (w *world) Cleanup() error {
	return w.call("forget", func() error { w.held, w.taken = nil, nil; return nil })
}

func (w *world) At(s job.Stage) { w.calls = append(w.calls, "("+string(s)+")") }

// parse returns a study of three parties, a, b and c.
func parse(t *testing.T, partition study.Partition, terms string) *study.Study {
	t.Helper()
	signers := []protocol.Signer{protocoltest.Identity("party 0"), protocoltest.Identity("party 1"), protocoltest.Identity("party 2")}
	slices.SortFunc(signers, func(a, b protocol.Signer) int { return a.ID().Compare(b.ID()) })
	plain, err := protocoltest.NewStudy(protocoltest.Terms{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cosketch: study/2\nname: made\nnonce: %032x\naggregator:\n  id: %s\n  hpke: %s\n  addrs: [/ip4/127.0.0.1/tcp/1]\nparties:\n",
		1, plain.Aggregator.ID, base64.StdEncoding.EncodeToString(plain.Aggregator.HPKE))
	for i, s := range signers {
		fmt.Fprintf(&b, "  - {name: %c, id: %s}\n", 'a'+i, s.ID())
	}
	fmt.Fprintf(&b, "partition: %s\nquorum: 2\nexpires: %s\ndeadline: %s\nrecords: {id: [id]}\n%s", partition, protocoltest.Expires, protocoltest.Deadline, terms)
	s, err := file.Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const bounded = "columns: [{name: x, kind: numeric, bounds: [0, 1]}, {name: y, kind: numeric, bounds: [0, 1]}]\n"

// made is a release that can be run again and again, like a process that was killed.
type made struct {
	name  string
	calls string // calls of World, in order, in a first run without failures
	study *study.Study
	query bool
	again bool // the stored release is of an earlier, void attempt
	held  bool
}

func all(t *testing.T) []made {
	plain := parse(t, study.Horizontal, bounded+`sketches: [{side: columns, family: sparse, k: 16}, {side: records, family: identity}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 1}
analyses: [{kind: correlation}, {kind: k-means, clusters: 2}]
`)
	masked := parse(t, study.Horizontal, bounded+`sketches: [{side: moments, clip: 1, share: 7}, {side: cells, L: 1, clip: 1, share: 3}, {side: counts, tables: [{of: [{column: x, bins: 4}, {column: y, edges: [0.3]}]}, {of: [{column: y}], depth: 3}]}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
sum: masked
colluding: 1
analyses: [{kind: correlation}, {kind: k-means, clusters: 2}]
`)
	flipped := parse(t, study.Vertical, `columns: [{name: x, kind: binary, owner: a}, {name: y, kind: binary, owner: b}, {name: z, kind: binary, owner: c}]
sketches: [{side: columns, family: sparse, k: 64, s: 1, helpers: {ones: 1}}]
privacy: {unit: attribute, mechanism: randomised-response, epsilon: 1}
analyses: [{kind: correlation}]
`)
	own := parse(t, study.Vertical, `columns: [{name: x, kind: numeric, bounds: [0, 1], owner: a}, {name: y, kind: numeric, bounds: [0, 1], owner: b}, {name: z, kind: numeric, bounds: [0, 1], owner: c}]
sketches: [{side: columns, family: sparse, k: 64, s: 1, helpers: {ones: 0.7}, clip: 1.2, standardise: own}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: correlation}]
`)
	asked := parse(t, study.Horizontal, bounded+fmt.Sprintf(`new_records_until: %s
queries: {releases: 3, records: 50, neighbors: 2}
sketches: [{side: records, family: sparse, k: 8, s: 1}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 1}
analyses: [{kind: k-means, clusters: 2}]
`, protocoltest.Deadline+86_400))
	late := "exact (projected) debit (debited) vouch (vouched) (noised) save (saved) forget"
	return []made{
		{name: "study", study: plain, calls: "stored " + late},
		{name: "masked", study: masked, calls: "stored " + late},
		{name: "masked again", study: masked, again: true, calls: "stored exact (projected) debit (debited) vouch (vouched) drop (noised) save (saved) forget"},
		{name: "held", study: plain, held: true, calls: "stored " + late},
		{name: "query", study: asked, query: true, calls: "stored " + late},
		{name: "randomised response", study: flipped, calls: "stored debit (debited) vouch (vouched) exact (projected) (noised) save (saved) forget"},
		{name: "first look", study: own, calls: "stored taken look look debit (debited) vouch (vouched) keep look exact (projected) (noised) save (saved) forget"},
	}
}

// spec returns the release of party a, with its own entropy for each run.
func (m made) spec(t *testing.T, run byte) job.Spec {
	t.Helper()
	var signer protocol.Signer
	for i := range 3 {
		if s := protocoltest.Identity(fmt.Sprintf("party %d", i)); s.ID() == m.study.Parties[0].ID {
			signer = s
		}
	}
	spec := job.Spec{
		Study: m.study, What: job.Study{Attempt: 1, T2: protocol.Digest{1}}, Keys: seed.FromBytes([seed.Size]byte{7}), Dataset: "data",
		Now: func() protocol.Instant { return protocoltest.Start }, Signer: signer, Entropy: rand.NewChaCha8([32]byte{run}),
	}
	switch {
	case m.query:
		plan, err := release.ForQuery(m.study, 0)
		if err != nil {
			t.Fatal(err)
		}
		spec.What, spec.Plans = job.Query{Number: 1, T2: protocol.Digest{1}}, []release.Plan{plan}
		return spec
	case m.again:
		spec.What = job.Study{Attempt: 2, Round: 1, T2: protocol.Digest{2}, Pairs: pairs(t, 2)}
	case m.study.Masked():
		spec.What = job.Study{Attempt: 1, T2: protocol.Digest{1}, Pairs: pairs(t, 3)}
	}
	for i := range m.study.Sketches {
		plan, err := release.For(m.study, 0, i)
		if err != nil {
			t.Fatal(err)
		}
		spec.Plans = append(spec.Plans, plan)
	}
	return spec
}

// pairs returns the secrets of the first of n members.
func pairs(t *testing.T, n int) agree.Pairs {
	t.Helper()
	b := []byte{0, 0, 0, 0, 0, 0, 0, byte(n)}
	for i := range n {
		key := [32]byte{byte(i)}
		b = append(b, key[:]...)
	}
	out, err := agree.ParsePairs(b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// world returns the initial world of the release.
func (m made) world(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	spec := m.spec(t, 255)
	one := spec.Plans[0].Study.Bits.One()
	for i := range 40 {
		w.ids = append(w.ids, fmt.Appendf(nil, "r%02d", i))
		for j := range spec.Plans[0].Inputs() {
			w.values = append(w.values, int64((i+j)%2)*one)
		}
	}
	if m.again {
		before := m
		before.again = false
		if _, err := job.Run(t.Context(), before.spec(t, 254), w); err != nil {
			t.Fatal(err)
		}
		w.calls, w.saves = nil, 0
	}
	if m.held {
		w.decided = true
		for _, plan := range spec.Plans {
			b, err := plan.NewBuilder(spec.Keys, 1)
			if err == nil {
				err = b.AddRead(w.ids, w.values)
			}
			if err != nil {
				t.Fatal(err)
			}
			w.held = append(w.held, b.Exact())
		}
	}
	return w
}

// run runs the release once, like a process of its own.
func (m made) run(t *testing.T, w *world, run byte) error {
	t.Helper()
	out, err := job.Run(t.Context(), m.spec(t, run), w)
	if err == nil {
		w.shown = append(w.shown, header(m, out))
	}
	return err
}

func header(m made, s job.Stored) []byte {
	if m.query {
		id := s.Query().ID()
		return id[:]
	}
	id := s.Release().ID()
	return id[:]
}

// check checks the final state: one release, paid for once, with noise, and as its header says.
func (m made) check(t *testing.T, w *world) {
	t.Helper()
	spec := m.spec(t, 253)
	if due := spec.Due(w.entries); len(due) > 0 {
		t.Errorf("%d debits are missing", len(due))
	}
	want := len(spec.Plans)
	if m.again {
		want *= 2
	}
	if len(w.entries) != want {
		t.Errorf("%d debits, want %d", len(w.entries), want)
	}
	if w.saved == nil || w.saves != 1 {
		t.Fatalf("stored %d times", w.saves)
	}
	if w.held != nil || w.taken != nil {
		t.Error("what was kept on the way is still there")
	}
	for _, id := range w.shown {
		if !bytes.Equal(id, w.shown[0]) {
			t.Error("two runs give two releases")
		}
	}
	if m.query {
		q, err := protocol.DecodeQuery(m.study.ID, spec.Signer.ID(), w.saved.Header())
		if err != nil || q.Data.Size != int64(len(w.saved.Sketches()[0])) {
			t.Errorf("the stored query is of %d bytes: %v", q.Data.Size, err)
		}
	}
	for i, order := range w.saved.Orders() {
		if rows := spec.Plans[i].Sketch().Side == sketch.Records; rows != (order != nil) || rows && len(w.saved.IDs()) != len(order) {
			t.Errorf("sketch %d: the order of %d rows of %d records", i+1, len(order), len(w.saved.IDs()))
		}
	}
}
